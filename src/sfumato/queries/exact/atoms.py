"""Atoms of people whom no answered question separates, and values as whole multiples of a unit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, unknown_column
from sfumato.queries.groups import present
from sfumato.tables.table import Table, plain_cells

# Atoms: people whom no answered question has told apart are one column of every system of equations.


Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cutting:
    """What a set of people does to atoms: those that it divides get a second atom for the people inside."""

    mask: Mask
    """The people of the set."""
    divided: Counts
    """The atoms that lie partly inside; the k-th of them gives its people inside to atom ``before + k``."""
    sizes: Counts
    """The sizes of all atoms after the cut."""
    inside: Mask
    """Which atoms lie in the set after the cut."""


class Atoms:
    """The people of a table, divided by the questions that were answered.

    >>> atoms = Atoms(4)
    >>> atoms.apply(atoms.cut(np.array([True, True, False, False])))
    >>> atoms.sizes.tolist(), atoms.codes.tolist()
    ([2, 2], [1, 1, 0, 0])
    """

    def __init__(self, people: int) -> None:
        self.codes = np.zeros(people, np.int64)
        self.sizes: Counts = np.array([people], np.int64)

    def cut(self, mask: Mask) -> Cutting:
        """What a set would do; nothing is changed."""
        held = np.bincount(self.codes[mask], minlength=len(self.sizes)).astype(np.int64)
        divided = np.flatnonzero((held > 0) & (held < self.sizes))
        kept = self.sizes.copy()
        kept[divided] -= held[divided]
        inside = np.concatenate([held == self.sizes, np.ones(len(divided), bool)])
        inside[: len(self.sizes)] &= self.sizes > 0
        return Cutting(mask=mask, divided=divided, sizes=np.concatenate([kept, held[divided]]), inside=inside)

    def apply(self, cutting: Cutting) -> None:
        """Divide the atoms."""
        self.codes, self.sizes = self.coded(cutting), cutting.sizes

    def coded(self, cutting: Cutting) -> Counts:
        """Everybody's atom after a cut."""
        new = np.arange(len(self.sizes))
        new[cutting.divided] = len(self.sizes) + np.arange(len(cutting.divided))
        return np.where(cutting.mask, new[self.codes], self.codes)

    def within(self, mask: Mask) -> Mask:
        """Which atoms lie in a set that divides none of them."""
        first = np.zeros(len(self.sizes), np.int64)
        first[self.codes] = np.arange(len(self.codes))
        return np.asarray(mask[first] & (self.sizes > 0), bool)


# A column of numbers as whole multiples of one decimal unit: sums of them are exact.


MOST_UNITS = 2**60
"""No sum of a column may have more units."""
MOST_DECIMALS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeValues:
    """The numbers of a column, one for every row."""

    units: NDArray[np.int64]
    """Each number in units."""
    decimals: int
    """A unit is 10 to the minus this."""

    def fraction(self, units: int, over: int = 1) -> Fraction:
        """So many units, perhaps divided, as a number."""
        return Fraction(units, over * 10**self.decimals)

    def total(self, mask: Mask) -> int:
        """The sum over some rows, in units."""
        return int(self.units[mask].sum())

    def smallest(self, mask: Mask) -> int:
        """The minimum over some rows, in units."""
        return int(self.units[mask].min())

    def largest(self, mask: Mask) -> int:
        """The maximum over some rows, in units."""
        return int(self.units[mask].max())


def whole_values(table: Table, column: str) -> WholeValues:
    """The column of a table, or a refusal: every row must have a number, written with few decimals."""
    if column not in table.names:
        raise unknown_column(column, table.names, where="audit.values")
    cells = plain_cells(present(table, column))
    if cells.dtype.is_integer() and not cells.null_count():
        return _checked(table, column, [int(cell) for cell in cells.to_list()], 0)
    numbers = []
    for place, cell in enumerate(cells.to_list(), start=1):
        try:
            number = Decimal(str(cell).strip())
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            raise DataError(
                f"{table.source}, column {column!r}: row {place} has no number, and an audited column needs one in "
                "every row: leave such rows out of the table"
            )
        numbers.append(number)
    decimals = max((max(0, -int(number.normalize().as_tuple().exponent)) for number in numbers), default=0)
    if decimals > MOST_DECIMALS:
        raise DataError(
            f"{table.source}, column {column!r}: a number has {decimals} decimals, and exact sums are made of numbers "
            f"with at most {MOST_DECIMALS}: round the column"
        )
    return _checked(table, column, [int(number.scaleb(decimals)) for number in numbers], decimals)


def _checked(table: Table, column: str, units: list[int], decimals: int) -> WholeValues:
    if sum(abs(unit) for unit in units) > MOST_UNITS:
        raise DataError(
            f"{table.source}, column {column!r}: the numbers are too large, or have too many decimals, to be summed "
            f"exactly; all together may have {MOST_UNITS:,} units of the last decimal"
        )
    return WholeValues(units=np.array(units, np.int64), decimals=decimals)
