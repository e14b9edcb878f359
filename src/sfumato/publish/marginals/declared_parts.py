"""What is measured where nothing is chosen by the rows: every attribute, each with the class, and declared pairs.

No score is computed from private counts, so whoever can add up noisy counts can measure so: several parties.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import inf

import numpy as np

from sfumato.publish.marginals.class_rounds import counted_with_class
from sfumato.publish.marginals.measuring import Measuring
from sfumato.publish.marginals.pair_choice import Candidate, Pair, candidates, count_pairs

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
    tree, found = np.arange(len(state.levels)), []
    for one in candidates(state, pairs) if pairs else []:
        first, second = tree[list(one.places)]
        if one.counts.shape[2] == 1 and first != second:
            tree[tree == second] = first
            found.append(one)
    return found
