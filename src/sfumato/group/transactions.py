"""Records as sets of items: what baskets, paths and rows of a table have in common.

A path (places at increasing times) is the set of its pairs place@time: its order is the order of the times. A row of a
table is the set of its ``column=value``. So a subsequence is a subset, and one way of counting serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.ground.errors import ParameterError, listed

Starts = NDArray[np.int64]
Codes = NDArray[np.int32]


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
    codes: Codes
    """The value of each record; -1 where it has none."""
    values: tuple[str, ...]
    """The values by code."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Transactions(Brief):
    """Records as sets of items: record ``r`` has ``codes[starts[r]:starts[r + 1]]``, ascending, each once."""

    starts: Starts
    """Where each record begins, and where the last ends."""
    codes: Codes
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
        lines = [sorted(place[label] for label in one) for one in sets]
        found = cls(
            starts=np.cumsum([0, *map(len, lines)]).astype(np.int64),
            codes=np.array([code for line in lines for code in line], np.int32),
            labels=labels,
        )
        return found if secret is None else found.watching("secret", secret)

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.starts) - 1

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.labels)

    @property
    def row_of(self) -> Codes:
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

    def recoded(self, to: Codes, labels: tuple[str, ...]) -> Transactions:
        """The records with each item replaced; -1 leaves it out, and items that become one count once."""
        kept = to[self.codes] >= 0
        some = self if kept.all() else self.only(kept)
        shown = to[to >= 0]
        if np.all(shown[1:] > shown[:-1]):  # every item is another one, in the same order
            return replace(some, codes=to[some.codes], labels=labels)
        many = max(len(labels), 1)
        keys = np.unique(some.row_of.astype(np.int64) * many + to[some.codes])
        found, codes = np.divmod(keys, many)
        starts = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=self.rows), dtype=np.int64)))
        return replace(some, starts=starts, codes=codes.astype(np.int32), labels=labels)
