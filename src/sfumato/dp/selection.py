"""Private selection: choose among candidates, quantiles and keys by noisy scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between
from sfumato.core.errors import ParameterError
from sfumato.core.fractions import exact
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Approximate, Concentrated, Pure, exactly
from sfumato.dp.mechanisms import LARGEST, opendp, root, sensible, within

# Choosing one of several things by noisy scores.


def chosen(
    scores: Sequence[float] | NDArray[Any],
    *,
    sensitivity: float,
    epsilon: Any = None,
    rho: Any = None,
    monotonic: bool = False,
    what: str = "",
) -> tuple[int, Cost]:
    """The place of a score that is probably among the highest, and what choosing it cost.

    Report noisy max with exponential noise (permute and flip): never worse than the exponential mechanism.
    ``sensitivity`` is how much a single score changes by one record; ``monotonic`` says that one more record moves all
    scores in the same direction, which halves the noise.
    Event: pure epsilon; or rho-zCDP by Gumbel noise, which is the exponential mechanism with epsilon = sqrt(8 rho).
    Expected error: with n scores the chosen one is within 2 sensitivity/epsilon * ln n of the highest on average.
    Edges: no score, or one that is no finite number, is refused; a single score is chosen without looking.
    """
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon must be given, or rho in its place; one of them")
    moved = sensible("sensitivity", sensitivity)
    name, budget = ("epsilon", exactly("epsilon", epsilon)) if rho is None else ("rho", exactly("rho", rho))
    given = np.asarray(scores, np.float64)
    if not given.size or not np.isfinite(given).all():
        raise ParameterError("scores must be finite numbers, at least one of them")
    cost: Cost = Pure(epsilon=budget, what=what) if rho is None else Concentrated(rho=budget, what=what)
    return int(_noisy_max(moved, monotonic, name, budget)(given.tolist())), cost


@lru_cache(maxsize=256)
def _noisy_max(moved: Fraction, monotonic: bool, name: str, budget: Fraction) -> Any:
    """The mechanism, checked once; it keeps nothing of what it is asked."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float, monotonic=monotonic)
    law = dp.max_divergence() if name == "epsilon" else dp.zero_concentrated_divergence()
    spread = (1 if monotonic else 2) * moved
    wide = spread / budget if name == "epsilon" else root(spread**2 / (8 * budget))
    return within(lambda s: space >> dp.m.then_noisy_max(law, scale=s), wide, float(moved), budget, name)[0]


def chosen_quantile(
    numbers: NDArray[Any], candidates: Sequence[float], *, share: float, epsilon: Any, what: str = "quantile"
) -> tuple[float, Cost]:
    """One of the declared candidates, probably near the quantile: about ``share`` of the numbers lie below it.

    A candidate's score is minus the distance between ``1 - share`` times the numbers below it and ``share`` times those
    above; one record moves it by at most the larger of the two shares. Scores are whole multiples of a fraction, so
    that rounding cannot move them further; a share with more than five digits is rounded to them.
    Event: pure epsilon. Expected error: a rank off by about 2 ln(candidates)/epsilon, beside the candidates' own grid.
    Edges: no number at all is allowed (every candidate is then as likely); candidates must be declared, not read off.
    """
    between("share", share, 0, 1)
    given = np.sort(np.asarray(numbers, np.float64))
    grid = np.asarray(candidates, np.float64)
    if not grid.size or not np.isfinite(grid).all():
        raise ParameterError("candidates must be finite numbers, at least one of them")
    if np.isnan(given).any():
        raise ParameterError("numbers must not be missing; leave such records out or give them a declared value")
    below = np.searchsorted(given, grid, side="left")
    above = len(given) - np.searchsorted(given, grid, side="right")
    part = exact(float(share)).limit_denominator(100_000)
    less, more = part.denominator - part.numerator, part.numerator
    scores = -np.abs(less * below.astype(np.int64) - more * above.astype(np.int64))
    place, event = chosen(scores, epsilon=epsilon, sensitivity=max(less, more), what=what)
    return float(grid[place]), event


# Which values a column has: those that more records hold than noise can make up.


_TRIES = 64


def chosen_keys(
    counts: Mapping[str, int], *, epsilon: Any, delta: Any, what: str = "values"
) -> tuple[tuple[str, ...], Approximate]:
    """The keys whose noisy count is above a threshold, in the order of their texts, and what finding them cost.

    Every record has one key, so one record more moves one count by one. Noise is added to the counts of the keys that
    occur; a key that one record alone has passes the threshold with probability ``delta`` at most.
    Event: (epsilon, delta), as OpenDP's Laplace threshold says (Rogers 2023). Expected: keys of more than about
    (1 + ln(1 / 2 delta)) / epsilon records are found.
    Edges: no key at all is allowed; counts below 1 are refused, for a key that nobody has must not be told.
    """
    budget, missed = exactly("epsilon", epsilon), exactly("delta", delta)
    event = Approximate(epsilon=budget, delta=missed, what=what)
    if any(isinstance(many, bool) or not isinstance(many, int) or not 0 < many <= LARGEST for many in counts.values()):
        raise ParameterError(f"counts must be whole numbers from 1 to {LARGEST}")
    # OpenDP takes a text as a C string, which ends at the first NUL: "a\0x" of one record would replace the count of
    # "a". So it gets the number of a key in place of its text. Which key has which number may depend on all records:
    # noise and threshold treat every number alike, so the texts that come back have the same law under any numbering,
    # the law of the mechanism on the texts themselves. The numbers are never published.
    names = sorted(counts)
    dp = opendp()
    space = (
        dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    _, scale = within(lambda s: _Epsilon(space >> dp.m.then_laplace_threshold(scale=s, threshold=LARGEST)),
                      1 / budget, (1, 1, 1), budget, "epsilon")  # fmt: skip
    threshold = max(ceil(1 + scale * log(1 / (2 * float(missed)))), 1)
    for _ in range(_TRIES):
        mechanism = space >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)
        spent, wrong = map(float, mechanism.map((1, 1, 1)))
        if isfinite(spent) and Fraction(spent) <= budget and Fraction(wrong) <= missed:
            passed = mechanism({number: counts[name] for number, name in enumerate(names)})
            return tuple(names[number] for number in sorted(passed)), event
        threshold += max(threshold // 1000, 1)
    raise ParameterError(f"delta must be one for which a threshold can be found, not {float(missed):g}")


class _Epsilon:
    """A mechanism with a delta beside its epsilon, of which the epsilon is asked for."""

    def __init__(self, mechanism: Any) -> None:
        self._made = mechanism

    def map(self, moved: Any) -> float:
        """As every mechanism."""
        return float(self._made.map(moved)[0])
