"""Counts over every choice of a few quasi-identifiers: what an adversary with limited knowledge can count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct


def subsets(classes: Classes, size: int) -> Iterator[tuple[tuple[str, ...], Ids, int]]:
    """Each choice of ``size`` columns with the group of each class by them, and how many groups there are.

    Cost: one grouping per choice; choices that begin alike share what they begin with.
    """
    if classes.count:
        yield from _finer(classes, size, (), np.zeros(classes.count, np.int64), 1)


def _finer(
    classes: Classes, size: int, chosen: tuple[int, ...], ids: Ids, count: int
) -> Iterator[tuple[tuple[str, ...], Ids, int]]:
    if not size:
        yield tuple(classes.quasi[c] for c in chosen), ids, count
        return
    coarse = ids.astype(np.int32)
    first = chosen[-1] + 1 if chosen else 0
    for column in range(first, len(classes.quasi) - size + 1):
        radix = len(classes.labels[column])
        finer, found = distinct((coarse, classes.keys[column]), (count, radix), classes.count)
        yield from _finer(classes, size - 1, (*chosen, column), finer, found)
