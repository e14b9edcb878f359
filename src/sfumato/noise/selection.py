"""Choosing one of several things by noisy scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Concentrated, Pure, exactly
from sfumato.budget.purse import Cost
from sfumato.ground.arguments import between
from sfumato.ground.errors import ParameterError
from sfumato.ground.shares import exact
from sfumato.noise.mechanisms import opendp, root, sensible, within


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
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float, monotonic=monotonic)
    law = dp.max_divergence() if rho is None else dp.zero_concentrated_divergence()
    spread = (1 if monotonic else 2) * moved
    wide = spread / budget if rho is None else root(spread**2 / (8 * budget))
    made, _ = within(lambda s: space >> dp.m.then_noisy_max(law, scale=s), wide, float(moved), budget, name)
    cost: Cost = Pure(epsilon=budget, what=what) if rho is None else Concentrated(rho=budget, what=what)
    return int(made(given.tolist())), cost


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
