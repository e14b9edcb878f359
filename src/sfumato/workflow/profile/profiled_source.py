"""What a profile looks at: a table in memory, or one in an engine that is asked for values and counts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from sfumato.attacks.identity.risk import Risk, risk, risk_of_sizes
from sfumato.data.table import Column, Table, has_text, has_times
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.roles import Role
from sfumato.ground.brief import Brief
from sfumato.group.cells import cells
from sfumato.group.classes import Classes
from sfumato.group.keys import total
from sfumato.group.tally import Counts
from sfumato.workflow.profile.suggest import LOOKED_AT, Suggestion, suggest, suggest_items

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource

MOST = 1_000_000
"""As many different values of a column, and as many cells, are taken out of an engine for a look."""


class ProfiledSource(Protocol):
    """A table that can be looked at, wherever it is."""

    @property
    def source(self) -> str:
        """What messages call it."""

    @property
    def engine(self) -> str | None:
        """The engine that counts it, if one does."""

    @property
    def rows(self) -> int:
        """How many rows it has."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""

    @property
    def note(self) -> str:
        """What the steward should know about how the rows are read."""

    @property
    def reading(self) -> Mapping[str, Any]:
        """What was found out about reading the file, beside what was said."""

    def marked(self, marks: tuple[str, ...]) -> ProfiledSource:
        """The same with texts that stand for missing values."""

    def column(self, name: str) -> Column:
        """The values of a column with their counts."""

    def items(self, name: str) -> Suggestion | None:
        """What a column with several items in a cell might be; nothing for other columns."""

    def suggested(self, column: Column) -> Suggestion:
        """What a column might be."""

    def together(self, columns: Sequence[Column], most: int) -> Classes | None:
        """The cells of some columns; None where there are more than so many, and they do not fit in memory."""

    def risk(self, columns: Sequence[Column]) -> Risk:
        """The risk by some columns together, whose cells do not fit in memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountedColumn(Column):
    """A column of which every different value came once, with the rows that have it."""

    weights: Counts
    """Rows per value."""
    sizes: tuple[Counts, Counts] | None = None
    """Where values were left out: how many rows values have, and how many values have so many."""
    absent: int = 0
    """Where values were left out: rows without one."""

    @property
    def counts(self) -> Counts:
        """Rows per value, of those that came."""
        return self.weights


def figures(column: Column, rows: int) -> tuple[int, int, float]:
    """The different values of a column, the rows without one, and the entropy of its values in bits."""
    if isinstance(column, CountedColumn) and column.sizes is not None:
        sizes, many = column.sizes
        shares = np.append(sizes, column.absent) / rows
        each = -np.append(many, 1) * shares * np.log2(np.where(shares > 0, shares, 1.0))
        return int(many.sum()), column.absent, float(each.sum())
    shares = column.counts[column.counts > 0] / max(rows, 1)
    missing = 0 if column.missing is None else int(column.counts[column.missing])
    return len(column.present), missing, float(-(shares * np.log2(shares)).sum()) + 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProfiledTable(Brief):
    """A table in memory."""

    table: Table
    """The table."""
    engine: str | None = None
    """No engine counts it."""
    note: str = ""
    """There is nothing to know about how the rows are read."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """What was found out about reading the file."""

    def marked(self, marks: tuple[str, ...]) -> ProfiledTable:
        """The same with texts that stand for missing values."""
        return replace(self, table=replace(self.table, missing=marks))

    @property
    def source(self) -> str:
        """What messages call it."""
        return self.table.source

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.table.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return self.table.names

    def column(self, name: str) -> Column:
        """The encoded column."""
        return joined(self.table, name).column(name)

    def items(self, name: str) -> Suggestion | None:
        """By its first cells."""
        return suggest_items(self.table.frame[name])

    def suggested(self, column: Column) -> Suggestion:
        """By its name and values."""
        return suggest(column, self.rows)

    def together(self, columns: Sequence[Column], most: int) -> Classes | None:
        """The cells, however many."""
        return cells(columns).classes

    def risk(self, columns: Sequence[Column]) -> Risk:
        """Of all cells."""
        return risk(cells(columns).classes.sizes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProfiledEngine(Brief):
    """A table in an engine, which is asked for the values of each column, and for cells, with their counts."""

    inner: EngineSource
    """The rows, where they are."""
    most: int = MOST
    """As many values of a column come."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """What was found out about reading the files."""
    _seen: dict[str, tuple[pl.Series, Counts]] = field(default_factory=dict)
    """The values that came last."""

    def marked(self, marks: tuple[str, ...]) -> ProfiledEngine:
        """The same with texts that stand for missing values."""
        return replace(self, inner=replace(self.inner, missing=marks))

    @property
    def source(self) -> str:
        """What messages call it."""
        return self.inner.source

    @property
    def engine(self) -> str | None:
        """The engine."""
        return self.inner.engine.name

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.inner.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return self.inner.names

    @property
    def note(self) -> str:
        """What the steward should know."""
        return self.inner.note

    def column(self, name: str) -> Column:
        """The different values with their counts; of too many, some, and how many there are of which size."""
        values, rows = self._values(name)
        table = Table(frame=pl.DataFrame([values]), missing=self.inner.missing, source=self.source)
        own = joined(table, name).column(name)
        weights = total(own.codes.astype(np.int64), rows, len(own.values))
        made = CountedColumn(
            name=name, kind=own.kind, codes=own.codes, values=own.values, missing=own.missing, weights=weights
        )
        return made if len(values) < self.most else self._cut(made)

    def _values(self, name: str) -> tuple[pl.Series, Counts]:
        if name not in self._seen:
            self._seen.clear()
            self._seen[name] = self.inner.some_values(name, self.most)
        return self._seen[name]

    def _cut(self, some: CountedColumn) -> Column:
        there = self.inner.complete([some.name])
        sizes = there.group_sizes([some.name])
        whole = int(sizes[1].sum()) == len(some.present)
        return some if whole else replace(some, sizes=sizes, absent=self.rows - there.rows)

    def items(self, name: str) -> Suggestion | None:
        """An engine counts no items, so such a column is left out; rows spread over all values show which it is."""
        values, rows = self._values(name)
        there = values.is_not_null().to_numpy()
        ends = np.cumsum(rows[there])
        many = int(ends[-1]) if len(ends) else 0
        spread = np.arange(many) if many <= LOOKED_AT else np.linspace(0, many - 1, LOOKED_AT).astype(np.int64)
        found = suggest_items(values.filter(pl.Series(there)).gather(np.searchsorted(ends, spread, side="right")))
        why = f"several items in a cell, and {self.engine} counts cells; give the rows as a file that fits in memory"
        return None if found is None else Suggestion(role=Role.DROP, why=why)

    def suggested(self, column: Column) -> Suggestion:
        """By its name and values; a column of more values than are counted is left out."""
        found = suggest(column, self.rows)
        dtype = self.inner.dtype(column.name)
        if dtype.is_nested() or not has_text(dtype):
            return Suggestion(role=Role.DROP, why=f"{self.engine} does not count cells of type {dtype}")
        if isinstance(dtype, pl.Datetime) and has_times(self._values(column.name)[0]):
            return Suggestion(role=Role.DROP, why="times of day single people out; cut them off, and it is a date")
        if found.form is not None:
            return Suggestion(role=Role.DROP, why=f"{self.engine} reads dates written YYYY-MM-DD; write them so")
        if found.role is Role.IDENTIFIER or not isinstance(column, CountedColumn) or column.sizes is None:
            return found
        many = int(column.sizes[1].sum())
        return Suggestion(role=Role.DROP, why=f"{many:,} different values single people out; round or cut them")

    def together(self, columns: Sequence[Column], most: int) -> Classes | None:
        """The cells, where they are not too many."""
        return self.inner.cells_within([ObservedDomain.of(column) for column in columns], most)

    def risk(self, columns: Sequence[Column]) -> Risk:
        """Of the sizes of all cells, which the engine counts."""
        return risk_of_sizes(*self.inner.group_sizes([column.name for column in columns]))


def joined(table: Table, name: str) -> Table:
    """The table with a column whose cells can be compared: lists as texts, date-times as days."""
    found = table.frame[name]
    if not has_text(found.dtype):
        texts = pl.Series(name, [None if one is None else str(one) for one in found], dtype=pl.String)
    elif has_times(found):
        texts = found.dt.date()
    elif isinstance(found.dtype, pl.List | pl.Array):
        texts = found.cast(pl.List(pl.String)).list.join("|")
    else:
        texts = found
    return replace(table, frame=pl.DataFrame([texts]))
