"""Distinguishes the outputs of neighbouring inputs, and bounds what correct guesses prove."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.core.special import beta_quantile, normal_quantile

# What tells the outputs of two inputs apart: numbers made of outputs that are high where they speak for the second.
#
# An output is a number, an array, or anything that can be written as a key. A statistic is learnt from some outputs
# and then read off others: a figure of an array, a weighted sum of all of them, or how much more often a value came
# from the second input than from the first.


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
        values = outputs.keys if self.figure < 0 else outputs.figures[:, self.figure]
        place = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
        return np.where(self.values[place] == values, self.speaks[place], 0.0)


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
        scores = np.zeros(len(outputs.keys))
        for figure, (cuts, speaks) in enumerate(zip(self.cuts, self.speaks, strict=True)):
            scores += speaks[np.searchsorted(cuts, outputs.figures[:, figure], side="right")]
        return scores


def encoded(first: Sequence[Any], second: Sequence[Any]) -> Outputs:
    """Outputs as keys and, where they are arrays of one shape, as figures."""
    both = [*first, *second]
    numbers: dict[Hashable, int] = {}
    keys = np.array([numbers.setdefault(_key(output), len(numbers)) for output in both], np.int64)
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
    distinct_values, place = np.unique(values, return_inverse=True)
    speaks, often = _speaking(place.reshape(-1), outputs.second, len(distinct_values))
    return Looked(name=name, figure=figure, values=distinct_values[often > 1], speaks=speaks[often > 1])


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


def _key(output: Any) -> Hashable:
    if isinstance(output, np.ndarray):
        return ("array", output.shape, output.dtype.str, tuple(output.ravel().tolist()))
    if isinstance(output, Mapping):
        return ("table", tuple(sorted((str(name), _key(value)) for name, value in output.items())))
    if isinstance(output, list | tuple):
        return tuple(_key(part) for part in output)
    return output if isinstance(output, Hashable) else repr(output)


def _figures(both: Sequence[Any]) -> Reals:
    none = np.zeros((len(both), 0))
    try:
        arrays = [np.asarray(output) for output in both]
    except ValueError:
        return none
    if len({array.shape for array in arrays}) > 1 or any(array.dtype.kind not in "biuf" for array in arrays):
        return none
    return np.asarray(np.nan_to_num(np.stack(arrays).reshape(len(both), -1).astype(np.float64)))


# Guessing from an output which of two inputs it came from, and what right and wrong guesses prove.
#
# An epsilon-differentially private mechanism lets nobody guess right more than e^epsilon times as often as wrong, also
# where the auditor keeps silent about some outputs. So right guesses bounded from below and wrong ones from above
# bound epsilon.


MOST_CUTS = 48
"""Thresholds that are tried at each end of a statistic."""
DOUBT = 2.0
"""A guess is chosen as if it were so many deviations worse than it was seen to be."""
LEAST = 2
"""Fewer right guesses than this prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guess:
    """The second input from ``high`` on, the first one up to ``low``, and no word in between."""

    statistic: Statistic
    """What is looked at."""
    high: float = inf
    """Infinite where the second input is never guessed."""
    low: float = -inf
    """Infinite where the first input is never guessed."""
    swapped: bool = False
    """Whether high numbers speak for the first input instead."""

    @property
    def name(self) -> str:
        """In words."""
        inputs = ("first", "second")[:: -1 if self.swapped else 1]
        ends = [(self.high < inf, f">= {self.high:g} is the {inputs[1]} input")]
        ends += [(self.low > -inf, f"<= {self.low:g} the {inputs[0]} input")]
        return f"{self.statistic.name} " + ", ".join(phrase for is_bounded, phrase in ends if is_bounded)

    def bound(self, outputs: Outputs, missed: float, delta: float = 0.0) -> tuple[float, float, float]:
        """A lower bound on epsilon, the least share of right guesses, and the highest of wrong ones.

        Claim: each share is missed with probability ``missed`` at most. Under (epsilon, delta) the share of right ones
            is at most e^epsilon times that of wrong ones and delta more, whether one input is guessed or both.
        How: shares are of all outputs of both inputs, or of one input where only one is ever guessed. Guesses on two
            inputs are coins of two kinds; their number strays from its mean less than with equal coins (Hoeffding 1956,
            theorem 4, for two hits or more and ``missed`` up to 1/4), so the bounds of Clopper and Pearson hold.
        """
        value = self.statistic.of(outputs)
        above, below, second = value >= self.high, value <= self.low, outputs.second ^ self.swapped
        right = int((above & second).sum() + (below & ~second).sum())
        wrong = int((above & ~second).sum() + (below & second).sum())
        runs = len(second) if self.high < inf and self.low > -inf else len(second) // 2
        more, less = lowest(right, runs, missed), highest(wrong, runs, missed)
        return (max(log((more - delta) / less), 0.0) if more > delta else 0.0), more, less


def best_guess(
    statistic: Statistic, outputs: Outputs, counted: int, missed: float, delta: float = 0.0
) -> tuple[float, Guess]:
    """The thresholds that promise the highest bound once so many runs on each input are counted, and that bound."""
    value, second = statistic.of(outputs), outputs.second
    cuts = _cuts(value)
    sides = np.sort(value[~second]), np.sort(value[second])
    high = np.append(cuts, inf)[:, None]
    low = np.append(-inf, cuts)[None, :]
    above = [len(side) - np.searchsorted(side, high) for side in sides]
    below = [np.searchsorted(side, low, side="right") for side in sides]
    best: tuple[float, Guess] = (-inf, Guess(statistic=statistic))
    for swapped in (False, True):
        first, last = (1, 0) if swapped else (0, 1)
        right, wrong = above[last] + below[first], above[first] + below[last]
        shares = _expected(right, wrong, np.isfinite(high) & np.isfinite(low), len(sides[0]), counted, missed)
        bounds = np.log(np.maximum(shares[0] - delta, 1e-12)) - np.log(shares[1])
        bounds = np.where(low < high, bounds, -inf)
        at = np.unravel_index(int(bounds.argmax()), bounds.shape)
        if bounds[at] > best[0]:
            ends = {"high": float(high[at[0], 0]), "low": float(low[0, at[1]])}
            best = (float(bounds[at]), Guess(statistic=statistic, swapped=swapped, **ends))
    return best


def _cuts(value: Reals) -> Reals:
    """Thresholds to be tried: where many outputs lie, and over the whole range."""
    values = np.unique(value)
    if len(values) <= MOST_CUTS:
        return values
    spread = values[np.linspace(0, len(values) - 1, MOST_CUTS // 2).astype(int)]
    dense = np.sort(value)[np.linspace(0, len(value) - 1, MOST_CUTS - MOST_CUTS // 2).astype(int)]
    return np.asarray(np.unique(np.concatenate([spread, dense])))


def _expected(
    right: NDArray[np.int64], wrong: NDArray[np.int64], both: Flags, runs: int, counted: int, missed: float
) -> tuple[Reals, Reals]:
    """About the bounds to be expected of so many other runs, if guesses are a little worse than they were here."""
    here, there = np.where(both, 2 * runs, runs), np.where(both, 2 * counted, counted)
    strict = -normal_quantile(missed)
    more = _wilson(_wilson(right / here, here, -DOUBT), there, -strict)
    less = _wilson(_wilson(wrong / here, here, DOUBT), there, strict)
    return more, less


def _wilson(share: Reals, runs: NDArray[np.int64], deviations: float) -> Reals:
    """A share moved by so many deviations (Wilson 1927): quick, and good enough to choose by."""
    square = deviations * deviations
    middle = share + square / (2 * runs)
    width = deviations * np.sqrt(share * (1 - share) / runs + square / (4.0 * runs * runs))
    return np.asarray(np.clip((middle + width) / (1 + square / runs), 1e-12, 1.0))


def lowest(hits: int, runs: int, missed: float) -> float:
    """The smallest probability that is believable after so many hits; a single hit makes nothing believable."""
    return beta_quantile(hits, runs - hits + 1, missed) if hits >= LEAST else 0.0


def highest(hits: int, runs: int, missed: float) -> float:
    """The largest probability that is believable after so many hits.

    >>> round(highest(0, 100, 0.05), 4)
    0.0295
    """
    return 1 - lowest(runs - hits, runs, missed)
