"""Equivalence classes: the distinct quasi-identifier tuples of a table, with what is counted in each.

Cells are the classes of the original table; the classes of a generalized table are cells merged. Both are the same
record, so a model, a metric or a search never asks which one it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.ground.errors import unknown_column
from sfumato.group.keys import Ids, distinct, representatives, total, weighed
from sfumato.group.people import People
from sfumato.group.tally import Counts, Tally


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
        made = replace(
            self,
            keys=keys,
            labels=tuple(labels),
            sizes=total(ids, self.sizes, count),
            tallies={name: tally.merged(ids, count) for name, tally in self.tallies.items()},
            measures={name: weighed(ids, w, count) for name, w in self.measures.items()},
            wild=None,
            people=None if self.people is None else self.people.moved(ids),
        )
        return made if made.people is None or not made.per_person else made._counted(made.people)

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
        shown = int((~hidden).sum())
        ids = np.where(hidden, shown, np.cumsum(~hidden) - 1).astype(np.int64)
        labels = tuple((*names, "*") for names in self.labels)
        star = np.array([[len(names)] for names in self.labels], np.int32).reshape(len(labels), 1)
        keys = np.concatenate([self.keys[:, ~hidden], star], axis=1)
        merged = self.merged(keys, labels, ids, shown + 1)
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
