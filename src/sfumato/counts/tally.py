"""How often each value of a column occurs in each class, held sparsely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids, distinct, representatives, total

Counts = NDArray[np.int64]
_BLOCK = 2**21
_ROOM = 16
"""Histograms are joined densely where they have at most so many places for each entry."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Tally(Brief):
    """Entries (class, value, count) sorted by class; absent entries are zero."""

    column: str
    """The counted column."""
    values: tuple[str, ...]
    """Its values, by code."""
    owners: Ids
    """The class of each entry, ascending."""
    codes: NDArray[np.int32]
    """The value of each entry."""
    counts: Counts
    """The rows of each entry."""
    classes: int
    """How many classes there are."""
    missing: int | None = None
    """The code of the missing value, if there is one."""
    numbers: NDArray[np.float64] | None = None
    """The values as numbers, where they have an order of size."""
    original: Counts | None = None
    """Rows per value in the original table, where rows were taken out since."""
    whole: Counts | None = None
    """Rows per value in this table, where the groups overlap and do not add up to it."""
    whole_people: int | None = None
    """How many people ``whole`` is about, where people are counted and the groups do not tell."""

    @property
    def overall(self) -> Counts:
        """Rows per value in the whole table."""
        if self.whole is not None:
            return self.whole
        return total(self.codes.astype(np.int64), self.counts, len(self.values))

    def blocks(self) -> Iterator[tuple[slice, Counts]]:
        """Dense histograms, some classes at a time: (which classes, array classes x values)."""
        width = max(len(self.values), 1)
        step = max(_BLOCK // width, 1)
        for first in range(0, self.classes, step):
            last = min(first + step, self.classes)
            low, high = np.searchsorted(self.owners, (first, last))
            dense = np.zeros((last - first, width), np.int64)
            dense[self.owners[low:high] - first, self.codes[low:high]] = self.counts[low:high]
            yield slice(first, last), dense

    def dense(self) -> Counts:
        """The whole histogram, classes x values; for small tables and tests."""
        return np.concatenate([block for _, block in self.blocks()] or [np.zeros((0, len(self.values)), np.int64)])

    def merged(self, ids: Ids, classes: int) -> Tally:
        """The tally of coarser classes; ``ids`` says where each class goes, -1 drops it."""
        owners, codes, counts = ids[self.owners], self.codes, self.counts
        if len(owners) and owners.min() < 0:
            kept = owners >= 0
            owners, codes, counts = owners[kept], codes[kept], counts[kept]
        width = max(len(self.values), 1)
        if classes * width <= _ROOM * len(owners):
            dense = np.bincount(owners * width + codes, weights=counts, minlength=classes * width)
            place = np.flatnonzero(dense > 0)
            owners = place // width
            codes, counts = (place - owners * width).astype(np.int32), dense[place].astype(np.int64)
            return replace(self, owners=owners, codes=codes, counts=counts, classes=classes)
        entry, entries = distinct((owners.astype(np.int32), codes), (max(classes, 1), width), len(owners))
        place = representatives(entry, entries)
        return replace(
            self, owners=owners[place], codes=codes[place], counts=total(entry, counts, entries), classes=classes
        )

    def take(self, kept: NDArray[np.bool_]) -> Tally:
        """The tally of the classes that are marked, numbered anew in their order."""
        mine = kept[self.owners]
        numbers = np.cumsum(kept) - 1
        return replace(
            self,
            owners=numbers[self.owners[mine]],
            codes=self.codes[mine],
            counts=self.counts[mine],
            classes=int(np.count_nonzero(kept)),
        )

    def missing_as(self, code: int) -> Tally:
        """The tally if every missing value were ``code``."""
        if self.missing is None:
            return self
        codes = np.where(self.codes == self.missing, np.int32(code), self.codes)
        original = None if self.original is None else self._known(self.original)
        moved = replace(self, codes=codes, missing=None, original=original, whole=self._known(self.overall))
        return moved.merged(np.arange(self.classes, dtype=np.int64), self.classes)

    def _known(self, counts: Counts) -> Counts:
        known = counts.copy()
        known[self.missing] = 0
        return known


def tally_rows(
    column: str,
    values: tuple[str, ...],
    codes: NDArray[np.int32],
    owners: Ids,
    classes: int,
    *,
    missing: int | None = None,
    numbers: NDArray[np.float64] | None = None,
) -> Tally:
    """Count the values of single rows per class."""
    entry, entries = distinct((owners.astype(np.int32), codes), (max(classes, 1), len(values)), len(codes))
    place = representatives(entry, entries)
    return Tally(
        column=column,
        values=values,
        owners=owners[place].astype(np.int64),
        codes=codes[place],
        counts=np.bincount(entry, minlength=entries).astype(np.int64),
        classes=classes,
        missing=missing,
        numbers=numbers,
    )
