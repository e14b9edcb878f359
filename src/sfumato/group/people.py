"""People behind rows: whose rows each class holds, where one person can have several.

Rows add up when classes are joined; people do not, for a person can have rows in both. So the entries are kept, one for
every different combination of class, person and counted values, and people are counted anew for every grouping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Column
from sfumato.ground.brief import Brief
from sfumato.group.keys import Ids, distinct, representatives
from sfumato.group.tally import Counts, Tally

Codes = NDArray[np.int32]


def told_apart(unit: Column) -> tuple[Codes, int]:
    """The person of each row, and how many there are; a row without an identifier is a person of its own."""
    persons = unit.codes
    if unit.missing is not None:
        lost = np.flatnonzero(persons == unit.missing)
        persons = persons.copy()
        persons[lost] = len(unit.values) + np.arange(len(lost), dtype=np.int32)
    return persons, len(np.unique(persons))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class People(Brief):
    """Entries (class, person, values of the counted columns)."""

    unit: str
    """The column that tells people apart."""
    owners: Ids
    """The class of each entry."""
    persons: Codes
    """The person of each entry."""
    count: int
    """How many different people the table has."""
    codes: Mapping[str, Codes]
    """For each counted column, the value of each entry."""

    @classmethod
    def of_rows(cls, unit: str, owners: Ids, persons: Codes, count: int, codes: Mapping[str, Codes]) -> People:
        """The entries of single rows."""
        return cls(unit=unit, owners=owners, persons=persons, count=count, codes=codes).once()

    def once(self) -> People:
        """Every entry once."""
        columns = [self.owners.astype(np.int32), self.persons, *self.codes.values()]
        ids, many = distinct(columns, [int(c.max(initial=0)) + 1 for c in columns], len(self.owners))
        return self.taken(representatives(ids, many))

    def taken(self, places: Ids | NDArray[np.bool_]) -> People:
        """Some of the entries."""
        codes = {name: column[places] for name, column in self.codes.items()}
        return replace(self, owners=self.owners[places], persons=self.persons[places], codes=codes)

    def moved(self, ids: Ids) -> People:
        """The entries of coarser classes; ``ids`` says where each class goes, -1 drops it."""
        owners = ids[self.owners]
        return replace(self, owners=owners) if (owners >= 0).all() else replace(self, owners=owners).taken(owners >= 0)

    def spread(self, owners: Ids, classes: Ids) -> People:
        """The entries of overlapping groups: each of ``owners`` gets all entries of the class beside it."""
        order = np.argsort(self.owners, kind="stable")
        first = np.searchsorted(self.owners[order], classes, side="left")
        many = np.searchsorted(self.owners[order], classes, side="right") - first
        offsets = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return replace(self.taken(order[np.repeat(first, many) + offsets]), owners=np.repeat(owners, many))

    def with_value(self, column: str, old: int, new: int) -> People:
        """The entries with one value of a column read as another."""
        codes = np.where(self.codes[column] == old, np.int32(new), self.codes[column])
        return replace(self, codes={**self.codes, column: codes})

    def sizes(self, classes: int) -> Counts:
        """How many different people each class has."""
        _, places = self._pairs([self.persons], classes)
        return np.bincount(self.owners[places], minlength=classes).astype(np.int64)

    def tally(self, like: Tally, classes: int) -> Tally:
        """How many people of each class have each value of a column: one who has two values counts for both."""
        values = self.codes[like.column]
        _, places = self._pairs([values, self.persons], classes)
        entry, entries = distinct(
            (self.owners[places].astype(np.int32), values[places]), (max(classes, 1), len(like.values)), len(places)
        )
        place = places[representatives(entry, entries)]
        return replace(
            like,
            owners=self.owners[place],
            codes=values[place],
            counts=np.bincount(entry, minlength=entries).astype(np.int64),
            classes=classes,
            original=None,
            whole=None,
        )

    def overall(self, like: Tally) -> Counts:
        """How many people of the whole table have each value of a column."""
        whole = replace(self, owners=np.zeros(len(self.owners), np.int64))
        return whole.tally(like, 1).overall

    def within(self, classes: NDArray[np.bool_]) -> int:
        """How many different people have a row in the marked classes."""
        return len(np.unique(self.persons[classes[self.owners]]))

    @property
    def apart(self) -> bool:
        """Whether nobody has rows in two classes, so that people add up like rows."""
        _, places = self._pairs([self.persons], int(self.owners.max(initial=-1)) + 1)
        return len(np.unique(self.persons[places])) == len(places)

    def has_several(self, column: str) -> bool:
        """Whether someone has two values of a counted column, in one class or in two."""
        _, places = replace(self, owners=np.zeros_like(self.owners))._pairs([self.persons, self.codes[column]], 1)
        return len(np.unique(self.persons)) < len(places)

    def _pairs(self, columns: list[Codes], classes: int) -> tuple[Ids, Ids]:
        every = [self.owners.astype(np.int32), *columns]
        radices = [max(classes, 1), *(int(c.max(initial=0)) + 1 for c in columns)]
        ids, many = distinct(every, radices, len(self.owners))
        return ids, representatives(ids, many)
