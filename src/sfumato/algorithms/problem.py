"""What every algorithm is given and returns, and the trail of a step-by-step search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct, representatives, total
from sfumato.metrics.metric import Metric, Reals, Ruler, View
from sfumato.models.model import Model, Reading
from sfumato.tables.hierarchy import Hierarchy

# The trail of a step-by-step search: every step is a table of its own, and a point at which one may stop.


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One specialization (a label replaced by finer ones) or generalization (labels replaced by a coarser one)."""

    column: str
    """The quasi-identifier."""
    coarse: str
    """The label above: what is specialized, or what is made."""
    fine: tuple[str, ...]
    """The labels below, in order."""
    score: float
    """By which the step was chosen."""
    anonymity: int
    """Rows of the smallest class after the step."""
    loss: float | None
    """What the problem's metric says after the step; None where that is not public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The steps in order, with the figures before the first of them."""

    direction: Literal["down", "up"]
    """Whether steps specialize or generalize."""
    score: str
    """What the score is."""
    anonymity: int
    """Rows of the smallest class before the first step."""
    loss: float | None
    """What the problem's metric says before the first step; None where that is not public."""
    steps: tuple[Step, ...]
    """In the order in which they were taken."""
    enough: int | None = None
    """After how many steps upward the requirement was first met; every point of a trail downward meets it."""

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> Trail:
        """A trail as a manifest states it."""
        steps = tuple(Step(**{**step, "fine": tuple(step["fine"])}) for step in stated["steps"])
        return cls(**{**stated, "steps": steps})

    def without_loss(self) -> Trail:
        """The same steps without what the metric says, for a metric that is measured against the original."""
        return replace(self, loss=None, steps=tuple(replace(step, loss=None) for step in self.steps))


# What every algorithm is given, and what it gives back.
#
# An algorithm is a function, or a frozen record of options that can be called, from a problem and a work allowance to
# an outcome. One that must tell apart rows with equal quasi-identifiers says ``grain = "rows"``: its problem then has
# one cell per row.


Levels = tuple[int, ...]
Form = Literal["levels", "boxes", "means", "nodes", "intervals", "distributions"]
Grain = Literal["cells", "rows"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Problem(Brief):
    """A table, a requirement and a purpose."""

    cells: Classes
    """The finest classes of the table, with measures for the metrics."""
    hierarchies: tuple[Hierarchy, ...]
    """One per quasi-identifier, in the order of the cells' columns."""
    models: tuple[Model, ...]
    """All of them must hold."""
    metric: Metric
    """What is to be lost least."""
    target: str | None = None
    """The class attribute, if there is one."""
    limit: int = 0
    """The most rows that may be suppressed."""
    suppressed: Literal["remove", "star"] = "remove"
    """Whether a suppressed row is left out or published with every quasi-identifier as ``*``."""
    exempt: bool = False
    """Whether the group of suppressed rows need not meet the requirement."""
    reading: Reading = "strict"
    """How unknown cells are read."""
    numbers: tuple[Reals | None, ...] = ()
    """For each quasi-identifier, its values as numbers (NaN where missing), where they are numbers."""

    days: tuple[Reals | None, ...] = ()
    """For each quasi-identifier, its values as day numbers (NaN where missing), where they are dates."""

    def scale(self, column: int) -> Reals | None:
        """A column's values on a line, numbers or day numbers, by code; None where they have no order."""
        numbers = self.number(column)
        return self.days[column] if numbers is None and self.days else numbers

    def number(self, column: int) -> Reals | None:
        """A column's values as numbers, by code; None where they are not."""
        return self.numbers[column] if self.numbers else None

    @property
    def nodes(self) -> int:
        """How many combinations of levels there are."""
        return prod(hierarchy.height + 1 for hierarchy in self.hierarchies)

    def floors(self) -> list[Reals] | None:
        """Per column and level, what a node loses without suppression, where the metric adds up columns."""
        counts = [
            total(codes.astype(np.int64), self.cells.sizes, len(hierarchy.levels[0].labels))
            for codes, hierarchy in zip(self.cells.keys, self.hierarchies, strict=True)
        ]
        return self.metric.floors(self.hierarchies, counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Recoded(Brief):
    """The label of every cell in every column, from whatever level it is."""

    labels: tuple[tuple[str, ...], ...]
    """For each column, the labels that are used."""
    keys: NDArray[np.int32]
    """Columns x cells: the label of each cell."""
    rulers: tuple[Ruler, ...]
    """For each column, how much each of its labels hides."""
    forms: tuple[Form, ...] = ()
    """For each column, what its labels are: hierarchy values (also where nothing is said), boxes, means or
    distributions; with one cut through the column's tree, its nodes or intervals."""

    @classmethod
    def at(cls, problem: Problem, levels: Levels) -> Recoded:
        """The full-domain recoding of a node of the lattice."""
        chosen = [h.levels[level] for h, level in zip(problem.hierarchies, levels, strict=True)]
        cells = problem.cells
        return cls(
            labels=tuple(level.labels for level in chosen),
            keys=np.array([c.parent[codes] for c, codes in zip(chosen, cells.keys, strict=True)], np.int32).reshape(
                cells.keys.shape
            ),
            rulers=tuple(Ruler.at(h, level) for h, level in zip(problem.hierarchies, levels, strict=True)),
        )

    @classmethod
    def under(cls, problem: Problem, cut: Sequence[ColumnCut]) -> Recoded:
        """The recoding of a cut: equal values read alike, whatever the other columns say."""
        cells = problem.cells
        return cls(
            labels=tuple(column.labels for column in cut),
            keys=np.array([c.of_code[codes] for c, codes in zip(cut, cells.keys, strict=True)], np.int32).reshape(
                cells.keys.shape
            ),
            rulers=tuple(column.ruler(hierarchy) for column, hierarchy in zip(cut, problem.hierarchies, strict=True)),
            forms=tuple("nodes" if column.edges is None else "intervals" for column in cut),
        )

    def view(self, problem: Problem, suppressed: NDArray[np.bool_]) -> View:
        """The recoded table as metrics see it; a class is suppressed if its cells are."""
        cells = problem.cells
        hidden = np.append(list(self.keys), [suppressed.astype(np.int32)], axis=0)
        ids, count = distinct(list(hidden), [*(len(names) for names in self.labels), 2], cells.count)
        place = representatives(ids, count)
        classes = cells.merged(self.keys[:, place], self.labels, ids, count)
        return View(classes=classes, suppressed=suppressed[place], rulers=self.rulers, target=problem.target)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Outcome(Brief):
    """What an algorithm found: a level per column or a label per cell, and the cells that are suppressed."""

    levels: Levels | None
    """The level of each quasi-identifier, where every column has one."""
    recoded: Recoded | None = None
    """The label of every cell, where a column mixes levels."""
    suppressed: NDArray[np.bool_]
    """Which cells are suppressed."""
    loss: float
    """What the metric says, lower is better."""
    proven: bool
    """Whether no other node of the lattice can lose less."""
    cut: tuple[ColumnCut, ...] | None = None
    """For each column, the label of every value, where equal values always read alike."""
    trail: Trail | None = None
    """The steps by which it was reached, where each of them is a table of its own."""
    buckets: NDArray[np.int64] | None = None
    """The group of each row, where sensitive values are published apart by group."""
    effort: Mapping[str, int | float | str] = field(default_factory=dict)
    """What the search did: nodes, checked, tagged, pruned, ..."""

    @property
    def alike(self) -> bool:
        """Whether every value reads the same in every row."""
        return self.levels is not None or self.cut is not None

    @classmethod
    def of(
        cls,
        problem: Problem,
        recoding: Recoded,
        suppressed: NDArray[np.bool_],
        effort: Mapping[str, int | float | str],
        *,
        proven: bool = False,
    ) -> Outcome:
        """A label per cell, with what the problem's metric says about it."""
        loss = problem.metric.loss(recoding.view(problem, suppressed)).value
        return cls(levels=None, recoded=recoding, suppressed=suppressed, loss=loss, proven=proven, effort=effort)

    def recoding(self, problem: Problem) -> Recoded:
        """The label of every cell."""
        if self.recoded is not None:
            return self.recoded
        return Recoded.at(problem, self.levels or ())
