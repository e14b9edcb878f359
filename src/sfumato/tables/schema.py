"""The roles of columns, and the domains of their values."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import above, number
from sfumato.core.errors import ParameterError
from sfumato.core.short_repr import Brief
from sfumato.tables.labels import Ends
from sfumato.tables.table import Column, Kind, Table

# The part that a column plays in a release.


class Role(StrEnum):
    """What is done with a column."""

    IDENTIFIER = "identifier"
    """Names a person: dropped, or replaced by a keyed pseudonym."""
    UNIT = "unit"
    """Tells people apart who have several rows: published as a number that holds within one group only."""
    QUASI = "quasi"
    """May be known to others and link to a person: generalized."""
    SENSITIVE = "sensitive"
    """What must not be learnt about a person: published unchanged."""
    TARGET = "target"
    """The class attribute that a miner wants to predict: published unchanged."""
    KEEP = "keep"
    """Neither identifying nor sensitive: published unchanged."""
    DROP = "drop"
    """Not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Every column's role, in the table's order."""

    roles: Mapping[str, Role]
    """Column name to role."""
    guarded: tuple[str, ...] = ()
    """The quasi-identifiers that are sensitive too: generalized, and protected from inference."""

    def named(self, *roles: Role) -> tuple[str, ...]:
        """The columns that play one of these roles.

        >>> Schema(roles={"age": Role.QUASI, "disease": Role.SENSITIVE}).named(Role.QUASI)
        ('age',)
        """
        return tuple(name for name, role in self.roles.items() if role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return self.named(Role.SENSITIVE)

    @property
    def target(self) -> str | None:
        """The class attribute, if there is one."""
        targets = self.named(Role.TARGET)
        return targets[0] if targets else None


# What values a column may have: said by the publisher, or seen in the private table.
#
# The two are different types on purpose: what is read from private data is itself private, and a method that needs
# public knowledge takes a declared domain only. A builder of a hierarchy says which domain it declares, if any;
# private releases, questions, rules and verification all read that one type.


LARGEST = 1e100
"""Bounds beyond this are refused: their squares must still be numbers."""
DECLARING = frozenset(("intervals", "grown", "groups", "file", "attribute", "tree", "bundled"))
"""The hierarchies of a plan, by the key that names them, that can declare a domain; others are read off the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """One of some texts, as the publisher says; public knowledge."""

    values: tuple[str, ...]
    """Every possible value, in order."""
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The labels above each value, all equally long, where a tree is declared."""
    other: str | None = None
    """The value that stands for every text that is not declared; without one such records are left out."""

    def __post_init__(self) -> None:
        """Refuse no value at all, and a value twice."""
        if isinstance(self.values, str) or not all(isinstance(value, str) for value in self.values):
            raise ParameterError("values must be a tuple of texts")
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values or len(set(self.values)) < len(self.values):
            raise ParameterError("values must be different texts, at least one")
        if self.other is not None and self.other not in self.values:
            raise ParameterError(f"other must be one of the values, not {self.other!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the groups."""
        return self.values


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Every number from ``low`` to ``high``, as the publisher says; public knowledge."""

    low: float
    """The smallest possible value."""
    high: float
    """The largest possible value."""
    grid: float | None = None
    """How wide groups are, from ``low``; when absent 1 for up to 1,000 whole numbers, else a 1,000th of the range."""

    def __post_init__(self) -> None:
        """Refuse an empty range, one without bounds, and a grid without width."""
        if number("low", self.low) >= number("high", self.high):
            raise ParameterError(f"high must be above low, not {self.high:g} where low is {self.low:g}")
        if max(abs(self.low), abs(self.high)) > LARGEST or self.high - self.low < 1 / LARGEST:
            raise ParameterError(f"low and high must be at least {1 / LARGEST:g} apart and within {LARGEST:g} of 0")
        if self.grid is not None:
            above("grid", self.grid, 0)

    @property
    def step(self) -> float:
        """How far apart the marks are."""
        if self.grid is not None:
            return self.grid
        width = self.high - self.low
        return 1.0 if float(self.low).is_integer() and width <= 1000 else width / 1000

    @property
    def marks(self) -> NDArray[np.float64]:
        """Multiples of the step above ``low``, and ``high``: the edges of the groups."""
        many = max(ceil((self.high - self.low) / self.step - 1e-9), 1)
        return np.append(np.minimum(self.low + np.arange(many) * self.step, self.high), self.high)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the groups between marks."""
        ends = Ends(low=self.low, high=self.high, low_known=True, high_known=True)
        spans = list(pairwise(self.marks.tolist()))
        return tuple(ends.named(span, first=not n, last=n == len(spans) - 1) for n, span in enumerate(spans))


Domain = Categories | Numbers
"""What a publisher declares about a column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObservedDomain(Brief):
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
    absent: int = 0
    """Rows without a value."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The values by code; a missing one comes last."""
        return self.values if self.missing is None else (*self.values, self.missing)

    @property
    def all_counts(self) -> NDArray[np.int64]:
        """Rows per label."""
        return self.counts if self.missing is None else np.append(self.counts, np.int64(self.absent))

    @property
    def distinct(self) -> int:
        """How many different values occur, a missing one among them."""
        return int((self.all_counts > 0).sum())

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
            absent=0 if column.missing is None else int(column.counts[column.missing]),
        )

    @classmethod
    def whole(
        cls, column: str, declared: Categories, *, kind: Kind = "text", missing: str | None = None
    ) -> ObservedDomain:
        """Every declared value, none of them counted: for a hierarchy over the whole domain."""
        counts = np.zeros(len(declared.values), np.int64)
        return cls(column=column, kind=kind, values=declared.values, counts=counts, missing=missing)


def joined(mine: ObservedDomain, theirs: ObservedDomain) -> ObservedDomain:
    """The values of two tables together, with the rows of both."""
    texts = pl.DataFrame({mine.column: [*mine.values, *theirs.values]}, schema={mine.column: pl.String})
    whole = ObservedDomain.of(Table(frame=texts).column(mine.column, mine.kind))
    counts = widened(mine, whole).counts + widened(theirs, whole).counts
    missing = mine.missing if mine.missing is not None else theirs.missing
    return replace(whole, counts=counts, missing=missing, absent=mine.absent + theirs.absent)


def widened(mine: ObservedDomain, whole: ObservedDomain) -> ObservedDomain:
    """The rows of one table over the values of a wider domain."""
    rows = dict(zip(mine.values, mine.counts.tolist(), strict=True))
    counts = np.array([rows.get(value, 0) for value in whole.values], np.int64)
    return replace(whole, counts=counts, absent=mine.absent)


def narrowed(mine: ObservedDomain, labels: Set[str]) -> ObservedDomain:
    """The domain without the values, and without the missing one, that are not among the labels."""
    absent = mine.missing is not None and mine.missing not in labels
    kept = [code for code, value in enumerate(mine.values) if value in labels]
    return replace(
        mine,
        values=tuple(mine.values[code] for code in kept),
        counts=mine.counts[kept],
        numbers=None if mine.numbers is None else mine.numbers[kept],
        missing=None if absent else mine.missing,
        absent=0 if absent else mine.absent,
    )
