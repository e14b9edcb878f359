"""Guessing from an output which of two inputs it came from, and what right and wrong guesses prove.

An epsilon-differentially private mechanism lets nobody guess right more than e^epsilon times as often as wrong, also
where the auditor keeps silent about some outputs. So right guesses bounded from below and wrong ones from above bound
epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.answers.noise_events import Flags, Outputs, Reals, Statistic
from sfumato.ground.special import beta_quantile, normal_quantile

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
        return f"{self.statistic.name} " + ", ".join(said for told, said in ends if told)

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
    above = [len(one) - np.searchsorted(one, high) for one in sides]
    below = [np.searchsorted(one, low, side="right") for one in sides]
    found: tuple[float, Guess] = (-inf, Guess(statistic=statistic))
    for swapped in (False, True):
        first, last = (1, 0) if swapped else (0, 1)
        right, wrong = above[last] + below[first], above[first] + below[last]
        shares = _expected(right, wrong, np.isfinite(high) & np.isfinite(low), len(sides[0]), counted, missed)
        bounds = np.log(np.maximum(shares[0] - delta, 1e-12)) - np.log(shares[1])
        bounds = np.where(low < high, bounds, -inf)
        at = np.unravel_index(int(bounds.argmax()), bounds.shape)
        if bounds[at] > found[0]:
            ends = {"high": float(high[at[0], 0]), "low": float(low[0, at[1]])}
            found = (float(bounds[at]), Guess(statistic=statistic, swapped=swapped, **ends))
    return found


def _cuts(value: Reals) -> Reals:
    """Thresholds to be tried: where many outputs lie, and over the whole range."""
    found = np.unique(value)
    if len(found) <= MOST_CUTS:
        return found
    spread = found[np.linspace(0, len(found) - 1, MOST_CUTS // 2).astype(int)]
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
