"""Runs of neighbours on a line that meet the models, where groups of different values cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.work import Work
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, total
from sfumato.models.judge import judge
from sfumato.publish.problem import Problem

_FIRST, _MOST = 16, 4096
"""How many lengths of a run are judged at once: at first, and at most."""


class Runs:
    """Cuts the line into runs of rows, each as short as the models let it be.

    Claim: every run meets every model. There are runs whenever the table as one group meets the models, and for models
        that joining keeps nothing else can be feasible.
    How: from the first row on, a run takes rows until it passes. Rows that are left at the end join the run before,
        and if they fail together the one before that, until they pass: at last that is the whole table.
    """

    def __init__(self, problem: Problem, column: str, order: Ids) -> None:
        """``order`` holds the rows as they lie on the line."""
        self.problem, self.column = problem, column
        self.tally = problem.cells.tally(column)
        codes = np.zeros(problem.cells.count, np.int64)
        codes[self.tally.owners] = self.tally.codes
        self.codes, self.order = codes[order], order

    def cut(self, work: Work) -> tuple[Ids, int]:
        """The run of every row, and how many runs there are."""
        rows = len(self.codes)
        ends = [0]
        while (length := self._shortest(ends[-1])) is not None:
            ends.append(ends[-1] + length)
            if work.due:
                work.advance("group", ends[-1], rows)
        while ends[-1] < rows:
            ends.pop()
            if not ends or self._passing(ends[-1], np.array([rows - ends[-1]]))[0]:
                ends = [*(ends or [0]), rows]
        groups = np.empty(rows, np.int64)
        groups[self.order] = np.searchsorted(ends[1:], np.arange(rows), side="right")
        return groups, len(ends) - 1

    def _shortest(self, start: int) -> int | None:
        """How many rows from here on pass together, the fewest; None if no number does."""
        low, many, left = 0, _FIRST, len(self.codes) - start
        while low < left:
            lengths = np.arange(low + 1, min(low + many, left) + 1)
            passing = np.flatnonzero(self._passing(start, lengths))
            if len(passing):
                return int(lengths[passing[0]])
            low, many = int(lengths[-1]), min(2 * many, _MOST)
        return None

    def _passing(self, start: int, lengths: Ids) -> NDArray[np.bool_]:
        """Which of the groups of so many rows from here on, in a row, pass."""
        width, first = len(self.tally.values), int(lengths[0])
        here = self.codes[start : start + int(lengths[-1])]
        counts = np.zeros((len(lengths), width), np.int64)
        counts[np.arange(1, len(lengths)), here[first:]] = 1
        counts[0] = np.bincount(here[:first], minlength=width)
        counts = counts.cumsum(axis=0)
        owners, codes = np.nonzero(counts)
        tally = replace(
            self.tally,
            owners=owners.astype(np.int64),
            codes=codes.astype(np.int32),
            counts=counts[owners, codes],
            classes=len(lengths),
            whole=self.tally.overall,
        )
        return passing(
            self.problem,
            Classes(
                quasi=(),
                keys=np.zeros((0, len(lengths)), np.int32),
                labels=(),
                sizes=lengths.astype(np.int64),
                tallies={self.column: tally},
            ),
        )


def grouped(problem: Problem, column: str, groups: Ids, count: int) -> Classes:
    """The groups as classes without labels."""
    cells = problem.cells
    return Classes(
        quasi=(),
        keys=np.zeros((0, count), np.int32),
        labels=(),
        sizes=total(groups, cells.sizes, count),
        tallies={column: cells.tally(column).merged(groups, count)},
    )


def passing(problem: Problem, classes: Classes) -> NDArray[np.bool_]:
    """Which classes every model accepts."""
    good = np.ones(classes.count, np.bool_)
    for model in problem.models:
        good[judge(model, classes, problem.reading).failing] = False
    return good
