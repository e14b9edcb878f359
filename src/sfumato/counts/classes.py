"""Equivalence classes with what is counted in each, and the people behind their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import unknown_column
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids, distinct, representatives, total, weighed
from sfumato.counts.tally import Counts, Tally
from sfumato.tables.table import Column

# People behind rows: whose rows each class holds, where one person can have several.
#
# Rows add up when classes are joined; people do not, for a person can have rows in both. So the entries are kept, one
# for every different combination of class, person and counted values, and people are counted anew for every grouping.


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


# Equivalence classes: the distinct quasi-identifier tuples of a table, with what is counted in each.
#
# Cells are the classes of the original table; the classes of a generalized table are cells merged. Both are the same
# record, so a model, a metric or a search never asks which one it holds.


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False, repr=False)
class Classes(Brief):
    """Rows grouped by equal quasi-identifiers."""

    quasi: tuple[str, ...]
    """The grouping columns."""
    keys: NDArray[np.int32]
    """Columns x classes: the label code of each class in each column."""
    labels: tuple[tuple[str, ...], ...]
    """For each column, the label of each code."""
    sizes: Counts
    """Rows per class, at least 1 each."""
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """Histograms of the sensitive and class columns."""
    measures: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Additive figures per class, carried along by merging."""
    wild: tuple[NDArray[np.bool_], ...] | None = None
    """For each column, which label codes stand for an unknown value (missing or suppressed)."""
    population: Classes | None = None
    """The same grouping of the population table, if there is one."""
    people: People | None = None
    """Whose rows they are, where one person can have several."""
    per_person: bool = False
    """Whether sizes and tallies count people, each once, and not rows."""

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """How many rows they hold."""
        return int(self.sizes.sum())

    def by_people(self) -> Classes:
        """The same classes with sizes and tallies that count people; as they are where every row is a person."""
        if self.people is None or self.per_person:
            return self
        return self._counted(self.people)

    def _counted(self, people: People) -> Classes:
        tallies = {
            name: replace(people.tally(tally, self.count), whole=tally.whole) for name, tally in self.tallies.items()
        }
        return replace(self, sizes=people.sizes(self.count), tallies=tallies, people=people, per_person=True)

    def compared(self, column: str) -> Tally:
        """A histogram that remembers the whole table, in people where these can be counted.

        For groups of some of the classes: what they are compared with must not change with the classes at hand.
        """
        tally = self.tally(column)
        if self.people is None:
            return replace(tally, whole=tally.overall)
        return replace(tally, whole=self.people.overall(tally), whole_people=len(np.unique(self.people.persons)))

    def weight(self, marked: NDArray[np.bool_] | Ids) -> int:
        """How many people have rows in some classes, marked or numbered; how many rows, where each is a person."""
        if self.people is None:
            return int(self.sizes[marked].sum())
        flags = np.zeros(self.count, np.bool_)
        flags[marked] = True
        return self.people.within(flags)

    def grouped(self, ids: Ids, count: int, tally: Tally) -> tuple[Counts, Tally]:
        """The sizes of groups of classes, and a histogram of theirs in them; in people where people count."""
        if self.people is None or not self.per_person:
            return total(ids, self.sizes, count), tally.merged(ids, count)
        people = self.people.moved(ids)
        return people.sizes(count), people.tally(tally, count)

    def tally(self, column: str) -> Tally:
        """The histogram of a counted column, or a refusal that names those there are."""
        if column not in self.tallies:
            raise unknown_column(column, self.tallies, where="sensitive columns")
        return self.tallies[column]

    def label(self, place: int) -> dict[str, str]:
        """What a class looks like: column to label."""
        return {name: self.labels[c][self.keys[c, place]] for c, name in enumerate(self.quasi)}

    def merged(self, keys: NDArray[np.int32], labels: Sequence[tuple[str, ...]], ids: Ids, count: int) -> Classes:
        """Coarser classes: ``ids`` says where each class goes; ``keys`` and ``labels`` name the new ones."""
        classes = replace(
            self,
            keys=keys,
            labels=tuple(labels),
            sizes=total(ids, self.sizes, count),
            tallies={name: tally.merged(ids, count) for name, tally in self.tallies.items()},
            measures={name: weighed(ids, w, count) for name, w in self.measures.items()},
            wild=None,
            people=None if self.people is None else self.people.moved(ids),
        )
        return classes if classes.people is None or not classes.per_person else classes._counted(classes.people)

    def recoded(self, lifts: Sequence[NDArray[np.int32]], labels: Sequence[tuple[str, ...]]) -> tuple[Classes, Ids]:
        """Map each column's labels to coarser ones and merge; also tells where each class went."""
        keys = [lift[codes] for lift, codes in zip(lifts, self.keys, strict=True)]
        ids, count = distinct(keys, [len(names) for names in labels], self.count)
        place = representatives(ids, count)
        merged = np.array([codes[place] for codes in keys], np.int32).reshape(len(keys), count)
        population = None if self.population is None else self.population.recoded(lifts, labels)[0]
        return replace(self.merged(merged, labels, ids, count), population=population), ids

    def project(self, columns: Sequence[str]) -> tuple[Classes, Ids]:
        """The classes by some of the columns only; also tells where each class went."""
        for name in columns:
            if name not in self.quasi:
                raise unknown_column(name, self.quasi, where="quasi-identifiers")
        places = [self.quasi.index(name) for name in columns]
        labels = tuple(self.labels[c] for c in places)
        ids, count = distinct([self.keys[c] for c in places], [len(names) for names in labels], self.count)
        place = representatives(ids, count)
        narrow = self.merged(self.keys[places][:, place], labels, ids, count)
        wild = None if self.wild is None else tuple(self.wild[c] for c in places)
        return replace(narrow, quasi=tuple(columns), wild=wild, population=None), ids

    def take(self, kept: NDArray[np.bool_]) -> Classes:
        """Only the classes marked in ``kept``; each tally keeps the original distribution that it was given."""
        people = self.people
        if people is not None:
            people = people.moved(np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64))
        return replace(
            self,
            keys=self.keys[:, kept],
            sizes=self.sizes[kept],
            tallies={name: tally.take(kept) for name, tally in self.tallies.items()},
            measures={name: w[kept] for name, w in self.measures.items()},
            people=people,
        )

    def starred(self, hidden: NDArray[np.bool_]) -> Classes:
        """The table with the classes marked in ``hidden`` published as one class of ``*`` in every column."""
        n_published = int((~hidden).sum())
        ids = np.where(hidden, n_published, np.cumsum(~hidden) - 1).astype(np.int64)
        labels = tuple((*names, "*") for names in self.labels)
        star = np.array([[len(names)] for names in self.labels], np.int32).reshape(len(labels), 1)
        keys = np.concatenate([self.keys[:, ~hidden], star], axis=1)
        merged = self.merged(keys, labels, ids, n_published + 1)
        wild = None if self.wild is None else tuple(np.append(flags, True) for flags in self.wild)
        return replace(merged, wild=wild)

    def with_tally(self, tally: Tally) -> Classes:
        """The same classes with one histogram replaced."""
        return replace(self, tallies={**self.tallies, tally.column: tally})

    def missing_as(self, column: str, code: int) -> Classes:
        """The classes if every missing value of a counted column were ``code``."""
        tally = self.tally(column)
        if self.people is None or not self.per_person or tally.missing is None:
            return self.with_tally(tally.missing_as(code))
        people = self.people.with_value(column, tally.missing, code)
        resolved = replace(people.tally(tally, self.count), missing=None, whole=tally.missing_as(code).whole)
        return replace(self.with_tally(resolved), people=people)

    def population_sizes(self) -> tuple[Counts, int]:
        """Population rows per class, and population rows that fall into no class."""
        if self.population is None:
            return np.zeros(self.count, np.int64), 0
        joint = np.concatenate([self.keys, self.population.keys], axis=1)
        ids, count = distinct(list(joint), [len(names) for names in self.labels], joint.shape[1])
        sizes = total(ids[self.count :], self.population.sizes, count)
        inside = sizes[ids[: self.count]]
        return inside, self.population.rows - int(inside.sum())
