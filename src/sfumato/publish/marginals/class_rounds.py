"""Attributes with the class, one after the other: the one that tells most about it beside those measured before."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.data.table import Codes
from sfumato.publish.marginals.coded_levels import Grouping
from sfumato.publish.marginals.marginal_scores import dependences
from sfumato.publish.marginals.measured_parts import MeasuredParts
from sfumato.publish.marginals.measuring import CELLS, Measuring, Reals
from sfumato.publish.marginals.pair_counts import Coded, counts_of
from sfumato.publish.marginals.shrinking import TINY
from sfumato.publish.marginals.tree_model import ClassTable, classed

ROUNDS = 4
"""No more attributes are measured with the class, beside the core: where each adds to what others tell already, a model
believes it twice."""
NOISY = 0.25
"""The noise of a typical table may have this part of the rows that it tells apart."""
PRICE = 0.25
"""What part of the expected noise of a table is taken off its score."""
SURER = np.arange(0.5, 6.5, 1.0)
"""Where the certainty of an opinion (a difference of logarithms) is cut into parts."""


def rounds_worth(state: Measuring, budget: Fraction) -> int:
    """In how many rounds the class can be measured before noise covers those who are not of its largest value."""
    return min(state.affordable(state.others * NOISY / CELLS, budget), len(state.bins), ROUNDS)


def measure_with_class(state: Measuring, parts: MeasuredParts, budget: Fraction) -> None:
    """Rounds that each get an even part of the budget; what is left when one stops stays in the purse."""
    rounds = rounds_worth(state, budget)
    share = budget / rounds
    choosing = share * state.choosing
    every = [(place, one) for place, level in enumerate(state.levels) for one in level.groupings]
    for number in range(rounds):
        state.work.advance("measure with the class", number, rounds)
        found = _telling(state, parts, every, choosing, state.spread(share - choosing, 1))
        if found is None:
            return
        parts.add(counted_with_class(state, *found, share - choosing))


def counted_with_class(state: Measuring, place: int, fine: Grouping, amount: Fraction) -> Coded:
    """Count an attribute in these groups with the class, and say so."""
    state.levels[place].refine(fine)
    one = state.coded(place, fine)
    name, target = state.bins[place].attribute.name, state.target
    noisy, variance = state.count(counts_of(state.table, one), amount, f"marginal of {name} with {target}")
    state.tables.append(ClassTable(place=place, counts=noisy, variance=variance))
    state.settle()
    state.said.append(f"{name} in {one[2]} groups, measured with {target}")
    return one


def _telling(
    state: Measuring,
    parts: MeasuredParts,
    every: Sequence[tuple[int, Grouping]],
    choosing: Fraction,
    noise: float,
) -> tuple[int, Grouping] | None:
    """The attribute, and its groups, that depend on the class most among rows of which the model thinks alike."""
    opinion, many = _opinion(state, parts)
    gone = {one.place for one in state.tables} | set(state.core.places if state.core else ())
    left = [(place, one) for place, one in every if place not in gone]
    if not left:
        return None
    counts = [parts.counted(state.coded(place, one), opinion, many) for place, one in left]
    prices = [PRICE * noise * one.size * (state.kinds - 1) for _, one in left]
    at = state.choose(dependences(counts, prices), choosing, "choice of an attribute")
    return left[at] if at < len(left) else None


def _opinion(state: Measuring, parts: MeasuredParts) -> tuple[Codes, int]:
    """What the tables so far make of each partition: the likeliest class, and how certainly, as one code."""
    if not len(parts.keys):
        return np.zeros(parts.count, np.int32), 1
    found = np.tile(np.log(np.maximum(state.totals, TINY)), (parts.count, 1))
    first = 0
    if state.core is not None:
        first = len(state.core.places)
        cells = np.ravel_multi_index(tuple(parts.keys[:first]), state.core.sizes)
        found += _logs(state.core.rows(state.totals))[cells]
    for codes, one in zip(parts.keys[first:], state.tables, strict=True):
        found += _logs(classed(state.levels[one.place], state.totals, one))[codes]
    levels = len(SURER) + 1
    best = found.argmax(axis=1)
    top = np.partition(found, state.kinds - 2, axis=1)
    sure = np.searchsorted(SURER, top[:, -1] - top[:, -2])
    return (best * levels + sure).astype(np.int32), state.kinds * levels


def _logs(rows: Reals) -> Reals:
    """Logarithms of the shares in every class."""
    return np.asarray(np.log(np.maximum(rows / np.maximum(rows.sum(axis=0), TINY), TINY)))
