"""What values a column may have: said by the publisher, or seen in the private table.

The two are different types on purpose: what is read from private data is itself private, and a method that needs
public knowledge takes a declared domain only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Column, Kind
from sfumato.ground.errors import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredDomain:
    """The values that the publisher says a column can have; public knowledge."""

    values: tuple[str, ...]
    """Every possible value, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRange:
    """The closed range that the publisher says a number lies in; public knowledge."""

    low: float
    """The smallest possible value."""
    high: float
    """The largest possible value."""

    def __post_init__(self) -> None:
        """Refuse an empty range."""
        if not self.low < self.high:
            raise ParameterError(f"a range needs low < high, not low={self.low:g} and high={self.high:g}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObservedDomain:
    """The values that a private table was seen to have, with their counts."""

    column: str
    """The column it was read from."""
    kind: Kind
    """How the values are read."""
    values: tuple[str, ...]
    """The distinct values in the order of their kind, without the missing value."""
    counts: NDArray[np.int64]
    """Rows per value."""
    missing: str | None = None
    """How a missing value is written, if the column has any."""
    numbers: NDArray[np.float64] | None = None
    """The values as numbers or day numbers, for columns that have such."""

    @classmethod
    def of(cls, column: Column) -> ObservedDomain:
        """The domain of an encoded column."""
        present = column.present
        return cls(
            column=column.name,
            kind=column.kind,
            values=present,
            counts=column.counts[: len(present)],
            missing=None if column.missing is None else column.values[column.missing],
            numbers=None if column.kind in ("text", "category") else column.numbers[: len(present)],
        )
