"""Whether the labels that are reached meet the requirement, and what the metric says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.group.classes import Classes
from sfumato.models.judge import judge
from sfumato.publish.bottom_up.column_labels import Parts
from sfumato.publish.problem import Problem
from sfumato.publish.suppression import Suppression
from sfumato.utility.view import View


class Requirement:
    """Judges and weighs tables of one problem. Classes are made only where sizes and labels do not tell enough."""

    def __init__(self, problem: Problem, *, mixed: bool) -> None:
        """``mixed`` says that a column may show ``*`` beside other labels."""
        self.problem = problem
        alone = Suppression(replace(problem, limit=0), mixed=mixed)
        self.k = alone.least
        self.by_size, self.plain = alone.by_size, alone.plain
        self.others = alone.others if alone.plain else problem.models
        self.cost: Any = getattr(problem.metric, "cost", None)

    def holds(self, table: Table) -> bool:
        """Whether all models hold."""
        if self.plain and table.anonymity < self.k:
            return False
        if self.by_size:
            return True
        classes = table.classes(self.problem, full=True)
        return all(judge(model, classes, self.problem.reading).holds for model in self.others)

    def loss(self, table: Table) -> float:
        """What the metric says: from the labels where it adds up cells, else from the classes."""
        columns = table.columns
        if self.cost is not None:
            return sum(column.spent for column in columns) / max(len(columns), 1) / max(self.problem.cells.rows, 1)
        classes = table.classes(self.problem, full=not self.by_size)
        hidden = np.zeros(classes.count, np.bool_)
        rulers = tuple(column.ruler() for column in columns)
        view = View(classes=classes, suppressed=hidden, rulers=rulers, target=self.problem.target)
        return self.problem.metric.loss(view).value


class Table:
    """The labels of all columns, and the classes that they make, brought up to date when somebody asks."""

    def __init__(self, columns: Sequence[Parts], anonymity: int) -> None:
        self.columns, self.anonymity = list(columns), anonymity
        self._made: Classes | None = None
        self._fresh = False

    def copied(self) -> Table:
        """The same table, to be changed apart from this one."""
        other = Table([column.copied() for column in self.columns], self.anonymity)
        other._made, other._fresh = self._made, self._fresh
        return other

    def changed(self, anonymity: int) -> None:
        """Some column has a new label."""
        self.anonymity, self._fresh = anonymity, False

    def classes(self, problem: Problem, *, full: bool) -> Classes:
        """The classes under the labels in use: with everything that is counted, or only what the metric reads."""
        if self._made is None or not self._fresh:
            before = _light(problem, full=full) if self._made is None else self._made
            lifts = [c.now if self._made is None else c.current for c in self.columns]
            made, _ = before.recoded(lifts, [tuple(column.labels) for column in self.columns])
            self._made, self._fresh = replace(made, wild=tuple(c.unknown for c in self.columns)), True
        return self._made


def _light(problem: Problem, *, full: bool) -> Classes:
    """The cells with what is needed of them."""
    cells, needs = problem.cells, problem.metric.needs
    if full:
        return cells
    return replace(
        cells,
        tallies={problem.target: cells.tally(problem.target)} if problem.target and "target" in needs else {},
        measures={name: cells.measures[name] for name in needs if name in cells.measures},
        population=None,
    )
