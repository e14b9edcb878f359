"""Sets of outputs that tell two inputs apart, made from some outputs and held against others.

An output is a number, an array, or anything that can be written as a key. Numbers are compared with thresholds and
with single values; keys are put in the order in which they speak for one input, and cut off somewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
MOST_CUTS = 200
"""Thresholds and single values that are tried for each figure."""
MOST_FIGURES = 64
"""Of longer arrays, only so many places are looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """Outputs of one mechanism on two inputs, those of the first input before those of the second."""

    keys: NDArray[np.int64]
    """Equal outputs have equal keys."""
    figures: NDArray[np.float64]
    """One row per output; no column where outputs are no arrays of one shape."""
    second: Flags
    """Which outputs belong to the second input."""

    def taken(self, which: NDArray[Any]) -> Outputs:
        """Some of the outputs."""
        return Outputs(keys=self.keys[which], figures=self.figures[which], second=self.second[which])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutputSet:
    """A set of outputs."""

    name: str
    """What is in it."""
    figure: int | None = None
    """The figure that decides; None where keys do."""
    weights: NDArray[np.float64] | None = None
    """Instead of one figure, a weighted sum of all of them."""
    sign: str = "="
    """Whether the figure must be at least, at most, or equal to the cut."""
    cut: float = 0.0
    """The threshold or value."""
    members: frozenset[int] = frozenset()
    """The keys in it."""

    def holds(self, outputs: Outputs) -> Flags:
        """Which outputs are in it."""
        if self.figure is None and self.weights is None:
            return np.isin(outputs.keys, list(self.members))
        value = outputs.figures @ self.weights if self.weights is not None else outputs.figures[:, self.figure or 0]
        if self.sign == "=":
            return np.asarray(value == self.cut)
        return np.asarray(value >= self.cut if self.sign == ">=" else value <= self.cut)


def encoded(first: Sequence[Any], second: Sequence[Any]) -> Outputs:
    """Outputs as keys and, where they are arrays of one shape, as figures."""
    both = [*first, *second]
    numbers: dict[Hashable, int] = {}
    keys = np.array([numbers.setdefault(_key(one), len(numbers)) for one in both], np.int64)
    return Outputs(keys=keys, figures=_figures(both), second=np.arange(len(both)) >= len(first))


def candidates(outputs: Outputs) -> Iterator[OutputSet]:
    """Sets that may be more likely on one input than on the other, as these outputs suggest."""
    wide = outputs.figures.shape[1]
    for figure in range(min(wide, MOST_FIGURES)):
        for sign, cut in _cuts(outputs.figures[:, figure]):
            yield OutputSet(name=f"output[{figure}] {sign} {cut:g}", figure=figure, sign=sign, cut=cut)
    if wide > 1:
        for name, weights in (("sum of the output", np.ones(wide)), ("difference of the means", _apart(outputs))):
            for sign, cut in _cuts(outputs.figures @ weights):
                yield OutputSet(name=f"{name} {sign} {cut:g}", weights=weights, sign=sign, cut=cut)
    yield from _ordered(outputs)


def _cuts(values: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
    found, counts = np.unique(values, return_counts=True)
    places = np.unique(np.linspace(0, len(found) - 1, min(len(found), MOST_CUTS)).astype(int))
    for cut in found[places].tolist():
        yield ">=", cut
        yield "<=", cut
    often = np.argsort(-counts, kind="stable")[:MOST_CUTS]
    for place in often[counts[often] > 1].tolist():
        yield "=", float(found[place])


def _apart(outputs: Outputs) -> NDArray[np.float64]:
    means = [outputs.figures[outputs.second == side].mean(axis=0) for side in (False, True)]
    return np.asarray(means[1] - means[0])


def _ordered(outputs: Outputs) -> Iterator[OutputSet]:
    """The keys that speak most for one input, more and more of them; keys seen once tell nothing and are left out."""
    found, place = np.unique(outputs.keys, return_inverse=True)
    counts = [np.bincount(place[outputs.second == side], minlength=len(found)) for side in (False, True)]
    for sign in (1, -1):
        posterior = sign * (np.log(counts[1] + 0.5) - np.log(counts[0] + 0.5))
        order = np.argsort(-posterior, kind="stable")
        order = order[(counts[0] + counts[1])[order] > 1]
        for many in np.unique(np.linspace(1, len(order), min(len(order), MOST_CUTS)).astype(int)).tolist():
            yield OutputSet(name=f"one of {many} outputs", members=frozenset(found[order[:many]].tolist()))


def _key(one: Any) -> Hashable:
    if isinstance(one, np.ndarray):
        return ("array", one.shape, one.dtype.str, tuple(one.ravel().tolist()))
    if isinstance(one, Mapping):
        return ("table", tuple(sorted((str(name), _key(value)) for name, value in one.items())))
    if isinstance(one, list | tuple):
        return tuple(_key(part) for part in one)
    return one if isinstance(one, Hashable) else repr(one)


def _figures(both: Sequence[Any]) -> NDArray[np.float64]:
    none = np.zeros((len(both), 0))
    try:
        arrays = [np.asarray(one) for one in both]
    except ValueError:
        return none
    if len({one.shape for one in arrays}) > 1 or any(one.dtype.kind not in "biuf" for one in arrays):
        return none
    return np.asarray(np.nan_to_num(np.stack(arrays).reshape(len(both), -1).astype(np.float64)))
