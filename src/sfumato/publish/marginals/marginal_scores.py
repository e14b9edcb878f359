"""What choices are made by, and how far one record can move it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.publish.looking import Counts, Reals, Scores

MARGIN = 1 / 1024
"""More than rounding can add to a difference of scores, up to 10^11 rows."""
LARGEST = 2.0**40
"""No price is higher: scores keep their fractions."""


def told(tables: Sequence[Counts], before: Counts, weights: Counts, prices: Sequence[float]) -> Scores:
    """Rows whose class could be told (those of the heaviest class, last axis, of every cell), less a public price > 0.

    Last stands the score of stopping: the rows that could be told before. Rows weigh by their class; with several rows
    of ``weights`` (views x classes) the scores of all views are added. One more record adds between 0 and its weight to
    one addend of every view, so the sum of its weights bounds how far a score moves, and none moves down. Counts and
    weights are whole numbers: nothing is rounded.
    """
    found = [sum(int((one * view).max(axis=-1).sum()) for view in weights) for one in [*tables, before]]
    heaviest = int(weights.sum(axis=0).max())
    paid = [int(min(price * heaviest, LARGEST)) + 1 for price in prices]
    values = np.array([score - price for score, price in zip(found, [*paid, 0], strict=True)], np.float64)
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
    found = [dependence(one) - min(price, LARGEST) for one, price in zip(tables, prices, strict=True)]
    return Scores(values=np.array([*found, 0.0]), sensitivity=2.0 + MARGIN, monotonic=False)


def errors(counts: Sequence[Counts], said: Sequence[Reals], prices: Sequence[float]) -> Scores:
    """How far counts are from what a public model says, cell by cell, less a public price; last the score of stopping.

    One record moves one cell by one, and the model not at all: sensitivity 1.
    """
    found = [
        float(np.abs(one - model).sum()) - min(price, LARGEST)
        for one, model, price in zip(counts, said, prices, strict=True)
    ]
    return Scores(values=np.array([*found, 0.0]), sensitivity=1.0 + MARGIN, monotonic=False)


def without(scores: Scores, open_: NDArray[np.bool_]) -> Scores:
    """Only the scores of some candidates, and that of stopping."""
    kept = np.append(open_, np.True_)
    return Scores(values=scores.values[kept], sensitivity=scores.sensitivity, monotonic=scores.monotonic)
