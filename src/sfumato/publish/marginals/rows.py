"""Rows from a tree model: as many as it says, with its marginals up to rounding. This costs nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.keys import distinct, representatives
from sfumato.publish.marginals.tree_model import Model, Reals

Counts = NDArray[np.int64]
MOST = 2**20
"""How many rows are made at most; if the model says more, every row made stands for several."""


def rows_of(model: Model, dice: np.random.Generator) -> tuple[Codes, Counts, int]:
    """Columns x groups, groups x classes, and how many rows each row that was made stands for.

    Rows get a cell of the core, then column after column its values: among the rows of one class and one parent value
    (or group of the core), every value is given as often as its share says, up to rounding; which rows get it is drawn.
    """
    stands = max(-(-int(np.rint(model.totals).sum()) // MOST), 1)
    whole = np.rint(model.totals / stands).astype(np.int64)
    kinds, many = len(whole), len(model.order)
    kind = np.repeat(np.arange(kinds, dtype=np.int32), whole)
    made = np.zeros((many, len(kind)), np.int32)
    cell = _given(kind, model.cells, dice)
    for place in model.order:
        above, shares = model.parents[place], model.shares[place]
        if place in model.core:
            group = model.core[place][cell] * kinds + kind
        else:
            group = kind if above < 0 else model.groups[above].of_label[made[above]] * kinds + kind
        made[place] = _given(group, shares.reshape(-1, shares.shape[2]), dice)
    if not len(kind):
        return made, np.zeros((0, kinds), np.int64), stands
    sizes = [shares.shape[2] for shares in model.shares]
    ids, count = distinct(list(made), sizes, len(kind)) if many else (np.zeros(len(kind), np.int64), 1)
    keys = made[:, representatives(ids, count)]
    return keys, np.bincount(ids * kinds + kind, minlength=count * kinds).reshape(count, kinds) * stands, stands


def _given(group: Codes, shares: Reals, dice: np.random.Generator) -> Codes:
    """A value for every row: within each group as many of every value as its shares say, to whom is drawn."""
    sizes = np.bincount(group, minlength=len(shares))
    counts = apportioned(shares, sizes, dice.random(len(shares)))
    order = np.lexsort((dice.random(len(group)), group))
    values = np.empty(len(group), np.int32)
    values[order] = np.repeat(np.tile(np.arange(shares.shape[1], dtype=np.int32), len(shares)), counts.ravel())
    return values


def apportioned(shares: Reals, sizes: Counts, start: Reals) -> Counts:
    """Groups x values: whole numbers that add up to each group's size, each within 1 of its share.

    With a start that is drawn uniformly between 0 and 1 for each group, their means are the shares exactly.

    >>> apportioned(np.array([[0.5, 0.25, 0.25]]), np.array([6]), np.array([0.5]))
    array([[3, 2, 1]])
    """
    ends = np.floor(shares.cumsum(axis=1) * sizes[:, None] + start[:, None]).astype(np.int64)
    ends = np.minimum(ends, sizes[:, None])
    ends[:, -1] = sizes
    return np.diff(ends, axis=1, prepend=0)
