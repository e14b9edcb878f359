"""Attributes with the class, one after the other: the one that tells most about it beside those measured before."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.data.table import Codes
from sfumato.publish.marginals.marginal_scores import dependences
from sfumato.publish.marginals.measured_parts import MeasuredParts
from sfumato.publish.marginals.measuring import Measuring, Reals
from sfumato.publish.marginals.pair_counts import counts_of
from sfumato.publish.marginals.shrinking import TINY
from sfumato.publish.marginals.tree_model import ClassTable, classed

PRICE = 0.25
"""What part of the expected noise of a table is taken off its score."""
SURER = np.arange(0.5, 6.5, 1.0)
"""Where the certainty of an opinion (a difference of logarithms) is cut into parts."""


def measure_with_class(state: Measuring, budget: Fraction, rounds: int) -> None:
    """So many rounds at most, each for an even part of the budget; what is left when one stops stays in the purse."""
    parts = MeasuredParts(state.table.counts.root(state.table.figures))
    share = budget / rounds
    for number in range(rounds):
        state.work.advance("measure with the class", number, rounds)
        place = _telling(state, parts, share)
        if place is None:
            return
        one = state.coded(place, state.levels[place].fine)
        name, target = state.bins[place].attribute.name, state.table.target_name or "the class"
        counts = counts_of(state.table, one)
        noisy, variance = state.count(counts, share * (1 - state.choosing), f"marginal of {name} with {target}")
        state.tables.append(ClassTable(place=place, counts=noisy, variance=variance))
        state.settle()
        parts.add(one)
        state.said.append(f"{name} in {one[2]} groups, measured with {target}")


def _telling(state: Measuring, parts: MeasuredParts, share: Fraction) -> int | None:
    """The attribute that depends on the class most among rows of which the model thinks alike; None: stop."""
    opinion, many = _opinion(state, parts)
    gone = {one.place for one in state.tables}
    left = [place for place, one in enumerate(state.levels) if place not in gone and one.fine.size > 1]
    counts = [parts.counted(state.coded(place, state.levels[place].fine), opinion, many) for place in left]
    noise = state.spread(share * (1 - state.choosing), 1)
    prices = [PRICE * noise * state.levels[place].fine.size * (state.kinds - 1) for place in left]
    at = state.choose(dependences(counts, prices), share * state.choosing, "choice of an attribute")
    return left[at] if at < len(left) else None


def _opinion(state: Measuring, parts: MeasuredParts) -> tuple[Codes, int]:
    """What the tables so far make of each partition: the likeliest class, and how certainly, as one code."""
    if not state.tables:
        return np.zeros(parts.count, np.int32), 1
    found = np.tile(np.log(np.maximum(state.totals, TINY)), (parts.count, 1))
    for codes, one in zip(parts.keys, state.tables, strict=True):
        rows = classed(state.levels[one.place], state.totals, one)
        found += _logs(rows / np.maximum(rows.sum(axis=0), TINY))[codes]
    levels = len(SURER) + 1
    best = found.argmax(axis=1)
    top = np.partition(found, state.kinds - 2, axis=1)
    sure = np.searchsorted(SURER, top[:, -1] - top[:, -2])
    return (best * levels + sure).astype(np.int32), state.kinds * levels


def _logs(shares: Reals) -> Reals:
    return np.asarray(np.log(np.maximum(shares, TINY)))
