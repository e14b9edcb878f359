"""The thesis's search (algorithm 6.1): values are scored on all their records, split points are chosen beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Event, Parallel, Sequential
from sfumato.publish.diffgen.class_tables import Candidate
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.specialization import Search
from sfumato.publish.diffgen.specialization_scores import Reals


@dataclass(slots=True, kw_only=True)
class ByValue(Search):
    """Two choices: the split point of every interval when it comes into the cut, then which value is specialized."""

    scores: dict[Candidate, float] = field(default_factory=dict)
    """The scores so far; other specializations do not change them."""

    def begin(self) -> None:
        """Choose where every number would be split (line 4)."""
        first = [event for c in range(len(self.columns)) for event in self._point(c, 0)]
        if first:
            self.purse.pay(Sequential(parts=tuple(first), what="first split of each number"))

    def choose(self, candidates: list[Candidate]) -> tuple[Candidate | None, list[Event]]:
        """By the scores of the values (line 7), less their prices; a single candidate is taken without looking."""
        if len(candidates) == 1:
            return candidates[0], []
        place, paid = self.which(candidates)
        return candidates[place], paid

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The place of the candidate that is specialized, and what it cost."""
        scores = np.array([self._score(one) - self.price(one) for one in candidates])
        return self.pick(scores, "which value")

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The place, among the points inside an interval, of the one where it would be split, and what it cost."""
        return self.pick(self.worth(column.tables(value)), what)

    def worth(self, tables: NDArray[Any]) -> Reals:
        """What tables (… x parts x classes) are worth."""
        return self.score.of(tables)

    def pick(self, scores: Reals, what: str) -> tuple[int, list[Event]]:
        """The place of one of some scores, and what it cost."""
        cost = self.cost(what)
        return self.mechanisms.choose(self.score.on(scores), cost), [cost]

    def follow(self, column: int, values: tuple[int, ...]) -> list[Event]:
        """Choose where the new intervals would be split (line 9); no record is in two of them."""
        points = [event for value in values for event in self._point(column, value)]
        return [Parallel(parts=tuple(points), what="next split of each part")] if points else []

    def _score(self, at: Candidate) -> float:
        if at not in self.scores:
            self.scores[at] = float(self.worth(self.columns[at.column].table(at)))
        return self.scores[at]

    def _point(self, c: int, value: int) -> list[Event]:
        """Choose among the points of the grid inside an interval; nothing is paid where there is no choice."""
        column = self.columns[c]
        if not isinstance(column, NumberColumn) or not column.is_open(value):
            return []
        low, high = column.spans[value]
        if high - low == 2:
            column.take(value, 0)
            return []
        place, paid = self.where(column, value, f"{column.attribute.name}: where to split")
        column.take(value, place)
        return paid
