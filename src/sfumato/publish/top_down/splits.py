"""What columns share: labels by number, what would replace a label, and the records that a column is scored by.

Labels go by number: node numbers of a taxonomy; of intervals, the order in which they were made. 0 is the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np

from sfumato.data.table import Codes
from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.cut_counts import ROWS, CutSource, Figure, Numbers, by_value
from sfumato.publish.problem import Problem
from sfumato.utility.view import Reals, Ruler

Score = Literal["gain", "discernibility"]
Rank = tuple[str | float, int]
"""By which labels of one column stand where they are equally good: the label's text or lower end, and its number."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """A label and what would replace it."""

    value: int
    """The label."""
    values: Codes
    """The labels below."""
    child_of: Codes
    """For each value of the column (by code) under the label, which of them."""
    edge: float = nan
    """For an interval, where its second half begins."""
    apart: bool = False
    """Whether the last of the labels below stands for the missing value and is new."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """The records of the whole table by the values of one column."""

    rows: Numbers
    """For each value (by code), its rows."""
    figures: Reals
    """Values x figures: the rows of each class for the gain; for discernibility the rows."""


def counted(problem: Problem, source: CutSource, score: Score) -> tuple[Counted, ...]:
    """All columns, counted."""
    classes = classes_of(problem) if score == "gain" else ()
    walk = source.root((ROWS, *classes))
    tables = [walk.histogram(by_value(place, len(names)))[0] for place, names in enumerate(problem.cells.labels)]
    return tuple(
        Counted(rows=one[:, 0], figures=one[:, 1:].astype(np.float64) if classes else one.astype(np.float64))
        for one in tables
    )


def classes_of(problem: Problem) -> tuple[Figure, ...]:
    """The rows of each class, as figures."""
    if problem.target is None:
        return ()
    return tuple((problem.target, (code,)) for code in range(len(problem.cells.tally(problem.target).values)))


def ruler_of(hierarchy: Hierarchy, sizes: Reals, steps: Reals) -> Ruler:
    """How much labels hide, given their sizes and steps."""
    return Ruler(
        sizes=sizes, steps=steps, total=hierarchy.total, height=hierarchy.height, continuous=hierarchy.continuous
    )
