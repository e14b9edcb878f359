"""What each step of a trail is worth: the smallest class, and what the problem's metric says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from sfumato.group.classes import Classes
from sfumato.group.cut_counts import Figure, JointCuts, Numbers
from sfumato.group.keys import weighed
from sfumato.group.tally import Tally
from sfumato.publish.problem import Problem
from sfumato.publish.top_down.cut_columns import Column
from sfumato.publish.top_down.partitions import Partitions
from sfumato.publish.top_down.splits import Counted, classes_of
from sfumato.utility.view import View


class Figures:
    """The metric on the classes of the current cut.

    A metric whose loss is a sum over columns sees of each column only how many rows have which label. For such a one
    the rows are paired anew, each column sorted by its labels: that leaves few classes and changes no such figure.
    It is not done where a source does not count every column.
    Estimated rows are scaled, so that together they are a whole number, the nearest.
    """

    def __init__(self, problem: Problem, columns: Sequence[Column], counted: Sequence[Counted]) -> None:
        self.problem, self.columns = problem, columns
        cells = problem.cells
        self._whole = _whole(counted)
        self._rows = [self._scaled(one.rows) for one in counted]
        whole = all(abs(one.sum() - self._rows[0].sum()) < 1 and one.sum() > 0 for one in self._rows)
        floors = problem.metric.floors(problem.hierarchies, self._rows) if whole else None
        self._by_column = floors is not None and "target" not in problem.metric.needs
        self._target = problem.target if "target" in problem.metric.needs else None
        self._measured = [name for name in problem.metric.needs if name in cells.measures]
        self._sums = {name: float(cells.measures[name].sum()) for name in self._measured}
        self._upto = [self._counted(place) for place in range(len(columns))]
        self._rulers = [column.ruler() for column in columns]

    @property
    def watched(self) -> tuple[Figure, ...]:
        """What must be counted in each partition."""
        return () if self._target is None else classes_of(self.problem)

    def loss(self, partitions: Partitions, changed: int | None = None) -> float:
        """What the problem's metric says about the classes, after the labels of one column changed."""
        if changed is not None:
            self._upto[changed] = self._counted(changed)
            self._rulers[changed] = self.columns[changed].ruler()
        classes = self._paired() if self._by_column else self._classes(partitions)
        view = View(
            classes=classes,
            suppressed=np.zeros(classes.count, np.bool_),
            rulers=tuple(self._rulers),
            target=self.problem.target,
        )
        return self.problem.metric.loss(view).value

    def _paired(self) -> Classes:
        """Classes with the same rows per label in every column as the table has."""
        ends = np.unique(np.concatenate([np.zeros(1, np.int64), *self._upto]))
        keys = [np.searchsorted(one, ends[1:], side="left") for one in self._upto]
        measures = {name: np.append(summed, np.zeros(max(len(ends) - 2, 0))) for name, summed in self._sums.items()}
        return replace(
            self.problem.cells,
            keys=np.array(keys, np.int32).reshape(len(keys), len(ends) - 1),
            labels=self._labels(),
            sizes=np.diff(ends),
            tallies={},
            measures=measures,
            wild=None,
            population=None,
        )

    def _counted(self, place: int) -> Numbers:
        """The rows of a column's labels, each with those before it."""
        column, rows = self.columns[place], self._rows[place]
        upto = np.cumsum(np.bincount(column.of_code, weights=rows, minlength=column.values).astype(rows.dtype))
        total = self._rows[0].sum()  # estimates of two columns add up to the same but for rounding
        return np.where(upto >= upto[-1], total, np.minimum(upto, total))

    def _scaled(self, counts: Numbers) -> Numbers:
        return counts if self._whole is None else np.asarray(counts * self._whole)

    def _classes(self, partitions: Partitions) -> Classes:
        """The partitions as classes, with what the metric needs."""
        cells = self.problem.cells
        measures = {}
        if self._measured:
            parts = cast("JointCuts", partitions.walk).cell_parts()
            measures = {name: weighed(parts, cells.measures[name], partitions.count) for name in self._measured}
        return replace(
            cells,
            keys=partitions.keys,
            labels=self._labels(),
            sizes=self._scaled(partitions.rows),
            tallies={} if self._target is None else {self._target: self._tally(partitions, self._target)},
            measures=measures,
            wild=None,
            population=None,
        )

    def _labels(self) -> tuple[tuple[str, ...], ...]:
        """Numbers for names: metrics ask how many there are."""
        return tuple(("",) * column.values for column in self.columns)

    def _tally(self, partitions: Partitions, target: str) -> Tally:
        tally = self.problem.cells.tally(target)
        dense = self._scaled(partitions.counts[:, -len(tally.values) :])
        owners, codes = np.nonzero(dense)
        return replace(
            tally,
            owners=owners,
            codes=codes.astype(np.int32),
            counts=dense[owners, codes],
            classes=partitions.count,
        )


def _whole(counted: Sequence[Counted]) -> float | None:
    """What estimated rows are multiplied by to be a whole number together, or a little more; None for whole counts."""
    if not counted or counted[0].rows.dtype.kind != "f":
        return None
    rows = float(counted[0].rows.sum())
    return max(round(rows), 1) / rows * (1 + 1e-12) if rows else 1.0
