"""What tells the outputs of two inputs apart: numbers made of outputs that are high where they speak for the second.

An output is a number, an array, or anything that can be written as a key. A statistic is learnt from some outputs and
then read off others: a figure of an array, a weighted sum of all of them, or how much more often a value came from the
second input than from the first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Reals = NDArray[np.float64]
MOST_FIGURES = 64
"""Of longer arrays, only so many places are looked at one by one."""
BINS = 12
"""Into so many parts, each with about as many outputs, a figure is cut where all figures are weighed together."""
HALF = 0.5
"""Added to every count before a logarithm is taken: what was seen once is believed little."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """Outputs of one mechanism on two inputs, those of the first input before those of the second."""

    keys: NDArray[np.int64]
    """Equal outputs have equal keys."""
    figures: Reals
    """One row per output; no column where outputs are no arrays of one shape."""
    second: Flags
    """Which outputs belong to the second input."""

    def taken(self, which: NDArray[Any]) -> Outputs:
        """Some of the outputs."""
        return Outputs(keys=self.keys[which], figures=self.figures[which], second=self.second[which])


class Statistic(Protocol):
    """A number for every output."""

    @property
    def name(self) -> str:
        """In words."""

    @property
    def learnt(self) -> bool:
        """Whether outputs decided how it is made, so that its thresholds must be chosen on others."""

    def of(self, outputs: Outputs) -> Reals:
        """The numbers of some outputs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighted:
    """One figure, or a weighted sum of all."""

    name: str
    """In words."""
    weights: Reals
    """The weight of every figure."""
    learnt: bool = False
    """Whether outputs decided the weights."""

    def of(self, outputs: Outputs) -> Reals:
        """The sums; nothing is added up where one figure decides, so that it is read as it is."""
        used = np.flatnonzero(self.weights)
        if len(used) == 1:
            return np.asarray(outputs.figures[:, used[0]] * self.weights[used[0]])
        return np.asarray(outputs.figures @ self.weights)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Looked:
    """How much single values speak for the second input; those that were not seen twice speak for none."""

    name: str
    """In words."""
    figure: int
    """The figure that is looked up; -1 for whole outputs."""
    values: NDArray[Any]
    """Known values, ascending."""
    speaks: Reals
    """The logarithm of how much more often each came from the second input."""
    learnt: bool = True
    """Outputs decided it."""

    def of(self, outputs: Outputs) -> Reals:
        """Known values as they speak, others 0."""
        if not len(self.values):
            return np.zeros(len(outputs.keys))
        found = outputs.keys if self.figure < 0 else outputs.figures[:, self.figure]
        place = np.minimum(np.searchsorted(self.values, found), len(self.values) - 1)
        return np.where(self.values[place] == found, self.speaks[place], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """What all figures say, each by the part of its range that it lies in, as if they were independent."""

    name: str
    """In words."""
    cuts: tuple[Reals, ...]
    """For each figure, where its parts end."""
    speaks: tuple[Reals, ...]
    """For each figure, how much each of its parts speaks for the second input."""
    learnt: bool = True
    """Outputs decided it."""

    def of(self, outputs: Outputs) -> Reals:
        """The sums over all figures."""
        found = np.zeros(len(outputs.keys))
        for figure, (cuts, speaks) in enumerate(zip(self.cuts, self.speaks, strict=True)):
            found += speaks[np.searchsorted(cuts, outputs.figures[:, figure], side="right")]
        return found


def encoded(first: Sequence[Any], second: Sequence[Any]) -> Outputs:
    """Outputs as keys and, where they are arrays of one shape, as figures."""
    both = [*first, *second]
    numbers: dict[Hashable, int] = {}
    keys = np.array([numbers.setdefault(_key(one), len(numbers)) for one in both], np.int64)
    return Outputs(keys=keys, figures=_figures(both), second=np.arange(len(both)) >= len(first))


def statistics(outputs: Outputs) -> Iterator[Statistic]:
    """What may tell the inputs apart, as these outputs suggest."""
    wide = outputs.figures.shape[1]
    for figure in range(min(wide, MOST_FIGURES)):
        yield Weighted(name=f"output[{figure}]", weights=np.eye(1, wide, figure)[0])
        yield _looked(outputs, figure, f"how often output[{figure}] has its value")
    if wide > 1:
        yield Weighted(name="sum of the output", weights=np.ones(wide))
        yield Weighted(name="difference of the means", weights=_apart(outputs), learnt=True)
        yield _together(outputs)
    yield _looked(outputs, -1, "how often the whole output occurs")


def _apart(outputs: Outputs) -> Reals:
    means = [outputs.figures[outputs.second == side].mean(axis=0) for side in (False, True)]
    return np.asarray(means[1] - means[0])


def _looked(outputs: Outputs, figure: int, name: str) -> Looked:
    """Values that were seen at least twice."""
    values = outputs.keys if figure < 0 else outputs.figures[:, figure]
    found, place = np.unique(values, return_inverse=True)
    speaks, often = _speaking(place.reshape(-1), outputs.second, len(found))
    return Looked(name=name, figure=figure, values=found[often > 1], speaks=speaks[often > 1])


def _together(outputs: Outputs) -> Together:
    """Every figure cut into parts that hold about as many outputs."""
    cuts, speaks = [], []
    for values in outputs.figures[:, :MOST_FIGURES].T:
        cut = np.unique(np.quantile(values, np.arange(1, BINS) / BINS, method="higher"))
        place = np.searchsorted(cut, values, side="right")
        cuts.append(cut)
        speaks.append(_speaking(place, outputs.second, len(cut) + 1)[0])
    return Together(name="all figures together", cuts=tuple(cuts), speaks=tuple(speaks))


def _speaking(place: NDArray[np.int64], second: Flags, many: int) -> tuple[Reals, NDArray[np.int64]]:
    """How much more often each of some values came from the second input, as a logarithm, and how often it came."""
    counts = [np.bincount(place[second == side], minlength=many) for side in (False, True)]
    return np.asarray(np.log(counts[1] + HALF) - np.log(counts[0] + HALF)), counts[0] + counts[1]


def _key(one: Any) -> Hashable:
    if isinstance(one, np.ndarray):
        return ("array", one.shape, one.dtype.str, tuple(one.ravel().tolist()))
    if isinstance(one, Mapping):
        return ("table", tuple(sorted((str(name), _key(value)) for name, value in one.items())))
    if isinstance(one, list | tuple):
        return tuple(_key(part) for part in one)
    return one if isinstance(one, Hashable) else repr(one)


def _figures(both: Sequence[Any]) -> Reals:
    none = np.zeros((len(both), 0))
    try:
        arrays = [np.asarray(one) for one in both]
    except ValueError:
        return none
    if len({one.shape for one in arrays}) > 1 or any(one.dtype.kind not in "biuf" for one in arrays):
        return none
    return np.asarray(np.nan_to_num(np.stack(arrays).reshape(len(both), -1).astype(np.float64)))
