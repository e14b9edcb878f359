"""What choices are made by, and how far one record can move it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
MARGIN = 1 / 1024
"""More than rounding can add to a difference of dependences, up to 10^11 rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Scores of candidates, and how far one record can move each."""

    values: Reals
    """Higher is better."""
    sensitivity: float
    """The most that a score changes by one record."""
    monotonic: bool
    """Whether one more record moves no score down."""


def correct(tables: Sequence[Counts], prices: Sequence[int]) -> Scores:
    """Max, less a public price: the rows of the most frequent class (last axis) of every cell, added up.

    One more record adds 0 or 1 to one addend of every score: sensitivity 1, and none moves down.
    """
    found = [int(one.max(axis=-1).sum()) - price for one, price in zip(tables, prices, strict=True)]
    return Scores(values=np.array(found, np.float64), sensitivity=1.0, monotonic=True)


def hits(said: Sequence[Codes], counts: Counts) -> Scores:
    """How many rows each of some public models gets right: sensitivity 1, and none moves down.

    A model says one class for all rows of a partition; ``counts`` are partitions x classes.
    """
    found = [int(counts[np.arange(len(counts)), one].sum()) for one in said]
    return Scores(values=np.array(found, np.float64), sensitivity=1.0, monotonic=True)


def dependence(table: Counts) -> float:
    """Parent values x values x classes: how many rows would have to move for both to be independent in every class.

    It is half of Σ |n_pac - n_pc n_ac / n_c|. Let a record of class c be added whose values are those of shares x and y
    of the n rows of the class. The addends of its cell, of the rest of its row, of the rest of its column and of all
    others each move by (1 - x)(1 - y) n / (n + 1) in sum, so the half of all moves by less than 2.
    """
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    total = np.maximum(table.sum(axis=(0, 1), keepdims=True), 1)
    return float(np.abs(table - rows * (columns / total)).sum() / 2)


def dependences(tables: Sequence[Counts | None], prices: Sequence[int]) -> Scores:
    """Dependence less a public price; no table, no dependence."""
    found = [(0.0 if one is None else dependence(one)) - price for one, price in zip(tables, prices, strict=True)]
    return Scores(values=np.array(found), sensitivity=2.0 + MARGIN, monotonic=False)
