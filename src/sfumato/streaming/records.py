"""The columns of a stream, found from its first block, and its lines read as numbers and words."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.condensation import decimals_of
from sfumato.bundles.manifest.sections import CONDENSED_EPOCH
from sfumato.core.errors import DataError, PlanError, unknown_column, visible
from sfumato.streaming.condenser import Records
from sfumato.streaming.lines import Lines
from sfumato.tables.csv_files import MARKED, Dialect, first_record, heading, refuse_undivided, sniff
from sfumato.tables.table import Kind, infer_kind, is_readable, numbers_of

# Lines become numbers and words; the first line that is no record of the stream is told with its place.
#
# How lines are divided and what the columns are is found out once, from the header and the first block, and kept: a
# later line must fit. Plain lines are read by the engine; lines with quotes, and those in which something is wrong,
# one by one.


_WHOLE = 2.0**53
_LARGE = 1e150
"""Numbers from here on cannot be multiplied with each other."""
_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamColumn:
    """A published column."""

    name: str
    """Its name."""
    kind: Kind
    """How its cells are read: integer, real, date, or text that is dealt out."""
    decimals: int | None = None
    """With how many decimals drawn numbers are written; None: with all."""

    @property
    def drawn(self) -> bool:
        """Whether it has numbers."""
        return self.kind in ("integer", "real", "date")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first record that cannot be taken."""

    row: int
    """Its place among the lines that were read, from 0 on."""
    told: str
    """What is wrong, and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the lines of a stream are read."""

    names: tuple[str, ...]
    """All columns, as the header names them."""
    delimiter: str
    """What stands between two fields."""
    quote: str
    """What a field with delimiters in it is wrapped in."""
    trim: bool
    """Whether blanks around a field are dropped."""
    columns: tuple[StreamColumn, ...]
    """The published columns, in the order of the header."""
    missing: tuple[str, ...]
    """The texts that mean a missing value."""
    drop: bool
    """Whether records with a missing value in a published column are left out."""
    classes: str | None = None
    """The column that tells classes, where they are condensed apart."""

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Reading:
        """From a checkpoint."""
        columns = tuple(StreamColumn(**column) for column in document["columns"])
        return cls(
            **{**document, "names": tuple(document["names"]), "missing": tuple(document["missing"]), "columns": columns}
        )

    @property
    def drawn(self) -> tuple[StreamColumn, ...]:
        """The columns of numbers."""
        return tuple(column for column in self.columns if column.drawn)

    @property
    def worded(self) -> tuple[str, ...]:
        """The columns of words."""
        return tuple(column.name for column in self.columns if not column.drawn)

    def read(self, lines: Lines) -> tuple[pl.DataFrame, Fault | None]:
        """The published columns of the lines before the first fault, numbers as numbers, and that fault.

        A missing number is null; every missing word is the first missing text.
        """
        frame = self._plain(lines)
        if frame is not None:
            return frame, None
        return self._one_by_one(lines)

    def records(self, frame: pl.DataFrame) -> tuple[Records, int]:
        """The records of some lines, and how many were left out because of a missing value."""
        whole = frame
        if self.drop:
            absent = pl.any_horizontal([self._absent(column) for column in self.columns])
            whole = frame.filter(~absent)
        numbers = np.empty((whole.height, len(self.drawn)))
        for place, column in enumerate(self.drawn):
            numbers[:, place] = whole[column.name].to_numpy()
        words = {name: whole[name] for name in self.worded}
        classes = None if self.classes is None else whole[self.classes].cast(pl.String)
        return Records(numbers=numbers, words=words, classes=classes), frame.height - whole.height

    def _absent(self, column: StreamColumn) -> pl.Expr:
        if column.drawn or not self.missing:
            return pl.col(column.name).is_null()
        return pl.col(column.name) == self.missing[0]

    def _plain(self, lines: Lines) -> pl.DataFrame | None:
        """The columns of lines without quotes, blanks to be cut and faults; None for all others."""
        data = lines.data
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        width, mark = len(self.names), self.delimiter.encode()
        if self.trim or self.quote.encode() in data or b"\r" in data or width < 2:
            return None
        if data.count(mark) != lines.count * (width - 1):
            return None
        places = {column.name: f"{self.names.index(column.name)}" for column in self.columns}
        types: dict[str, pl.DataType] = {f"{at}": pl.String() for at in range(width)}
        for column in self.columns:
            if column.kind in ("integer", "real"):
                types[places[column.name]] = pl.Int64() if column.kind == "integer" else pl.Float64()
        try:
            raw_frame = pl.read_csv(
                data, has_header=False, separator=self.delimiter, quote_char=None, schema=types,
                columns=[int(at) for at in places.values()], null_values=self._nulls(places),
            )  # fmt: skip
        except pl.exceptions.PolarsError:
            return None
        if raw_frame.height != lines.count or raw_frame.width != len(places):
            return None
        frame = raw_frame.select(raw_frame[at].alias(name) for name, at in places.items())
        absent = {
            column.name: self._without_date(frame[column.name]) for column in self.columns if column.kind == "date"
        }
        frame = frame.with_columns(self._number(column) for column in self.columns)
        if any(frame[name].null_count() > many for name, many in absent.items()):
            return None  # a text that is no date is not missing
        return None if self._first_fault(frame) is not None else frame

    def _number(self, column: StreamColumn) -> pl.Expr:
        cells = pl.col(column.name)
        if column.kind == "date":
            return cells.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64) + float(CONDENSED_EPOCH)
        if column.drawn:
            return cells.cast(pl.Float64)
        whole = cells.fill_null("")
        marks = list(self.missing)
        return (
            pl.when(whole.is_in(marks)).then(pl.lit(marks[0])).otherwise(whole).alias(column.name) if marks else whole
        )

    def _without_date(self, cells: pl.Series) -> int:
        """How many cells of a column of dates are empty or missing."""
        return int(cells.fill_null("").is_in(["", *self.missing]).sum())

    def _nulls(self, places: Mapping[str, str]) -> Any:
        """The missing texts of number columns, as far as the engine can be told them; others are read one by one."""
        if self.missing and not self.worded:
            return list(self.missing)
        return {places[column.name]: self.missing[0] for column in self.drawn} if len(self.missing) == 1 else None

    def _first_fault(self, frame: pl.DataFrame) -> int | None:
        """The first row with a number that is none; a missing one is a fault too where none may be left out."""
        bad: NDArray[np.bool_] = np.zeros(frame.height, np.bool_)
        for column in self.drawn:
            cells = frame[column.name]
            numbers = cells.to_numpy()
            limit = _WHOLE if column.kind == "integer" else _LARGE
            wrong = ~(np.abs(numbers) <= limit)  # a null is NaN here
            if self.drop and cells.null_count():
                wrong &= ~cells.is_null().to_numpy()
            bad |= wrong
        return int(np.argmax(bad)) if bad.any() else None

    def _one_by_one(self, lines: Lines) -> tuple[pl.DataFrame, Fault | None]:
        """The columns of any lines, read as texts first, with what is wrong with the first that cannot be taken."""
        rows, fault = self._fields(lines)
        texts = {column.name: self.names.index(column.name) for column in self.columns}
        frame = pl.DataFrame(
            {name: pl.Series([row[at] for row in rows], dtype=pl.String) for name, at in texts.items()}
        )
        marks = list(self.missing)
        read, first = [], len(rows)
        for column in self.columns:
            cells = frame[column.name]
            absent = cells.is_in(marks) if marks else pl.Series([False]).new_from_index(0, len(cells))
            if not column.drawn:
                read.append(cells.zip_with(~absent, pl.Series(marks[:1] or [""], dtype=pl.String)).alias(column.name))
                continue
            absent |= cells == ""
            numbers = _as_numbers(cells, column.kind)
            good = (numbers.abs() <= (_WHOLE if column.kind == "integer" else _LARGE)).fill_null(value=False)
            wrong = (~good & ~(absent if self.drop else pl.Series([False]).new_from_index(0, len(cells)))).arg_true()
            if len(wrong) and int(wrong[0]) < first:
                first = int(wrong[0])
                message = _told(column, cells[first], missing=bool(absent[first]), drop=self.drop)
                fault = Fault(row=first, told=message)
            read.append(numbers.alias(column.name))
        return pl.DataFrame(read).head(first), fault

    def _fields(self, lines: Lines) -> tuple[list[list[str]], Fault | None]:
        """The fields of every line up to the first that is not valid text or has another number of them."""
        rows: list[list[str]] = []
        dialect = Dialect(delimiter=self.delimiter, quote=self.quote, trim=self.trim)
        for row in range(lines.count):
            line = lines.part(row, row + 1)
            try:
                text = line.decode().rstrip("\r\n")
                values = next(iter(dialect.records(text, strict=True)), [])
            except UnicodeDecodeError:
                return rows, Fault(row=row, told="the line is not valid UTF-8; write the stream so")
            except csv.Error:
                message = f"the line cannot be divided ({_short(text)}); a record is one line, quotes are closed in it"
                return rows, Fault(row=row, told=message)
            if len(values) != len(self.names) and not (not values and len(self.names) == 1):
                message = f"the line has {len(values)} fields ({_short(text)}), and the header has {len(self.names)}"
                return rows, Fault(row=row, told=f"{message}; mend the line, or leave it out")
            fields = values or [""]
            rows.append([field.strip() for field in fields] if self.trim else fields)
        return rows, None


def _as_numbers(cells: pl.Series, kind: Kind) -> pl.Series:
    """Texts as numbers, dates as day numbers; null where a text is none."""
    if kind == "date":
        return cells.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64) + float(CONDENSED_EPOCH)
    if kind == "integer":
        return cells.cast(pl.Int64, strict=False).cast(pl.Float64)
    numbers = cells.cast(pl.Float64, strict=False)
    return numbers.fill_nan(None)


def _told(column: StreamColumn, text: Any, *, missing: bool, drop: bool) -> str:
    wanted = {"integer": "a whole number", "real": "a number", "date": "a date such as 2026-01-31"}[column.kind]
    if missing and not drop:
        return (
            f"column {column.name!r} has no number, and condensation needs one in every record; set [input] "
            'on_missing = "drop" to leave such records out, or type = "category" to deal the values out'
        )
    also = '; a column with other numbers is declared type = "real"' if column.kind == "integer" else ""
    return f"column {column.name!r} has {_short(str(text))}, and {wanted} is needed that can be counted with{also}"


def _short(text: str) -> str:
    printable = visible(text)
    return repr(printable if len(printable) <= _SHOWN else printable[: _SHOWN - 3] + "...")


# What the columns of a stream are: found out from its header and its first block, and kept for all that follows.


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a plan says about the lines of a stream."""

    published: Mapping[str, str | None]
    """The published columns, with their declared types."""
    named: tuple[str, ...]
    """All columns that the plan names."""
    delimiter: str | None
    """What stands between two fields; found out when absent."""
    quote: str
    """What a field with delimiters in it is wrapped in."""
    trim: bool
    """Whether blanks around a field are dropped."""
    header: bool
    """Whether the first line names the columns."""
    names: tuple[str, ...]
    """The columns' names where there is no header, or instead of its own."""
    missing: tuple[str, ...]
    """The texts that mean a missing value."""
    drop: bool
    """Whether records with a missing value are left out."""
    classes: str | None
    """The column that tells classes, where they are condensed apart."""

    def look(self, header: bytes, lines: Lines, *, where: str) -> tuple[Reading, Fault | None]:
        """How the lines are read, by the header (empty where there is none) and the first block."""
        head = header or lines.part(0, 1)
        try:
            text = (head.removeprefix(MARKED) + lines.part(0, min(lines.count, 20))).decode()
        except UnicodeDecodeError:
            raise DataError(f"{where}: the stream is not valid UTF-8; write it so") from None
        mark = self.delimiter or sniff(text, quote=self.quote)
        dialect = Dialect(delimiter=mark, quote=self.quote, trim=self.trim)
        refuse_undivided(text, dialect, where=where)
        first = first_record(text, dialect, where=where)
        names = heading(first, header=self.header, names=self.names or None, trim=self.trim, where=where)
        for name in self.named:
            if name not in names:
                raise unknown_column(name, names, where=f"columns.{name}")
        texts = Reading(
            names=tuple(names),
            delimiter=mark,
            quote=self.quote,
            trim=self.trim,
            columns=tuple(StreamColumn(name=name, kind="text") for name in names if name in self.published),
            missing=self.missing,
            drop=self.drop,
            classes=self.classes,
        )
        frame, fault = texts.read(lines)
        columns = []
        for text_column in texts.columns:
            column, odd = self._column(text_column.name, frame[text_column.name])
            columns.append(column)
            if odd is not None and (fault is None or odd.row < fault.row):
                fault = odd
        if fault is None:
            _refuse_none(columns)
        return replace(texts, columns=tuple(columns)), fault

    def _column(self, name: str, cells: pl.Series) -> tuple[StreamColumn, Fault | None]:
        """A column by its declared type or by its cells; one that is nearly one of numbers is a fault."""
        declared = self.published[name]
        there = cells.filter(~cells.is_in([*self.missing, ""]))
        texts = there.unique().to_list()
        kind: Kind = declared or infer_kind(texts, pl.String())  # type: ignore[assignment]
        if kind in ("text", "category"):
            return StreamColumn(name=name, kind="text"), None if declared else _nearly_numbers(name, cells, there)
        good = [text for text in texts if is_readable(text, kind)]
        decimals = decimals_of(numbers_of(name, good, kind)) if kind == "real" else 0
        return StreamColumn(name=name, kind=kind, decimals=decimals), None


def _nearly_numbers(name: str, cells: pl.Series, there: pl.Series) -> Fault | None:
    """A column that nobody declared and of which most records have numbers: the first that has none is a fault."""
    good = [text for text in there.unique().to_list() if is_readable(text, "real")]
    numbers = there.is_in(good)
    if not good or 2 * int(numbers.sum()) <= len(there):
        return None
    odd = there.filter(~numbers)[0]
    row = int((cells == odd).arg_true()[0])
    message = (
        f"column {name!r} has {odd!r}, and most records have a number there; declare its type: "
        f'"integer" or "real" where it is to be drawn, "category" where it is to be dealt out'
    )
    return Fault(row=row, told=message)


def _refuse_none(columns: list[StreamColumn]) -> None:
    if not any(column.drawn for column in columns):
        raise PlanError(
            "columns: no published column has numbers, and condensation needs one at least; declare "
            'type = "integer" or "real" where a column is a number'
        )
