"""Rows of codes by their hash: which of them agree, and whether a row of given values is there.

Every value of every column has a word; the hash of a row is the exclusive or of the words of its values, so that the
hash of a row with one value changed is known without looking at the others. Rows of equal hash are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.group.keys import Ids

_CHUNK = 16
"""So many rows are looked for at first, then four times as many, and so on."""


def alike(keys: Codes, rest: Ids, column: int, rows: Ids) -> tuple[Ids, Ids]:
    """Number rows so that those that agree in every other column get one number; and one row of each number.

    ``rest`` are the rows' hashes without that column.
    """
    order = np.argsort(rest)
    new = np.ones(len(order), np.bool_)
    new[1:] = np.diff(rest[order]) != 0
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(new) - 1
    firsts = rows[order[new]]
    if _same(keys, firsts[groups], rows, column).all():
        return groups, firsts
    others = np.delete(keys[rows], column, axis=1)  # two different rows of one hash
    _, places, found = np.unique(others, axis=0, return_index=True, return_inverse=True)
    return found.reshape(-1), rows[places]


def _same(keys: Codes, some: Ids, others: Ids, column: int) -> NDArray[np.bool_]:
    """Which pairs of rows agree in every other column."""
    equal = keys[some] == keys[others]
    equal[:, column] = True
    return np.asarray(equal.all(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Hashes in ascending order, and the row that had each when it was entered."""

    hashes: Ids
    rows: Ids

    @classmethod
    def of(cls, hashes: Ids, rows: Ids) -> _Sorted:
        order = np.argsort(hashes[rows])
        return cls(hashes[rows][order], rows[order])


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """All rows, as they were at some time, and those that changed since; made anew when these are many."""

    main: _Sorted
    recent: _Sorted

    @classmethod
    def of(cls, hashes: Ids, rows: Ids) -> Lookup:
        """Some rows."""
        return cls(_Sorted.of(hashes, rows), _Sorted.of(hashes, rows[:0]))

    def entered(self, hashes: Ids, rows: Ids, sizes: Ids) -> Lookup:
        """The same after the hashes of some rows have changed."""
        changed = np.append(self.recent.rows, rows)
        if 4 * len(changed) > len(self.main.rows):
            return Lookup.of(hashes, np.flatnonzero(sizes))
        return Lookup(self.main, _Sorted.of(hashes, np.unique(changed)))

    def have_partners(
        self, keys: Codes, hashes: Ids, sizes: Ids, column: int, words: Ids, values: Ids, rows: Ids
    ) -> bool:
        """Whether each of some rows differs from another row only in having another of the values.

        A row that has changed since it was entered is passed over where it stood; rows without size do not count.
        """
        done, chunk = 0, _CHUNK
        while done < len(rows):  # most often one of the first rows has no partner
            some = rows[done : done + chunk]
            if not self._partners(keys, hashes, sizes, column, words, values, some).all():
                return False
            done, chunk = done + chunk, 4 * chunk
        return True

    def _partners(
        self, keys: Codes, hashes: Ids, sizes: Ids, column: int, words: Ids, values: Ids, rows: Ids
    ) -> NDArray[np.bool_]:
        own = keys[rows, column]
        sought = (hashes[rows] ^ words[own])[:, np.newaxis] ^ words[values]
        found = np.zeros(sought.shape, np.bool_)
        for table in (self.main, self.recent):
            start, end = (np.searchsorted(table.hashes, sought, side) for side in ("left", "right"))
            for step in range(int((end - start).max(initial=0))):
                i, j = np.nonzero(~found & (start + step < end) & (own[:, np.newaxis] != values))
                other = table.rows[start[i, j] + step]
                same = (hashes[other] == sought[i, j]) & (keys[other, column] == values[j]) & (sizes[other] > 0)
                found[i, j] = same & _same(keys, other, rows[i], column)
        return np.asarray(found.any(axis=1))
