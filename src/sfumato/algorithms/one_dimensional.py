"""One-dimensional grouping: rows on a space-filling curve, grouped with their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.anatomy import (
    Places,
    different,
    eligible,
    fewest_different,
    group_size,
    refuse_other_models,
    sensitive_column,
)
from sfumato.algorithms.feasibility import refuse_unreachable
from sfumato.algorithms.labels import Output, ranks, recoded
from sfumato.algorithms.problem import Grain, Outcome, Problem
from sfumato.core.arguments import one_of
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, total
from sfumato.models.model import judge

# Putting points of many dimensions on a line so that neighbours stay near each other.


Points = NDArray[np.int64]
"""Dimensions x points, whole numbers from 0 on."""
_BITS = 62


def hilbert(points: Points) -> NDArray[np.int64]:
    """The place of each point on the Hilbert curve through the cube that holds them all.

    Coordinates are cut to as many leading bits as fit into one number; with more than 62 dimensions only the first 62
    count. Neighbours on the curve are neighbours in the cube.
    Source: Skilling 2004, transposition of axes; Moon et al. 2001.

    >>> hilbert(np.array([[0, 0, 1, 1], [0, 1, 1, 0]])).tolist()
    [0, 1, 2, 3]
    """
    axes = points[:_BITS].copy()
    if not len(axes) or not axes.shape[1]:
        return np.zeros(axes.shape[1], np.int64)
    wanted = max(int(axes.max()).bit_length(), 1)
    bits = max(min(wanted, _BITS // len(axes)), 1)
    return _interleaved(_transposed(axes >> (wanted - bits), bits), bits)


def _transposed(axes: Points, bits: int) -> Points:
    """Undo the rotations and reflections of the curve, bit by bit from the top, then Gray-encode."""
    top = 1 << (bits - 1)
    step = top
    while step > 1:
        low = step - 1
        for axis in axes:
            swap = (axes[0] ^ axis) & low
            inverted = (axis & step) > 0
            change = np.where(inverted, 0, swap)
            axes[0] ^= np.where(inverted, low, change)
            axis ^= change  # noqa: PLW2901  a view of the array
        step >>= 1
    for place in range(1, len(axes)):
        axes[place] ^= axes[place - 1]
    turn = np.zeros(axes.shape[1], np.int64)
    step = top
    while step > 1:
        turn ^= np.where((axes[-1] & step) > 0, step - 1, 0)
        step >>= 1
    return axes ^ turn


def _interleaved(axes: Points, bits: int) -> NDArray[np.int64]:
    """One number from the bits of all axes, the highest bits first."""
    numbers = np.zeros(axes.shape[1], np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in axes:
            numbers = (numbers << 1) | ((axis >> bit) & 1)
    return numbers


def idistance(points: Points, references: int = 16) -> NDArray[np.float64]:
    """The place of each point on a line of rays: the nearest of some reference points, then the distance from it.

    References are chosen one after the other, each farthest from those before; the first is farthest from the middle.
    Source: Jagadish et al. 2005.
    """
    if not points.shape[1]:
        return np.zeros(0)
    scaled = points / np.maximum(points.max(axis=1, keepdims=True), 1)
    away = _apart(scaled, scaled.mean(axis=1))
    nearest, best = np.zeros(points.shape[1], np.int64), np.full(points.shape[1], np.inf)
    for number in range(references):
        chosen = int(np.argmax(away if number == 0 else best))
        distances = _apart(scaled, scaled[:, chosen])
        nearest, best = np.where(distances < best, number, nearest), np.minimum(distances, best)
        if best.max() == 0:
            break
    return np.asarray(nearest * (float(len(points)) + 1.0) + best)


def _apart(scaled: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(((scaled - point[:, None]) ** 2).sum(axis=0)))


# Runs of neighbours on a line that meet the models, where groups of different values cannot.


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


# One-dimensional l-diversity: groups of different sensitive values from neighbours on a space-filling curve.


Curve = Literal["hilbert", "idistance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneDimensional:
    """Put rows on a space-filling curve, and group neighbours with different sensitive values.

    Claim: every group meets the requirement, and groups are found whenever the table as one group meets it. Where the
        table allows it no sensitive value is twice in a group, so none is more frequent there than 1/l.
    How: values are numbered by size or by a walk through their taxonomy; a Hilbert curve or distances to reference
        points put rows on a line; each group takes the first rows on the line with different values, and those values
        that are so frequent that every group to come must have one. Where a value is too frequent for groups of
        different values, a group is the shortest run of neighbours that passes.
    Needs: models of one sensitive column that joining groups keeps, and that judge a group by its own values.
    Cost: a sort of the rows and one step per group.
    Source: Ghinita, Karras, Kalnis, Mamoulis 2007; document 004, section 6.1.2.
    """

    grain: ClassVar[Grain] = "rows"

    curve: Curve = "hilbert"
    """How rows are put on a line."""
    output: Output = "hierarchy"
    """What a group shows: hierarchy values, boxes or means."""

    def __post_init__(self) -> None:
        one_of("curve", self.curve, get_args(Curve))
        one_of("output", self.output, get_args(Output))

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Group the rows along the line."""
        refuse_unreachable(replace(problem, limit=0))
        groups, count = self._groups(problem, work)
        recoding = recoded(problem, groups, count, self.output)
        effort = {"groups": count, "smallest_group": int(np.bincount(groups).min()), "curve": self.curve}
        return Outcome.of(problem, recoding, np.zeros(problem.cells.count, np.bool_), effort)

    def _groups(self, problem: Problem, work: Work) -> tuple[Ids, int]:
        """Groups of different values where such groups meet the models, else runs of neighbours."""
        column = sensitive_column(problem, "hilbert")
        refuse_other_models(problem, "hilbert")
        places = self._places(problem)
        if column is None:
            return _neighbours(places, group_size(problem, None, "hilbert"))
        size = fewest_different(problem, column)
        if size is not None and eligible(problem, column, size):
            groups, count = different(problem, column, places, size, work)
            if passing(problem, grouped(problem, column, groups, count)).all():
                return groups, count
        return Runs(problem, column, np.argsort(places, kind="stable")).cut(work)

    def _places(self, problem: Problem) -> Places:
        points = np.array([ranks(problem, c)[codes] for c, codes in enumerate(problem.cells.keys)], np.int64).reshape(
            problem.cells.keys.shape
        )
        most = points.max(axis=1, keepdims=True, initial=1)
        bits = max(int(points.max(initial=1)).bit_length(), 1)
        if self.curve == "idistance":
            return idistance(points)
        return hilbert((points * ((1 << bits) - 1)) // np.maximum(most, 1))


def _neighbours(places: Places, size: int) -> tuple[Ids, int]:
    """Groups of so many rows in a row along the line; the last one takes the remainder."""
    order = np.argsort(places, kind="stable")
    count = max(len(places) // size, 1)
    groups = np.empty(len(places), np.int64)
    groups[order] = np.minimum(np.arange(len(places)) // size, count - 1)
    return groups, count


# Grouping along one dimension: rows are put on a line, and groups are made of neighbours on it.


__all__ = ["OneDimensional"]
