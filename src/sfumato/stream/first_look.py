"""What the columns of a stream are: found out from its header and its first block, and kept for all that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from sfumato.data.csv_files import MARKED, heading
from sfumato.data.csv_shape import Dialect, first_record, refuse_undivided, sniff
from sfumato.data.kinds import infer_kind, is_readable, numbers_of
from sfumato.data.table import Kind
from sfumato.ground.errors import DataError, PlanError, unknown_column
from sfumato.publish.condensation.drawing_rows import decimals_of
from sfumato.stream.line_blocks import Lines
from sfumato.stream.record_cells import Fault, Reading, StreamColumn


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
        for one in texts.columns:
            column, odd = self._column(one.name, frame[one.name])
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
    told = (
        f"column {name!r} has {odd!r}, and most records have a number there; declare its type: "
        f'"integer" or "real" where it is to be drawn, "category" where it is to be dealt out'
    )
    return Fault(row=row, told=told)


def _refuse_none(columns: list[StreamColumn]) -> None:
    if not any(one.drawn for one in columns):
        raise PlanError(
            "columns: no published column has numbers, and condensation needs one at least; declare "
            'type = "integer" or "real" where a column is a number'
        )
