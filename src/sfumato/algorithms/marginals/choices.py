"""Which marginals are measured: chosen by noisy scores, or declared."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.marginals.levels import TINY, Grouping
from sfumato.algorithms.marginals.measuring import CELLS, Coded, Floats, MeasuredParts, Measuring, counts_of, pairs_of
from sfumato.algorithms.marginals.tree_model import ClassTable, Core, Edge, classed, coarse_rows, known_rows
from sfumato.algorithms.private_table import Counts, Reals, Scores
from sfumato.tables.table import Codes

# What choices are made by, and how far one record can move it.


MARGIN = 1 / 1024
"""More than rounding can add to a difference of scores, up to 10^11 rows."""
LARGEST = 2.0**40
"""No price is higher: scores keep their fractions."""


def majority_scores(tables: Sequence[Counts], before: Counts, weights: Counts, prices: Sequence[float]) -> Scores:
    """Rows whose class could be told (those of the heaviest class, last axis, of every cell), less a public price > 0.

    Last stands the score of stopping: the rows that could be told before. Rows weigh by their class; with several rows
    of ``weights`` (views x classes) the scores of all views are added. One more record adds between 0 and its weight to
    one addend of every view, so the sum of its weights bounds how far a score moves, and none moves down. Counts and
    weights are whole numbers: nothing is rounded.
    """
    scores = [sum(int((table * view).max(axis=-1).sum()) for view in weights) for table in [*tables, before]]
    heaviest = int(weights.sum(axis=0).max())
    paid = [int(min(price * heaviest, LARGEST)) + 1 for price in prices]
    values = np.array([score - price for score, price in zip(scores, [*paid, 0], strict=True)], np.float64)
    return Scores(values=values, sensitivity=float(heaviest), monotonic=True)


def dependence(table: Counts) -> float:
    """Groups x values x classes: how many rows would have to move for values and classes to be independent in a group.

    It is half of Σ |n_gvc - n_gv n_gc / n_g|. Let a record of group g be added whose value and class are those of
    shares x and y of the n rows of the group. The addends of its cell, of the rest of its row, of the rest of its
    column and of all others each move by (1 - x)(1 - y) n / (n + 1) in sum, so the half of all moves by less than 2.
    """
    rows, columns = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
    total = np.maximum(table.sum(axis=(1, 2), keepdims=True), 1)
    return float(np.abs(table - rows * (columns / total)).sum() / 2)


def dependences(tables: Sequence[Counts], prices: Sequence[float]) -> Scores:
    """Dependence less a public price, and last the score of stopping, which is 0."""
    scores = [dependence(table) - min(price, LARGEST) for table, price in zip(tables, prices, strict=True)]
    return Scores(values=np.array([*scores, 0.0]), sensitivity=2.0 + MARGIN, monotonic=False)


def errors(counts: Sequence[Counts], model_counts: Sequence[Reals], prices: Sequence[float]) -> Scores:
    """How far counts are from what a public model says, cell by cell, less a public price; last the score of stopping.

    One record moves one cell by one, and the model not at all: sensitivity 1.
    """
    scores = [
        float(np.abs(table - model).sum()) - min(price, LARGEST)
        for table, model, price in zip(counts, model_counts, prices, strict=True)
    ]
    return Scores(values=np.array([*scores, 0.0]), sensitivity=1.0 + MARGIN, monotonic=False)


def without(scores: Scores, open_: NDArray[np.bool_]) -> Scores:
    """Only the scores of some candidates, and that of stopping."""
    kept = np.append(open_, np.True_)
    return Scores(values=scores.values[kept], sensitivity=scores.sensitivity, monotonic=scores.monotonic)


# Attributes with the class, one after the other: the one that tells most about it beside those measured before.


ROUNDS = 4
"""No more attributes are measured with the class, beside the core: where each adds to what others tell already, a model
believes it twice."""
NOISY = 0.25
"""The noise of a typical table may have this part of the rows that it tells apart."""
CLASS_PRICE = 0.25
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
    every = [(place, grouping) for place, level in enumerate(state.levels) for grouping in level.groupings]
    for number in range(rounds):
        state.work.advance("measure with the class", number, rounds)
        best = _best_class_attribute(state, parts, every, choosing, state.spread(share - choosing, 1))
        if best is None:
            return
        parts.add(counted_with_class(state, *best, share - choosing))


def counted_with_class(state: Measuring, place: int, fine: Grouping, amount: Fraction) -> Coded:
    """Count an attribute in these groups with the class, and say so."""
    state.levels[place].refine(fine)
    attribute = state.coded(place, fine)
    name, target = state.bins[place].attribute.name, state.target
    noisy, variance = state.count(counts_of(state.table, attribute), amount, f"marginal of {name} with {target}")
    state.tables.append(ClassTable(place=place, counts=noisy, variance=variance))
    state.settle()
    state.said.append(f"{name} in {attribute[2]} groups, measured with {target}")
    return attribute


def _best_class_attribute(
    state: Measuring,
    parts: MeasuredParts,
    every: Sequence[tuple[int, Grouping]],
    choosing: Fraction,
    noise: float,
) -> tuple[int, Grouping] | None:
    """The attribute, and its groups, that depend on the class most among rows of which the model thinks alike."""
    opinion, many = _opinion(state, parts)
    gone = {table.place for table in state.tables} | set(state.core.places if state.core else ())
    left = [(place, grouping) for place, grouping in every if place not in gone]
    if not left:
        return None
    counts = [parts.counted(state.coded(place, grouping), opinion, many) for place, grouping in left]
    prices = [CLASS_PRICE * noise * grouping.size * (state.kinds - 1) for _, grouping in left]
    at = state.choose(dependences(counts, prices), choosing, "choice of an attribute")
    return left[at] if at < len(left) else None


def _opinion(state: Measuring, parts: MeasuredParts) -> tuple[Codes, int]:
    """What the tables so far make of each partition: the likeliest class, and how certainly, as one code."""
    if not len(parts.keys):
        return np.zeros(parts.count, np.int32), 1
    logs = np.tile(np.log(np.maximum(state.totals, TINY)), (parts.count, 1))
    first = 0
    if state.core is not None:
        first = len(state.core.places)
        cells = np.ravel_multi_index(tuple(parts.keys[:first]), state.core.sizes)
        logs += _logs(state.core.rows(state.totals))[cells]
    for codes, table in zip(parts.keys[first:], state.tables, strict=True):
        logs += _logs(classed(state.levels[table.place], state.totals, table))[codes]
    levels = len(SURER) + 1
    best = logs.argmax(axis=1)
    top = np.partition(logs, state.kinds - 2, axis=1)
    sure = np.searchsorted(SURER, top[:, -1] - top[:, -2])
    return (best * levels + sure).astype(np.int32), state.kinds * levels


def _logs(rows: Floats) -> Floats:
    """Logarithms of the shares in every class."""
    return np.asarray(np.log(np.maximum(rows / np.maximum(rows.sum(axis=0), TINY), TINY)))


# The core: attributes that tell the class best together, chosen one by one, then counted in one table.


MOST = 3
"""No more attributes are in the core."""
CHOOSING = {"epsilon": Fraction(1, 4), "rho": Fraction(1, 8)}
"""The part that chooses them; the rest counts them."""
CORE_PRICE = 0.05
"""What part of the expected noise of a table is taken off its score."""
WEIGHT = 1024
"""The weight of a row that counts fully in a choice."""
MAX_CORE_CELLS = 2**16
"""No table is a candidate that has more cells."""


def measure_core(state: Measuring, parts: MeasuredParts, budget: Fraction) -> None:
    """Choose attributes while each tells more than its noise costs, and count them together; the rest is left."""
    choosing = budget * CHOOSING[state.purse.unit]
    noise = state.spread(budget - choosing, 1)
    places: list[int] = []
    for number in range(MOST):
        state.work.advance("choose a core", number, MOST)
        place = _best_core_attribute(state, parts, places, choosing / MOST, noise)
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


def _best_core_attribute(
    state: Measuring, parts: MeasuredParts, chosen: Sequence[int], share: Fraction, noise: float
) -> int | None:
    """The attribute with whose fine groups most rows could be told their class; None: stop."""
    sizes = [level.fine.size for level in state.levels]
    cells = prod(sizes[place] for place in chosen)
    left = [
        place
        for place, size in enumerate(sizes)
        if place not in chosen and size > 1 and cells * size * state.kinds <= MAX_CORE_CELLS
    ]
    if not left:
        return None
    each = np.arange(parts.count, dtype=np.int32)
    counts = [parts.counted(state.coded(place, state.levels[place].fine), each, parts.count) for place in left]
    prices = [CORE_PRICE * noise * cells * sizes[place] * (state.kinds - 1) for place in left]
    scores = majority_scores(counts, parts.counts, _weights(state), prices)
    at = state.choose(scores, share, "choice of an attribute of the core")
    return left[at] if at < len(left) else None


# Pairs of attributes: a forest of those that the model tells worst, chosen one by one, then measured alike.


PAIR_PRICE = 0.5
"""What part of the expected noise of a table is taken off its score."""
MAX_PAIR_CELLS = 2**20
"""No table is a candidate that has more cells."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A table that could be measured."""

    places: Pair
    """The two attributes."""
    counts: Counts
    """Groups x groups x classes, or x 1 without the class: private."""
    said: Floats
    """What the model says in its place: both independent within every class."""


def measure_pairs(state: Measuring, wanted: Collection[Pair] | None = None) -> None:
    """As many pairs as are worth their noise, of those wanted; all that is left of the budget goes to them, if any."""
    chosen = _chosen(state, state.pairs_worth(state.purse.left * (1 - state.choosing)), wanted)
    count_pairs(state, chosen)


def count_pairs(state: Measuring, chosen: Sequence[Candidate]) -> None:
    """Count some pairs with even parts of all that is left of the budget."""
    for number, candidate in enumerate(chosen):
        state.work.advance("measure pairs", number, len(chosen))
        names = " and ".join(state.bins[place].attribute.name for place in candidate.places)
        with_target = f" with {state.target}" if candidate.counts.shape[2] > 1 else ""
        amount = state.purse.left / (len(chosen) - number)
        noisy, variance = state.count(candidate.counts, amount, f"marginal of {names}{with_target}")
        state.edges.append(Edge(places=candidate.places, counts=noisy, variance=variance))
        state.said.append(f"{names}, measured together{with_target}")


def _chosen(state: Measuring, pairs: int, wanted: Collection[Pair] | None) -> list[Candidate]:
    """Pairs that close no circle, the core being one knot; the score of a pair does not change by the others."""
    some = candidates(state, wanted)
    if not some or pairs < 1:
        return []
    noise = state.spread(state.purse.left * (1 - state.choosing), pairs)
    scores = errors(
        [c.counts for c in some], [c.said for c in some], [PAIR_PRICE * noise * c.counts.size for c in some]
    )
    tree = np.arange(len(state.levels))
    if state.core is not None:
        tree[list(state.core.places)] = state.core.places[0]
    share = state.purse.left * state.choosing / pairs
    selection: list[Candidate] = []
    for _ in range(pairs):
        open_ = np.array([tree[candidate.places[0]] != tree[candidate.places[1]] for candidate in some])
        if not open_.any():
            break
        at = state.choose(without(scores, open_), share, "choice of a pair")
        if at == int(open_.sum()):
            break
        candidate = some[int(np.flatnonzero(open_)[at])]
        tree[tree == tree[candidate.places[1]]] = tree[candidate.places[0]]
        selection.append(candidate)
    return selection


def candidates(state: Measuring, wanted: Collection[Pair] | None) -> list[Candidate]:
    """Every pair, without the class and with it."""
    known = known_rows(state.levels, state.totals, state.tables, state.core)
    rows = [coarse_rows(mine, state.totals, known.get(place)) for place, mine in enumerate(state.levels)]
    open_ = [place for place, level in enumerate(state.levels) if level.coarse.size > 1]
    every = [pair for pair in combinations(open_, 2) if (wanted is None or pair in wanted) and _fits(state, pair)]
    pairs: list[Candidate] = []
    for first in dict.fromkeys(a for a, _ in every):
        state.work.advance("compare pairs", first, len(state.levels))
        others = [b for a, b in every if a == first]
        own = state.coded(first, state.levels[first].coarse)
        some = [state.coded(b, state.levels[b].coarse) for b in others]
        for b, true in zip(others, pairs_of(state.table, own, some), strict=True):
            model_counts = rows[first][:, None] * (rows[b] / np.maximum(rows[b].sum(axis=0), TINY))[None]
            plain = true.sum(axis=2, keepdims=True), model_counts.sum(axis=2, keepdims=True)
            for counts, model in [plain, (true, model_counts)][: 1 if state.kinds == 1 else 2]:
                pairs.append(Candidate(places=(first, b), counts=counts, said=model))
    return pairs


def _fits(state: Measuring, pair: Pair) -> bool:
    sizes = [state.levels[place].coarse.size for place in pair]
    return sizes[0] * sizes[1] * state.kinds <= MAX_PAIR_CELLS


# What is measured where nothing is chosen by the rows: every attribute, each with the class, and declared pairs.
#
# No score is computed from private counts, so whoever can add up noisy counts can measure so: several parties.


ALONE = Fraction(1, 5)
"""The part of the budget for attributes alone."""
PAIRED = Fraction(1, 4)
"""The part for pairs, where some are declared."""


def measure_declared(state: Measuring, pairs: Collection[Pair]) -> None:
    """Spend the whole budget on attributes alone, with the class, and in pairs that close no circle."""
    whole, classes = state.purse.whole, state.kinds > 1
    later = whole * PAIRED if pairs else Fraction(0)
    state.measure_alone(whole * ALONE if classes else (whole - later) / (1 if pairs else 2))
    if classes:
        share = (state.purse.left - later) / len(state.bins)
        state.gather(state.spread(share, 1), later or share)
        for place, level in enumerate(state.levels):
            state.work.advance("measure with the class", place, len(state.levels))
            counted_with_class(state, place, level.fine, share)
    else:
        state.gather(inf, state.purse.left)
    count_pairs(state, _forest(state, pairs))
    if state.purse.left:
        state.measure_alone(state.purse.left)
        state.recount()


def _forest(state: Measuring, pairs: Collection[Pair]) -> list[Candidate]:
    """The declared pairs, without the class, in their order, but for those that would close a circle."""
    tree, forest = np.arange(len(state.levels)), []
    for candidate in candidates(state, pairs) if pairs else []:
        first, second = tree[list(candidate.places)]
        if candidate.counts.shape[2] == 1 and first != second:
            tree[tree == second] = first
            forest.append(candidate)
    return forest
