"""Records as sets of items, and which records have an item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError, listed
from sfumato.core.short_repr import Brief

# Records as sets of items: what baskets, paths and rows of a table have in common.
#
# A path (places at increasing times) is the set of its pairs place@time: its order is the order of the times. A row of
# a table is the set of its ``column=value``. So a subsequence is a subset, and one way of counting serves all of them.


Starts = NDArray[np.int64]
ItemCodes = NDArray[np.int32]


def ragged(starts: Starts, lines: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The places of some lines, one line behind the other.

    >>> ragged(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    begins, sizes = starts[lines], starts[lines + 1] - starts[lines]
    ends = np.cumsum(sizes)
    places: NDArray[np.int64] = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - ends + sizes, sizes)
    return places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Secret(Brief):
    """A sensitive attribute with one value per record."""

    name: str
    """Its name."""
    codes: ItemCodes
    """The value of each record; -1 where it has none."""
    values: tuple[str, ...]
    """The values by code."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Transactions(Brief):
    """Records as sets of items: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, ascending, each once."""

    starts: Starts
    """Where each record begins, and where the last ends."""
    codes: ItemCodes
    """The items of all records."""
    labels: tuple[str, ...]
    """The items as written, by code; the order of the codes is the order of a sequence."""
    secret: Secret | None = None
    """The sensitive attribute, where one is looked at."""

    @classmethod
    def of(
        cls,
        records: Sequence[Iterable[str]],
        *,
        order: Sequence[str] | None = None,
        secret: Sequence[str] | None = None,
    ) -> Transactions:
        """From collections of labels; items stand in the given order, or else in that of their labels.

        >>> Transactions.of([["b", "a"], [], ["b", "b"]]).records()
        [('a', 'b'), (), ('b',)]
        """
        sets = [frozenset(record) for record in records]
        labels = tuple(order) if order is not None else tuple(sorted(frozenset[str]().union(*sets)))
        place = {label: code for code, label in enumerate(labels)}
        unknown = sorted(frozenset[str]().union(*sets) - place.keys())
        if unknown:
            raise ParameterError(f"order must name every item; {listed(unknown)} is missing")
        lines = [sorted(place[label] for label in items) for items in sets]
        transactions = cls(
            starts=np.cumsum([0, *map(len, lines)]).astype(np.int64),
            codes=np.array([code for line in lines for code in line], np.int32),
            labels=labels,
        )
        return transactions if secret is None else transactions.watching("secret", secret)

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.starts) - 1

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.labels)

    @property
    def row_of(self) -> ItemCodes:
        """The record of each entry of ``codes``."""
        return np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.starts))

    def supports(self) -> NDArray[np.int64]:
        """The records that have each item."""
        return np.bincount(self.codes, minlength=self.count).astype(np.int64)

    def records(self) -> list[tuple[str, ...]]:
        """The records as labels."""
        return [
            tuple(self.labels[code] for code in self.codes[a:b])
            for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        ]

    def watching(self, name: str, values: Sequence[str | None]) -> Transactions:
        """The same records with a sensitive attribute."""
        if len(values) != self.rows:
            raise ParameterError(f"secret must have a value for each of {self.rows} records, not {len(values)}")
        known = tuple(sorted({value for value in values if value is not None}))
        place = {value: code for code, value in enumerate(known)}
        codes = np.array([-1 if value is None else place[value] for value in values], np.int32)
        return replace(self, secret=Secret(name=name, codes=codes, values=known))

    def only(self, kept: NDArray[np.bool_]) -> Transactions:
        """The same records with only some entries of ``codes``."""
        before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
        return replace(self, starts=before[self.starts], codes=self.codes[kept])

    def recoded(self, to: ItemCodes, labels: tuple[str, ...]) -> Transactions:
        """The records with each item replaced; -1 leaves it out, and items that become one count once."""
        kept = to[self.codes] >= 0
        some = self if kept.all() else self.only(kept)
        new_codes = to[to >= 0]
        if np.all(new_codes[1:] > new_codes[:-1]):  # every item is another one, in the same order
            return replace(some, codes=to[some.codes], labels=labels)
        many = max(len(labels), 1)
        keys = np.unique(some.row_of.astype(np.int64) * many + to[some.codes])
        rows, codes = np.divmod(keys, many)
        starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=self.rows), dtype=np.int64)))
        return replace(some, starts=starts, codes=codes.astype(np.int32), labels=labels)


# Columns of different kinds as one set of items per record.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemPart:
    """The items that one column brings: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, ascending."""

    starts: Starts
    """Where each record begins, and where the last ends."""
    codes: ItemCodes
    """The items of all records, by their number in this column."""
    labels: tuple[str, ...]
    """The items as written."""

    @classmethod
    def of_cells(cls, codes: ItemCodes, labels: tuple[str, ...]) -> ItemPart:
        """A column of a table: one item per record."""
        return cls(starts=np.arange(len(codes) + 1, dtype=np.int64), codes=codes, labels=labels)


def assembled(parts: Sequence[ItemPart]) -> Transactions:
    """The records with the items of all columns; those of a column follow those of the column before."""
    labels = tuple(label for part in parts for label in part.labels)
    if len(parts) == 1:
        return Transactions(starts=parts[0].starts, codes=parts[0].codes, labels=labels)
    begins = np.cumsum([0, *(len(part.labels) for part in parts)])
    rows = len(parts[0].starts) - 1
    owners = [np.repeat(np.arange(rows, dtype=np.int64), np.diff(part.starts)) for part in parts]
    codes = np.concatenate([part.codes + begin for part, begin in zip(parts, begins[:-1].tolist(), strict=True)])
    order = np.argsort(np.concatenate(owners), kind="stable")
    starts = np.sum([part.starts for part in parts], axis=0)
    return Transactions(starts=starts.astype(np.int64), codes=codes[order].astype(np.int32), labels=labels)


# Which records have an item, and how many have all items of a set.


class Holders:
    """For each item the records that have it, ascending."""

    def __init__(self, transactions: Transactions) -> None:
        narrow = transactions.codes.astype(np.uint16) if transactions.count < 2**16 else transactions.codes
        self.bounds = np.concatenate(([0], np.cumsum(transactions.supports())))
        self.rows = transactions.row_of[np.argsort(narrow, kind="stable")]
        self.everybody = transactions.rows

    def of(self, item: int) -> NDArray[np.int32]:
        """The records that have an item."""
        return self.rows[self.bounds[item] : self.bounds[item + 1]]

    def of_all(self, items: Iterable[int]) -> NDArray[np.int32]:
        """The records that have every one of the items; all records where none is named."""
        lists = sorted((self.of(item) for item in items), key=len)
        if not lists:
            return np.arange(self.everybody, dtype=np.int32)
        rows = lists[0]
        for more in lists[1:]:
            if not len(rows):
                break
            places = np.minimum(np.searchsorted(more, rows), len(more) - 1)
            rows = rows[more[places] == rows]
        return rows
