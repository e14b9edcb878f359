"""What a profile reads: a frame, a file, or a table in an engine that is asked for counts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from sfumato.attacks.risk import Risk, risk, risk_of_sizes
from sfumato.core.errors import DataError, PlanError
from sfumato.core.records import decoded
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import total
from sfumato.counts.local_table import cells
from sfumato.counts.tally import Counts
from sfumato.pipeline.inputs import (
    frame_source,
    is_relation,
    is_spark,
    load_table,
    planned_source,
    read_file,
    too_large,
    without_nan,
)
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import SQLITE, InputPlan
from sfumato.pipeline.profile.suggestions import LOOKED_AT, Suggestion, suggest, suggest_items
from sfumato.tables.csv_files import read_head
from sfumato.tables.frames import from_frame
from sfumato.tables.schema import ObservedDomain, Role
from sfumato.tables.table import Column, Table, has_text, has_times

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# What a profile looks at: a table in memory, or one in an engine that is asked for values and counts only.


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
        counted_column = CountedColumn(
            name=name, kind=own.kind, codes=own.codes, values=own.values, missing=own.missing, weights=weights
        )
        return counted_column if len(values) < self.most else self._cut(counted_column)

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
        suggestion = suggest_items(values.filter(pl.Series(there)).gather(np.searchsorted(ends, spread, side="right")))
        why = f"several items in a cell, and {self.engine} counts cells; give the rows as a file that fits in memory"
        return None if suggestion is None else Suggestion(role=Role.DROP, why=why)

    def suggested(self, column: Column) -> Suggestion:
        """By its name and values; a column of more values than are counted is left out."""
        suggestion = suggest(column, self.rows)
        dtype = self.inner.dtype(column.name)
        if dtype.is_nested() or not has_text(dtype):
            return Suggestion(role=Role.DROP, why=f"{self.engine} does not count cells of type {dtype}")
        if isinstance(dtype, pl.Datetime) and has_times(self._values(column.name)[0]):
            return Suggestion(role=Role.DROP, why="times of day single people out; cut them off, and it is a date")
        if suggestion.form is not None:
            return Suggestion(role=Role.DROP, why=f"{self.engine} reads dates written YYYY-MM-DD; write them so")
        if suggestion.role is Role.IDENTIFIER or not isinstance(column, CountedColumn) or column.sizes is None:
            return suggestion
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
    cells = table.frame[name]
    if not has_text(cells.dtype):
        texts = pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    elif has_times(cells):
        texts = cells.dt.date()
    elif isinstance(cells.dtype, pl.List | pl.Array):
        texts = cells.cast(pl.List(pl.String)).list.join("|")
    else:
        texts = cells
    return replace(table, frame=pl.DataFrame([texts]))


# What the first lines of a file tell about how it is read, where the steward has not said it.


_TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
"""The ends of names of text files, and the delimiter that some of them imply."""


def found_reading(path: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of reading that the file itself suggests: no header, and blanks to be cut."""
    end = next((end.lower() for end in reversed(path.suffixes) if end.lower() != ".gz"), "")
    if end not in _TEXT:
        return {}
    head = read_head(
        path,
        delimiter=options.get("delimiter") or _TEXT[end],
        encoding=options.get("encoding") or "utf-8",
        trim=bool(options.get("trim")),
    )
    if head is None:
        return {}
    unsaid = "header" not in options and "names" not in options
    return ({"header": False} if unsaid and not head.header else {}) | ({"trim": True} if head.trim else {})


# From what a steward names to what a profile looks at: a frame, a file, or a table in an engine.


def profiled(data: object, *, missing: tuple[str, ...], reading: Mapping[str, Any]) -> ProfiledSource:
    """What is looked at: a frame, a file, or what ``reading`` says of an engine.

    Frames that are not in memory, folders, patterns and files that would fill it stay where they are.
    """
    if data is not None and not isinstance(data, str | Path):
        lazy = isinstance(data, pl.LazyFrame) and find_spec("duckdb") is not None
        if lazy or is_relation(data) or is_spark(data):
            plan = Plan(columns={}, privacy={}, input=InputPlan(missing=missing))
            return ProfiledEngine(inner=frame_source(plan, data))
        return ProfiledTable(table=without_nan(from_frame(data, missing=missing)))
    if data is None and "engine" not in reading:
        raise PlanError("there is nothing to look at: name a file, or --engine with --table or --query")
    stored = str(data).lower().endswith(SQLITE)
    seen = {} if data is None or stored or not Path(data).is_file() else found_reading(Path(data), reading)
    where = {} if data is None else {"path": str(data)}
    input_plan = decoded({**where, "missing": list(missing), **seen, **reading}, InputPlan, "input")
    plan = Plan(columns={}, privacy={}, input=input_plan)
    why = "" if plan.input.engine is not None else too_large(plan)
    if why is not None:
        return ProfiledEngine(inner=replace(planned_source(plan), note=why), reading=seen)
    if stored:
        return ProfiledTable(table=load_table(plan, None, str(data)), reading=seen)
    return ProfiledTable(table=without_nan(_read(str(data), missing, {**seen, **reading})), reading=seen)


def _read(path: str, missing: tuple[str, ...], options: Mapping[str, Any]) -> Table:
    """The table in a file; a refusal of lines of different lengths says what a file of sets would need."""
    try:
        return read_file(path, missing=missing, **options)
    except DataError as error:
        if "fields found" not in str(error):
            raise
        raise DataError(
            f"{error}. If each line lists the items of one person, write them into one column, split by |, under a "
            "header such as items"
        ) from None
