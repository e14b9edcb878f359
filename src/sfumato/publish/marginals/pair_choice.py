"""Pairs of attributes: a forest of those that the model tells worst, chosen one by one, then measured alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.publish.looking import Counts
from sfumato.publish.marginals.marginal_scores import errors, without
from sfumato.publish.marginals.measuring import Measuring, Reals
from sfumato.publish.marginals.pair_counts import pairs_of
from sfumato.publish.marginals.shrinking import TINY
from sfumato.publish.marginals.tree_model import Edge, coarse_rows, known_rows

PRICE = 0.5
"""What part of the expected noise of a table is taken off its score."""
MOST_CELLS = 2**20
"""No table is a candidate that has more cells."""
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A table that could be measured."""

    places: Pair
    """The two attributes."""
    counts: Counts
    """Groups x groups x classes, or x 1 without the class: private."""
    said: Reals
    """What the model says in its place: both independent within every class."""


def measure_pairs(state: Measuring, wanted: Collection[Pair] | None = None) -> None:
    """As many pairs as are worth their noise, of those wanted; all that is left of the budget goes to them, if any."""
    chosen = _chosen(state, state.pairs_worth(state.purse.left * (1 - state.choosing)), wanted)
    count_pairs(state, chosen)


def count_pairs(state: Measuring, chosen: Sequence[Candidate]) -> None:
    """Count some pairs with even parts of all that is left of the budget."""
    for number, one in enumerate(chosen):
        state.work.advance("measure pairs", number, len(chosen))
        names = " and ".join(state.bins[place].attribute.name for place in one.places)
        beside = f" with {state.target}" if one.counts.shape[2] > 1 else ""
        amount = state.purse.left / (len(chosen) - number)
        noisy, variance = state.count(one.counts, amount, f"marginal of {names}{beside}")
        state.edges.append(Edge(places=one.places, counts=noisy, variance=variance))
        state.said.append(f"{names}, measured together{beside}")


def _chosen(state: Measuring, pairs: int, wanted: Collection[Pair] | None) -> list[Candidate]:
    """Pairs that close no circle, the core being one knot; the score of a pair does not change by the others."""
    some = candidates(state, wanted)
    if not some or pairs < 1:
        return []
    noise = state.spread(state.purse.left * (1 - state.choosing), pairs)
    scores = errors([c.counts for c in some], [c.said for c in some], [PRICE * noise * c.counts.size for c in some])
    tree = np.arange(len(state.levels))
    if state.core is not None:
        tree[list(state.core.places)] = state.core.places[0]
    share = state.purse.left * state.choosing / pairs
    found: list[Candidate] = []
    for _ in range(pairs):
        open_ = np.array([tree[one.places[0]] != tree[one.places[1]] for one in some])
        if not open_.any():
            break
        at = state.choose(without(scores, open_), share, "choice of a pair")
        if at == int(open_.sum()):
            break
        one = some[int(np.flatnonzero(open_)[at])]
        tree[tree == tree[one.places[1]]] = tree[one.places[0]]
        found.append(one)
    return found


def candidates(state: Measuring, wanted: Collection[Pair] | None) -> list[Candidate]:
    """Every pair, without the class and with it."""
    known = known_rows(state.levels, state.totals, state.tables, state.core)
    rows = [coarse_rows(mine, state.totals, known.get(place)) for place, mine in enumerate(state.levels)]
    open_ = [place for place, one in enumerate(state.levels) if one.coarse.size > 1]
    every = [pair for pair in combinations(open_, 2) if (wanted is None or pair in wanted) and _fits(state, pair)]
    found: list[Candidate] = []
    for first in dict.fromkeys(a for a, _ in every):
        state.work.advance("compare pairs", first, len(state.levels))
        others = [b for a, b in every if a == first]
        own = state.coded(first, state.levels[first].coarse)
        some = [state.coded(b, state.levels[b].coarse) for b in others]
        for b, true in zip(others, pairs_of(state.table, own, some), strict=True):
            said = rows[first][:, None] * (rows[b] / np.maximum(rows[b].sum(axis=0), TINY))[None]
            plain = true.sum(axis=2, keepdims=True), said.sum(axis=2, keepdims=True)
            for counts, model in [plain, (true, said)][: 1 if state.kinds == 1 else 2]:
                found.append(Candidate(places=(first, b), counts=counts, said=model))
    return found


def _fits(state: Measuring, pair: Pair) -> bool:
    sizes = [state.levels[place].coarse.size for place in pair]
    return sizes[0] * sizes[1] * state.kinds <= MOST_CELLS
