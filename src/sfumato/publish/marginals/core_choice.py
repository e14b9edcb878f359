"""The core: attributes that tell the class best together, chosen one by one, then counted in one table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np

from sfumato.publish.looking import Counts
from sfumato.publish.marginals.core_table import Core
from sfumato.publish.marginals.marginal_scores import told
from sfumato.publish.marginals.measured_parts import MeasuredParts
from sfumato.publish.marginals.measuring import Measuring

MOST = 3
"""No more attributes are in the core."""
CHOOSING = {"epsilon": Fraction(1, 4), "rho": Fraction(1, 8)}
"""The part that chooses them; the rest counts them."""
PRICE = 0.05
"""What part of the expected noise of a table is taken off its score."""
WEIGHT = 1024
"""The weight of a row that counts fully in a choice."""
MOST_CELLS = 2**16
"""No table is a candidate that has more cells."""


def measure_core(state: Measuring, parts: MeasuredParts, budget: Fraction) -> None:
    """Choose attributes while each tells more than its noise costs, and count them together; the rest is left."""
    choosing = budget * CHOOSING[state.purse.unit]
    noise = state.spread(budget - choosing, 1)
    places: list[int] = []
    for number in range(MOST):
        state.work.advance("choose a core", number, MOST)
        place = _telling(state, parts, places, choosing / MOST, noise)
        if place is None:
            break
        places.append(place)
        parts.add(state.coded(place, state.levels[place].fine))
    if not places:
        return
    sizes = tuple(state.levels[place].fine.size for place in places)
    counts = np.zeros((*sizes, state.kinds), np.int64)
    counts[tuple(parts.keys)] = parts.counts
    names = ", ".join(state.bins[place].attribute.name for place in places)
    what = f"marginal of {names} with {state.target}"
    noisy, variance = state.count(counts.reshape(-1, state.kinds), budget - choosing, what)
    state.core = Core(places=tuple(places), sizes=sizes, counts=noisy, variance=variance)
    state.settle()
    state.said.append(f"{names} in {' x '.join(map(str, sizes))} groups, measured with {state.target}")


def _weights(state: Measuring) -> Counts:
    """Views x classes: what a row weighs in a choice.

    In the first view the rows of the largest class weigh as much as all others together, in the second each weighs the
    root of that share: so choices see a rare class, and not only that.
    """
    even = np.minimum(1.0, state.others / np.maximum(state.totals, 1.0))
    return np.asarray(np.maximum(np.rint(WEIGHT * np.stack([even, np.sqrt(even)])), 1), np.int64)


def _telling(
    state: Measuring, parts: MeasuredParts, chosen: Sequence[int], share: Fraction, noise: float
) -> int | None:
    """The attribute with whose fine groups most rows could be told their class; None: stop."""
    sizes = [one.fine.size for one in state.levels]
    cells = prod(sizes[place] for place in chosen)
    left = [
        place
        for place, size in enumerate(sizes)
        if place not in chosen and size > 1 and cells * size * state.kinds <= MOST_CELLS
    ]
    if not left:
        return None
    each = np.arange(parts.count, dtype=np.int32)
    counts = [parts.counted(state.coded(place, state.levels[place].fine), each, parts.count) for place in left]
    prices = [PRICE * noise * cells * sizes[place] * (state.kinds - 1) for place in left]
    scores = told(counts, parts.counts, _weights(state), prices)
    at = state.choose(scores, share, "choice of an attribute of the core")
    return left[at] if at < len(left) else None
