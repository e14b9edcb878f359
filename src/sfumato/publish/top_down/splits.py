"""What columns share: labels by number, what would replace a label, and the records that a column is scored by.

Labels go by number: node numbers of a taxonomy; of intervals, the order in which they were made. 0 is the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.keys import total
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

    rows: NDArray[np.int64]
    """For each value (by code), its rows."""
    figures: Reals
    """Values x figures: the rows of each class for the gain; for discernibility the rows."""

    @classmethod
    def of(cls, problem: Problem, column: int, score: Score) -> Counted:
        """Count one column of the cells."""
        cells = problem.cells
        codes, many = cells.keys[column].astype(np.int64), len(cells.labels[column])
        rows = total(codes, cells.sizes, many)
        if score == "discernibility" or problem.target is None:
            return cls(rows=rows, figures=rows[:, None].astype(np.float64))
        tally = cells.tally(problem.target)
        width = len(tally.values)
        pairs = codes[tally.owners] * width + tally.codes
        counts = total(pairs, tally.counts, many * width).astype(np.float64)
        return cls(rows=rows, figures=counts.reshape(many, width))


def ruler_of(hierarchy: Hierarchy, sizes: Reals, steps: Reals) -> Ruler:
    """How much labels hide, given their sizes and steps."""
    return Ruler(
        sizes=sizes, steps=steps, total=hierarchy.total, height=hierarchy.height, continuous=hierarchy.continuous
    )
