"""The search: the best candidate is tried, and taken or dropped for good, until none is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.cut_counts import ROWS, CutSource
from sfumato.group.weighted_cells import JointCells
from sfumato.publish.problem import Outcome, Problem, Recoded
from sfumato.publish.top_down.candidates import Candidates
from sfumato.publish.top_down.cut_columns import columns
from sfumato.publish.top_down.partitions import Partitions, Refined
from sfumato.publish.top_down.splits import Score, Split, counted
from sfumato.publish.top_down.trail_figures import Figures
from sfumato.publish.top_down.validity import Validity
from sfumato.publish.trail import Step, Trail


@runtime_checkable
class ChoosingSource(Protocol):
    """A source that has a say in which label is tried next: its records are spread over parties by columns."""

    def candidates(self, search: Search) -> Candidates:
        """What a search is to take its candidates from; called when all else of it is there."""


def specialized(
    problem: Problem,
    work: Work,
    score: Score,
    most: int | None,
    *,
    source: CutSource | None = None,
    retry: bool = False,
    general: bool = False,
) -> Outcome:
    """Specialize from the top downwards; the top meets every model.

    ``most`` bounds the steps. Counts come from the ``source``, or from the problem's cells. With ``retry`` an interval
    whose best split is refused comes back with another. With ``general`` every candidate is judged on the whole table,
    which says the same.
    """
    search = Search(problem, source or JointCells(cells=problem.cells), score, retry=retry, general=general)
    while (most is None or len(search.steps) < most) and search.candidates.left:
        if work.expired:
            search.effort = work.told(search.effort)
            break
        work.spend(problem.cells.count + len(search.candidates))
        search.advance()
        tested = int(search.effort["tested"])
        work.advance("specialize", tested, tested + len(search.candidates))
    return search.outcome()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Taken:
    """A step before its labels have names."""

    place: int
    value: int
    values: tuple[int, ...]
    score: float
    anonymity: int
    loss: float


class Search:
    """The current cut, its leaf partitions, and the steps that led there."""

    def __init__(self, problem: Problem, source: CutSource, score: Score, *, retry: bool, general: bool) -> None:
        """Everything at the top."""
        self.problem, self.score, self.retry = problem, score, retry
        by_column = counted(problem, source, score)
        self.columns = columns(problem, score, by_column)
        self.validity, self.figures = Validity(problem, general=general), Figures(problem, self.columns, by_column)
        walk = source.root((ROWS, *self.validity.watched, *self.figures.watched))
        self.partitions = Partitions(len(self.columns), walk)
        rows = self.partitions.rows[0]
        if isinstance(source, ChoosingSource):
            self.candidates = source.candidates(self)
        else:
            self.candidates = Candidates(self.columns, score, float(rows))
        self.rows = self.anonymity = int(rows)
        self.loss = self.top = self.figures.loss(self.partitions)
        self.steps: list[Taken] = []
        self.effort: dict[str, int | float | str] = {"specializations": 0, "tested": 0, "invalid": 0}

    def advance(self) -> None:
        """Try the best candidate; take it, or drop it for good, or let an interval come back with another split."""
        place, value = self.candidates.pop()
        worth = self.candidates.worth(place, value)
        split = self.candidates.split(place, value)
        refined = self.partitions.refine(place, value, split.child_of, len(split.values))
        self.effort["tested"] = int(self.effort["tested"]) + 1
        if self.validity.holds(self.columns, self.partitions, refined, split):
            self._take(place, split, refined, worth)
        else:
            self.effort["invalid"] = int(self.effort["invalid"]) + 1
            if self.retry and self.columns[place].retry(value):
                self.candidates.add(place, [value])

    def outcome(self) -> Outcome:
        """The cut as it is now, and the way there."""
        cuts = tuple(column.cut() for column in self.columns)
        done = {"partitions": self.partitions.count, "choices_counted": self.validity.counted}
        return Outcome(
            levels=None,
            recoded=Recoded.under(self.problem, cuts),
            suppressed=np.zeros(self.problem.cells.count, np.bool_),
            loss=self.loss,
            proven=False,
            cut=cuts,
            trail=Trail(direction="down", score=self.score, anonymity=self.rows, loss=self.top, steps=self._named()),
            effort=self.effort | {"specializations": len(self.steps)} | done,
        )

    def _take(self, place: int, split: Split, refined: Refined, worth: float) -> None:
        """Replace a label by those below it; one that no row has, as a declared domain may, is no candidate."""
        shown = split.values[np.unique(refined.child)].tolist()
        column = self.columns[place]
        column.take(split)
        self.candidates.moved(self.partitions, refined, split.values)
        self.partitions.apply(refined, split.values)
        self.candidates.add(place, shown)
        self.loss = self.figures.loss(self.partitions, place)
        self.anonymity = min(self.anonymity, int(refined.rows.min(initial=self.anonymity)))
        self.steps.append(
            Taken(
                place=place,
                value=split.value,
                values=tuple(shown),
                score=worth,
                anonymity=self.anonymity,
                loss=self.loss,
            )
        )

    def _named(self) -> tuple[Step, ...]:
        """The steps; a label has one name in all of them, which is the released one if it is released."""
        names = [column.names() for column in self.columns]
        return tuple(
            Step(
                column=self.problem.cells.quasi[one.place],
                coarse=names[one.place][one.value],
                fine=tuple(names[one.place][value] for value in one.values),
                score=one.score,
                anonymity=one.anonymity,
                loss=one.loss,
            )
            for one in self.steps
        )
