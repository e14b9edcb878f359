"""Where columns can be cut: between any two neighbours in the order of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.publish.order import ranks
from sfumato.publish.problem import Problem

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cuts:
    """Every place where a column's ordered values can be cut, numbered through all columns.

    A set of cuts is an array of flags. It parts each column into intervals of values that follow each other.
    """

    orders: tuple[NDArray[np.int32], ...]
    """For each column, the codes of the values that occur, in their order."""
    places: NDArray[np.int32]
    """Columns x cells: the place of each cell's value in that order."""
    starts: tuple[int, ...]
    """The number of each column's first cut, and at the end how many cuts there are."""

    @classmethod
    def of(cls, problem: Problem) -> Cuts:
        """The cuts of a problem's table."""
        orders, places = [], []
        for column, codes in enumerate(problem.cells.keys):
            rank = ranks(problem, column)
            present = np.unique(codes)
            order = present[np.argsort(rank[present], kind="stable")]
            place = np.zeros(len(rank), np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            orders.append(order.astype(np.int32))
            places.append(place[codes])
        starts = np.cumsum([0, *(max(len(order) - 1, 0) for order in orders)])
        return cls(
            orders=tuple(orders),
            places=np.array(places, np.int32).reshape(problem.cells.keys.shape),
            starts=tuple(int(start) for start in starts),
        )

    @property
    def count(self) -> int:
        """How many cuts there are."""
        return self.starts[-1]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.orders)

    def column(self, cut: int) -> int:
        """The column of a cut."""
        return int(np.searchsorted(self.starts, cut, side="right")) - 1

    def part(self, chosen: Flags, column: int) -> Flags:
        """The flags of one column's cuts."""
        return chosen[self.starts[column] : self.starts[column + 1]]

    def edges(self, chosen: Flags, column: int) -> Places:
        """The numbers of the chosen cuts of one column."""
        return np.flatnonzero(self.part(chosen, column)) + self.starts[column]

    def limits(self, chosen: Flags, column: int) -> tuple[Places, Places]:
        """The first and the last place of each interval of one column."""
        inner = self.part(chosen, column).nonzero()[0]
        lows, highs = np.zeros(len(inner) + 1, np.int64), np.zeros(len(inner) + 1, np.int64)
        lows[1:], highs[:-1], highs[-1] = inner + 1, inner, len(self.orders[column]) - 1
        return lows, highs

    def intervals(self, chosen: Flags, column: int) -> NDArray[np.int32]:
        """The interval of each place of one column."""
        return counted(self.part(chosen, column))


def counted(flags: Flags) -> NDArray[np.int32]:
    """How many flags are set before each place, one place more than there are flags.

    >>> counted(np.array([True, False, True])).tolist()
    [0, 1, 1, 2]
    """
    made = np.zeros(len(flags) + 1, np.int32)
    flags.cumsum(out=made[1:])
    return made
