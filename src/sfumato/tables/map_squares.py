"""A grid of squares over a map, and the hierarchy that joins neighbouring squares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import above, at_least, number
from sfumato.core.errors import HierarchyError, ParameterError, listed
from sfumato.tables.hierarchy import Hierarchy, chain
from sfumato.tables.hierarchy_builders import leaf_counts
from sfumato.tables.schema import ObservedDomain

# A grid over a map: every point becomes the name of the square it lies in.


Reals = NDArray[np.float64]
_SLACK = 1e-9
_MOST = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Squares of one size over a rectangle; rows count from the lowest y, columns from the lowest x.

    A square has its lower edges; the map's upper edges belong to the last squares. A point less than a billionth
    of a step below an edge counts as on it.

    >>> Grid(low=(0, 0), high=(30, 20), step=2).cells(np.array([0.0, 29.0]), np.array([3.0, 20.0])).to_list()
    ['r1c00', 'r9c14']
    """

    low: tuple[float, float]
    """The lowest x and y of the map."""
    high: tuple[float, float]
    """The highest x and y of the map."""
    step: float
    """The length of a square's side."""

    def __post_init__(self) -> None:
        for name, corner in (("low", self.low), ("high", self.high)):
            if not isinstance(corner, tuple) or len(corner) != 2:
                raise ParameterError(f"grid {name} must be a pair of numbers (x, y), not {corner!r}")
            for axis, value in zip("xy", corner, strict=True):
                number(f"grid {name} {axis}", value)
        above("grid step", self.step, 0)
        for axis, low, high in zip("xy", self.low, self.high, strict=True):
            if high <= low:
                raise ParameterError(f"grid high {axis} must be above low {axis} = {low}, not {high}")
            if not (high - low) / self.step <= _MOST:
                raise ParameterError(
                    f"grid step must make at most {_MOST} squares along {axis}; {self.step} is too small"
                )

    @property
    def columns(self) -> int:
        """How many squares stand along x."""
        return self._count(0)

    @property
    def rows(self) -> int:
        """How many squares stand along y."""
        return self._count(1)

    def cells(self, x: Reals, y: Reals) -> pl.Series:
        """The square of each point, named by row and column so that text order is map order; outside: null."""
        row = _named("r", self._index(1, y), self.rows)
        column = _named("c", self._index(0, x), self.columns)
        inside = np.ones(len(x), np.bool_)
        inside[self.outside(x, y)] = False
        return (row + column).set(pl.Series(~inside), None)

    def outside(self, x: Reals, y: Reals) -> NDArray[np.int64]:
        """The indices of the points that lie in no square."""
        (left, bottom), (right, top) = self.low, self.high
        return np.flatnonzero(~((x >= left) & (x <= right) & (y >= bottom) & (y <= top))).astype(np.int64)

    def _count(self, axis: int) -> int:
        return max(ceil((self.high[axis] - self.low[axis]) / self.step - _SLACK), 1)

    def _index(self, axis: int, values: Reals) -> NDArray[np.int64]:
        last = self._count(axis) - 1
        steps = np.floor((values - self.low[axis]) / self.step + _SLACK)
        indices: NDArray[np.int64] = np.clip(np.nan_to_num(steps), 0, last).astype(np.int64)
        return indices


def _named(letter: str, index: NDArray[np.int64], count: int) -> pl.Series:
    """A letter and the index, padded with zeros to the width of the last one."""
    return letter + pl.Series("square", index).cast(pl.String).str.zfill(len(str(count - 1)))


# Hierarchies of map squares: neighbouring squares become larger ones.


_SQUARE = re.compile(r"r([0-9]+)c([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Squares:
    """Squares of a grid, named by row and column as in r04c11, in blocks of some squares along each side."""

    widths: tuple[int, ...]
    """How many squares each level's blocks have along a side; each a multiple of the one before."""

    def __post_init__(self) -> None:
        """Refuse blocks that do not nest."""
        if not self.widths:
            raise ParameterError("widths must name at least one number of squares")
        before = 1
        for width in self.widths:
            at_least("widths", width, 2)
            if width % before or width == before:
                raise ParameterError(f"widths must each be a multiple of the one before, not {list(self.widths)}")
            before = width

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column of squares."""
        bad = [value for value in domain.values if not _SQUARE.fullmatch(value)]
        if bad:
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {listed(bad)} is no square of a grid such as 'r04c11'; squares are "
                "made from points by grid"
            )
        rows = [[_block(value, width) for width in self.widths] for value in domain.values]
        return chain(domain, rows, leaf_counts(rows, len(self.widths)), total=float(len(domain.values)))


def _block(square: str, width: int) -> str:
    """The block of a square.

    >>> _block("r05c11", 4)
    'r04-07c08-11'
    """
    match = _SQUARE.fullmatch(square)
    if match is None:
        raise ValueError(square)
    row, column = match.groups()
    return f"r{_span(row, width)}c{_span(column, width)}"


def _span(digits: str, width: int) -> str:
    low = int(digits) // width * width
    return f"{low:0{len(digits)}d}-{low + width - 1:0{len(digits)}d}"
