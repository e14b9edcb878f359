"""Noisy counts and answers that cost no more than their share of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log, nextafter, sinh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between
from sfumato.core.errors import ParameterError
from sfumato.core.special import normal_quantile
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Concentrated, Event, Pure, exactly, written
from sfumato.dp.mechanisms import costs, opendp, root, sensible, whole_counts, within
from sfumato.dp.noise_shares import laplace_share
from sfumato.dp.selection import chosen, chosen_keys, chosen_quantile

# A noisy answer, with everything its reader must know about the noise.


_SHARP = 1e-2
"""Whole noise of a smaller scale is 0 with all but e^-100 of its probability."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noisy:
    """Released values, their noise, and what releasing them cost."""

    values: NDArray[Any]
    """The noisy values."""
    event: Event
    """What it cost."""
    scale: float
    """The noise's scale: of a Laplace distribution, or the deviation of a Gaussian one."""
    law: str
    """laplace or gaussian."""
    draws: float = 1
    """How many noises of this law every value has: one of each party that added a whole one, or a part more than one
    where all parties' shares are more than a whole noise."""

    @property
    def expected_error(self) -> float:
        """The mean of the absolute noise of one value; for whole numbers and for several noises it is at most this."""
        return ceil(self.draws) * self._one_error

    @property
    def _one_error(self) -> float:
        return self.scale if self.law == "laplace" else self.scale * float(np.sqrt(2 / np.pi))

    @property
    def variance(self) -> float:
        """The variance of the noise of one value; for whole numbers of a Gaussian law it is at most this."""
        return self.draws * self._one_variance

    @property
    def _one_variance(self) -> float:
        if self.law == "gaussian":
            return self.scale**2
        if self.values.dtype.kind not in "iu":
            return 2 * self.scale**2
        return 0.5 / sinh(0.5 / self.scale) ** 2 if self.scale > _SHARP else 0.0

    def margin(self, confidence: float = 0.95) -> float:
        """With this confidence at least, a single true value lies within so much of its noisy value."""
        between("confidence", confidence, 0, 1, open_low=True)
        if confidence == 1:
            return inf
        many = ceil(self.draws)
        return many * self._one_margin(1 - (1 - confidence) / many)

    def _one_margin(self, confidence: float) -> float:
        """Of one noise: several are all within it where each is, so each may miss as often as its part."""
        whole = self.values.dtype.kind in "iu"
        if self.law == "laplace":
            return _laplace_margin(self.scale, 1 - confidence, whole=whole)
        margin = self.scale * normal_quantile((1 + confidence) / 2)
        return float(ceil(margin)) if whole else margin


def _laplace_margin(scale: float, missed: float, *, whole: bool) -> float:
    """How far noise goes that is beyond with probability ``missed`` at most; of whole noise, a whole number.

    Whole noise is m or more away with probability 2 a^m / (1 + a), where a = exp(-1 / scale): a little more often than
    real noise of the same scale.
    """
    if not whole:
        return scale * log(1 / missed)
    return float(max(ceil(scale * log(2 / ((1 + exp(-1 / scale)) * missed))) - 1, 0))


# Laplace noise: discrete on counts, on a fine grid on reals.


def noisy_counts(counts: NDArray[Any], *, epsilon: Any, sensitivity: int = 1, what: str = "counts") -> Noisy:
    """Counts with discrete Laplace noise; ``sensitivity`` is how much all of them together change by one record.

    Event: pure epsilon. Expected error of a count: at most sensitivity / epsilon.
    Edges: counts may be 0 or negative; a sensitivity or an epsilon of 0, an infinite one, and a count beyond 2^62 are
        refused. No count, no noise: the event is charged all the same.
    """
    budget, moved = exactly("epsilon", epsilon), sensible("sensitivity", sensitivity)
    if moved.denominator != 1:
        raise ParameterError(f"sensitivity must be a whole number for counts, not {sensitivity!r}")
    given = whole_counts(counts)
    mechanism, scale = _laplace_on_counts(int(moved), budget)
    drawn = np.asarray(mechanism(given.ravel()) if given.size else [], np.int64).reshape(given.shape)
    return Noisy(values=drawn, event=Pure(epsilon=budget, what=what), scale=scale, law="laplace")


@lru_cache(maxsize=256)
def _laplace_on_counts(moved: int, budget: Fraction) -> tuple[Any, float]:
    """The mechanism, checked once, and its scale; it keeps nothing of what it is asked."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return within(lambda s: space >> dp.m.then_laplace(scale=s), moved / budget, moved, budget, "epsilon")


def noisy_reals(values: NDArray[Any], *, epsilon: Any, sensitivity: float, what: str = "sums") -> Noisy:
    """Real numbers with Laplace noise, sampled exactly; ``sensitivity`` is how much all of them change by one record.

    Event: pure epsilon. Expected error of a value: sensitivity / epsilon.
    Edges: a value that is no finite number is refused, as are a sensitivity or an epsilon that are not above 0.
    """
    budget, moved = exactly("epsilon", epsilon), sensible("sensitivity", sensitivity)
    given = np.asarray(values, np.float64)
    if not np.isfinite(given).all():
        raise ParameterError("values must be finite numbers; clamp them to declared bounds first")
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    mechanism, scale = within(
        lambda s: space >> dp.m.then_laplace(scale=s), moved / budget, float(moved), budget, "epsilon"
    )
    drawn = np.asarray(mechanism(given.ravel().tolist()) if given.size else [], np.float64).reshape(given.shape)
    return Noisy(values=drawn, event=Pure(epsilon=budget, what=what), scale=scale, law="laplace")


# Discrete Gaussian noise on counts, accounted for in zero-concentrated differential privacy.


def gaussian_counts(counts: NDArray[Any], *, rho: Any, sensitivity: float = 1.0, what: str = "counts") -> Noisy:
    """Counts with discrete Gaussian noise; ``sensitivity`` is the Euclidean length by which one record moves them.

    Event: rho-zCDP. Expected error of a count: about 0.8 times sensitivity / sqrt(2 rho).
    Edges: as with Laplace noise; there is no pure epsilon.
    """
    budget, moved = exactly("rho", rho), sensible("sensitivity", sensitivity)
    given = whole_counts(counts)
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    wide = root(moved * moved / (2 * budget))
    mechanism, scale = within(lambda s: space >> dp.m.then_gaussian(scale=s), wide, float(moved), budget, "rho")
    drawn = np.asarray(mechanism(given.ravel()) if given.size else [], np.int64).reshape(given.shape)
    return Noisy(values=drawn, event=Concentrated(rho=budget, what=what), scale=scale, law="gaussian")


# Randomized response: every answer is changed at random before anybody sees it.


def randomized_responses(
    answers: Sequence[str], categories: Sequence[str], *, epsilon: Any, what: str = "answers"
) -> tuple[list[str], Pure, float]:
    """Each answer kept with a probability that epsilon allows, else replaced by any other declared category.

    Gives the answers, the event of one respondent, and the probability of keeping an answer.
    Event: pure epsilon per respondent, whoever collects. An answer is kept with e^eps / (e^eps + categories - 1).
    Edges: fewer than two categories, a category named twice, and an answer that is none of them are refused; a budget
        above 30 keeps no more answers than 30 does, and one too small to tell answers from chance is refused.
    """
    budget = exactly("epsilon", epsilon)
    names = list(categories)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ParameterError(f"categories must be at least two different texts, not {names!r}")
    numbers = {name: number for number, name in enumerate(names)}
    strange = next((answer for answer in answers if answer not in numbers), None)
    if strange is not None:
        raise ParameterError(f"answers must be declared categories, not {strange!r}")
    dp = opendp()
    kept = 1 - (len(names) - 1) / (exp(float(budget) if budget < 30 else 30.0) + len(names) - 1)
    for _ in range(64):
        if Fraction(kept) * len(names) < 1:
            break
        # Numbers in place of texts, which OpenDP cuts off at a NUL. The categories and their numbers are public.
        mechanism = dp.m.make_randomized_response(list(range(len(names))), kept, T="i64")
        if costs(mechanism, 1) <= budget:
            return [names[mechanism(numbers[answer])] for answer in answers], Pure(epsilon=budget, what=what), kept
        kept = nextafter(kept * (1 - 1e-15), 0.0)
    raise ParameterError(f"epsilon must be a budget for which answers can be drawn, not {written(budget)}")


# Noise and choices for what they may cost: Laplace and exponential noise for epsilon, Gaussian and Gumbel for rho.


def counted(counts: NDArray[Any], cost: Cost) -> Noisy:
    """Counts of disjoint sets of records: one more record moves one of them by one."""
    if isinstance(cost, Pure):
        return noisy_counts(counts, epsilon=cost.epsilon, what=cost.what)
    return gaussian_counts(counts, rho=cost.rho, what=cost.what)


def picked(scores: NDArray[Any], cost: Cost, *, sensitivity: float, monotonic: bool = False) -> int:
    """The place of a score that is probably among the highest."""
    budget = {"epsilon": cost.epsilon} if isinstance(cost, Pure) else {"rho": cost.rho}
    return chosen(scores, **budget, sensitivity=sensitivity, monotonic=monotonic, what=cost.what)[0]


# Noise and private selection: thin, typed wrappers, and the only place that knows OpenDP.
#
# Every call takes its share of the budget as an exact fraction, asks OpenDP what the mechanism really costs, and
# refuses to release anything that would cost more.


__all__ = [
    "Noisy",
    "chosen",
    "chosen_keys",
    "chosen_quantile",
    "counted",
    "gaussian_counts",
    "laplace_share",
    "noisy_counts",
    "noisy_reals",
    "picked",
    "randomized_responses",
]
