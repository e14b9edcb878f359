"""Virtual identifiers (distinct rows of labels), and the TEA index that keeps their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.bottom_up.column_labels import Offer, Parts
from sfumato.counts.keys import Ids, distinct, representatives, total
from sfumato.tables.table import Codes

# Virtual identifiers (distinct rows of labels) and how many rows the smallest has: by regrouping all of them.


class Vids(Protocol):
    """Who knows the sizes of all vids, and what a generalization would make of them."""

    anonymity: int
    """Rows of the smallest vid."""

    @property
    def count(self) -> int:
        """How many vids there are."""

    def critical(self, columns: Sequence[Parts]) -> tuple[list[tuple[Offer, int]], int, int]:
        """The generalizations that raise the anonymity, with that (at most k); how many passed a test, and were tried.

        Some that do not raise it may be among them.
        """

    def take(self, offer: Offer, new: int) -> None:
        """Make a generalization."""

    def copied(self) -> Self:
        """The same vids, to be changed apart from these."""


class PlainVids:
    """Groups all vids anew for every generalization that is tried."""

    def __init__(self, columns: Sequence[Parts], keys: Sequence[Ids], sizes: Ids, k: int) -> None:
        """Cells become vids: one per row of labels."""
        self.k = k
        self.width = [len(column.labels) for column in columns]
        self.keys, self.sizes = self._grouped([key.astype(np.int32) for key in keys], sizes)
        self.anonymity = int(self.sizes.min())

    @property
    def count(self) -> int:
        """How many vids there are."""
        return len(self.sizes)

    def critical(self, columns: Sequence[Parts]) -> tuple[list[tuple[Offer, int]], int, int]:
        """Every generalization is tried."""
        rated_offers = [(offer, self._after(offer)) for column in columns for offer in column.offers()]
        return rated_offers, len(rated_offers), len(rated_offers)

    def take(self, offer: Offer, new: int) -> None:
        """Group anew under the new label."""
        self.keys, self.sizes = self._grouped(self._lifted(offer, new), self.sizes)
        self.anonymity = int(self.sizes.min())

    def copied(self) -> Self:
        """Nothing is ever changed in place."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def _after(self, offer: Offer) -> int:
        """The anonymity after a generalization, at most k."""
        return min(int(self._grouped(self._lifted(offer, offer.parts[0]), self.sizes)[1].min()), self.k)

    def _lifted(self, offer: Offer, new: int) -> list[Codes]:
        lift = np.arange(self.width[offer.column], dtype=np.int32)
        lift[list(offer.parts)] = new
        return [lift[codes] if c == offer.column else codes for c, codes in enumerate(self.keys)]

    def _grouped(self, keys: list[Codes], sizes: Ids) -> tuple[list[Codes], Ids]:
        ids, count = distinct(keys, self.width, len(sizes))
        place = representatives(ids, count)
        return [codes[place] for codes in keys], total(ids, sizes, count)


# Rows of codes by their hash: which of them agree, and whether a row of given values is there.
#
# Every value of every column has a word; the hash of a row is the exclusive or of the words of its values, so that the
# hash of a row with one value changed is known without looking at the others. Rows of equal hash are compared.


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
    _, places, numbers = np.unique(others, axis=0, return_index=True, return_inverse=True)
    return numbers.reshape(-1), rows[places]


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
        matches = np.zeros(sought.shape, np.bool_)
        for table in (self.main, self.recent):
            start, end = (np.searchsorted(table.hashes, sought, side) for side in ("left", "right"))
            for step in range(int((end - start).max(initial=0))):
                i, j = np.nonzero(~matches & (start + step < end) & (own[:, np.newaxis] != values))
                other = table.rows[start[i, j] + step]
                same = (hashes[other] == sought[i, j]) & (keys[other, column] == values[j]) & (sizes[other] > 0)
                matches[i, j] = same & _same(keys, other, rows[i], column)
        return np.asarray(matches.any(axis=1))


# The TEA index by columns: vids as rows of codes, linked by their values, with a hash of each row.


class TeaIndex:
    """Knows which vids have a value, so that a generalization touches only those that it generalizes.

    What the paper's tree has as paths are rows here. A segment with the generalized column at the last level of the
    tree is a set of rows that agree in all other columns; they are found by their hash.
    """

    def __init__(self, columns: Sequence[Parts], keys: Sequence[Ids], sizes: Ids, k: int, *, pruning: bool) -> None:
        """Build the index from cells."""
        plain = PlainVids(columns, keys, sizes, k)
        self.k, self.pruning = k, pruning
        self.keys = np.ascontiguousarray(np.array(plain.keys, np.int32).reshape(len(columns), plain.count).T)
        self.sizes = plain.sizes.copy()
        self.words = [_words(len(column.labels), salt) for salt, column in enumerate(columns)]
        self.hashes = np.zeros(len(self.sizes), np.int64)
        for codes, words in zip(self.keys.T, self.words, strict=True):
            self.hashes ^= words[codes]
        self.links = [_linked(codes) for codes in self.keys.T]
        self.few = np.bincount(np.minimum(self.sizes, k + 1), minlength=k + 2)
        """How many vids have 1, 2, ... k rows, and more."""
        self.anonymity = plain.anonymity
        self.count = plain.count
        self.lookup: Lookup | None = None

    def critical(self, columns: Sequence[Parts]) -> tuple[list[tuple[Offer, int]], int, int]:
        """Try every generalization; with pruning only those by which every anonymity vid meets another vid.

        Claim: with pruning, exactly those that raise the anonymity. A vid that meets none keeps its rows; if every
            smallest vid meets another, all vids have more rows than the smallest had.
        """
        if not self.pruning:
            every = [(offer, self.after(offer)) for column in columns for offer in column.offers()]
            return every, len(every), len(every)
        smallest = np.flatnonzero(self.sizes == self.anonymity)
        passed = [offer for column in columns for offer in self.general(column, smallest)]
        sure = [offer for offer in passed if self._met(offer, smallest)]
        return [(offer, self.after(offer)) for offer in sure], len(passed), len(sure)

    def general(self, column: Parts, smallest: Ids) -> list[Offer]:
        """The generalizations of a column that generalize every anonymity vid."""
        held = np.unique(self.keys[smallest, column.column])
        return [offer for offer in column.holding(int(held[0])) if np.isin(held, offer.parts).all()]

    def after(self, offer: Offer) -> int:
        """The anonymity after a generalization, at most k: that of the new vids, or of those that it leaves alone."""
        rows = self._rows(offer)
        groups, firsts = self._joined(offer, rows)
        smallest = int(total(groups, self.sizes[rows], len(firsts)).min(initial=self.k))
        left = np.flatnonzero(self._without(rows)[1 : self.k + 1])
        return min(smallest, int(left[0]) + 1 if len(left) else self.k, self.k)

    def take(self, offer: Offer, new: int) -> None:
        """Make a generalization: vids that agree become one, in the place of one of them."""
        column, rows = offer.column, self._rows(offer)
        groups, firsts = self._joined(offer, rows)
        new_sizes = total(groups, self.sizes[rows], len(firsts))
        self.few = self._without(rows)
        self.few += np.bincount(np.minimum(new_sizes, self.k + 1), minlength=self.k + 2)
        self.sizes[rows] = 0
        self.sizes[firsts] = new_sizes
        self.hashes[firsts] ^= self.words[column][self.keys[firsts, column]] ^ self.words[column][new]
        self.keys[firsts, column] = new
        for part in offer.parts:
            self.links[column].pop(part, None)
        self.links[column][new] = firsts
        self.count -= len(rows) - len(firsts)
        self.lookup = None if self.lookup is None else self.lookup.entered(self.hashes, firsts, self.sizes)
        low = np.flatnonzero(self.few[1 : self.k + 1])
        self.anonymity = int(low[0]) + 1 if len(low) else int(self.sizes[self.sizes > 0].min())

    def copied(self) -> Self:
        """The same index, to be changed apart from this one."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        for name in ("keys", "sizes", "hashes", "few"):
            setattr(other, name, getattr(self, name).copy())
        other.links = [dict(links) for links in self.links]
        return other

    def _rows(self, offer: Offer) -> Ids:
        """The vids that a generalization generalizes; those that are no more are dropped from the links.

        A value that only a population has is in none.
        """
        links = self.links[offer.column]
        held = [part for part in offer.parts if part in links]
        for part in held:
            links[part] = links[part][self.sizes[links[part]] > 0]
        return np.concatenate([np.zeros(0, np.int64), *(links[part] for part in held)])

    def _without(self, rows: Ids) -> Ids:
        """How many of the other vids have 1, 2, ... rows."""
        return self.few - np.bincount(np.minimum(self.sizes[rows], self.k + 1), minlength=self.k + 2)

    def _joined(self, offer: Offer, rows: Ids) -> tuple[Ids, Ids]:
        """Which of some vids become one, and one of each."""
        rest = self.hashes[rows] ^ self.words[offer.column][self.keys[rows, offer.column]]
        return alike(self.keys, rest, offer.column, rows)

    def _met(self, offer: Offer, smallest: Ids) -> bool:
        """Whether every anonymity vid becomes one with another vid."""
        if len(offer.parts) < 2:
            return False
        if self.lookup is None:
            self.lookup = Lookup.of(self.hashes, np.flatnonzero(self.sizes))
        values, words = np.array(offer.parts, np.int64), self.words[offer.column]
        return self.lookup.have_partners(self.keys, self.hashes, self.sizes, offer.column, words, values, smallest)


def _linked(codes: NDArray[np.int32]) -> dict[int, Ids]:
    """The rows of each code."""
    order = np.argsort(codes, kind="stable")
    used, first = np.unique(codes[order], return_index=True)
    return dict(zip(used.tolist(), np.split(order, first[1:]), strict=True))


def _words(count: int, salt: int) -> Ids:
    """Well mixed numbers, the same every time (Steele, Lea, Flood 2014: SplitMix)."""
    x = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt << 32)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)
