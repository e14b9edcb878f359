"""Whether the table still meets every model after a specialization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.classes import Classes
from sfumato.group.cut_counts import Figure, JointCuts
from sfumato.group.keys import Ids, distinct, representatives, total
from sfumato.group.readings import has_wildcards
from sfumato.group.tally import Tally
from sfumato.models.judge import judge
from sfumato.models.verdict import Model
from sfumato.publish.problem import Problem
from sfumato.publish.top_down.choices import Choices, Judged
from sfumato.publish.top_down.cut_columns import Column
from sfumato.publish.top_down.demands import Demand, demands
from sfumato.publish.top_down.partitions import Partitions, Refined
from sfumato.publish.top_down.splits import Split


class Validity:
    """Every model by the cheapest way that says the same as ``judge`` on the whole table.

    * Models that ask for counts by some of the columns: those groups that contain a child are counted.
    * Models that judge classes one by one: the classes that contain a child are judged; all others passed before.
    * Other models, and one by one under wildcards: the whole table is judged.
    """

    def __init__(self, problem: Problem, *, general: bool = False, judged: Judged | None = None) -> None:
        """With ``general``, every model judges the whole table; ``judged`` looks at groups in place of their counts."""
        self.problem = problem
        self.one_by_one: list[Model] = []
        self.whole: list[Model] = []
        asked: list[Demand] = []
        gaps = has_wildcards(problem.cells)
        for model in problem.models:
            found = None if general else demands(model, problem.cells, problem.reading)
            if found is not None:
                asked += found
            elif general or model.counts_anew or (gaps and _matches(model, problem)):
                self.whole.append(model)
            else:
                self.one_by_one.append(model)
        self.watched: tuple[Figure, ...] = tuple(dict.fromkeys(w for one in asked for w in one.watched))
        places = {watched: place for place, watched in enumerate(self.watched, start=1)}
        self.choices = [Choices(one, tuple(places[w] for w in one.watched), judged) for one in asked]
        names = dict.fromkeys(name for model in self.one_by_one for name in model.columns)
        self._tallies = [_Entries(problem.cells.tally(name)) for name in names]

    @property
    def counted(self) -> int:
        """How many choices of columns were counted."""
        return sum(one.counted for one in self.choices)

    def holds(self, columns: Sequence[Column], partitions: Partitions, refined: Refined, split: Split) -> bool:
        """Whether every model holds for the table in which a label is replaced."""
        if not all(one.hold(partitions, refined) for one in self.choices):
            return False
        if self.one_by_one and len(refined.owner):
            classes = self._children(partitions, refined)
            if not self._judged(self.one_by_one, classes):
                return False
        return not self.whole or self._judged(self.whole, self._table(columns, refined.column, split))

    def _judged(self, models: Sequence[Model], classes: Classes) -> bool:
        return all(judge(model, classes, self.problem.reading).holds for model in models)

    def _children(self, partitions: Partitions, refined: Refined) -> Classes:
        """The classes that contain a child, with the columns that models look at."""
        count = len(refined.owner)
        cells = group = np.zeros(0, np.int32)
        if self._tallies:
            cells, group = cast("JointCuts", partitions.walk).members(refined.divided.division)
        return replace(
            self.problem.cells,
            quasi=(),
            keys=np.zeros((0, count), np.int32),
            labels=(),
            sizes=refined.rows,
            tallies={one.tally.column: one.grouped(cells, group, count) for one in self._tallies},
            measures={},
            wild=None,
            population=None,
        )

    def _table(self, columns: Sequence[Column], place: int, split: Split) -> Classes:
        """The classes of the whole table."""
        lifts, many = [column.of_code for column in columns], [column.values for column in columns]
        unknown = [column.unknown() for column in columns]
        under = lifts[place] == split.value
        lifts[place] = np.where(under, split.values[split.child_of], lifts[place]).astype(np.int32)
        fresh = max(int(split.values.max()) + 1 - many[place], 0)
        many[place] += fresh
        unknown[place] = np.append(unknown[place], np.arange(fresh) == (2 if split.apart else -1))
        classes, _ = self.problem.cells.recoded(lifts, [tuple(map(str, range(n))) for n in many])
        return replace(classes, wild=tuple(unknown))


def _matches(model: Model, problem: Problem) -> bool:
    """Whether an unknown value makes the model judge rows of several classes together."""
    return problem.reading == "wildcard" or (problem.reading == "strict" and not model.kept_by_merging)


class _Entries:
    """A tally with the place of each cell's entries."""

    def __init__(self, tally: Tally) -> None:
        self.tally = replace(tally, whole=tally.overall)
        self._first: Ids = np.searchsorted(tally.owners, np.arange(tally.classes + 1))

    def grouped(self, cells: Codes, group: Codes, count: int) -> Tally:
        """The tally of groups of some of the cells."""
        first = self._first[cells]
        lengths = self._first[cells + 1] - first
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        picked = np.repeat(first, lengths) + offsets
        owners, codes, counts = np.repeat(group, lengths), self.tally.codes[picked], self.tally.counts[picked]
        entry, entries = distinct((owners.astype(np.int32), codes), (count, len(self.tally.values)), len(owners))
        place = representatives(entry, entries)
        return replace(
            self.tally,
            owners=owners[place].astype(np.int64),
            codes=codes[place],
            counts=total(entry, counts, entries),
            classes=count,
        )
