"""Tables as a plan reads them: from a frame, or from a file in any format of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundle.published import MARKERS
from sfumato.data.files import content, read, typed_frame
from sfumato.data.formats import FORMATS
from sfumato.data.frames import from_frame
from sfumato.data.table import TEXTS, Table
from sfumato.describe.hierarchy import TOP
from sfumato.ground.chance import Chance
from sfumato.ground.errors import DataError, PlanError, listed, unknown_column
from sfumato.group.cells import cells
from sfumato.group.classes import Classes
from sfumato.group.people import told_apart
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.dating import planned_dates
from sfumato.workflow.plan.plan import Plan


def read_file(path: str | Path, **options: Any) -> Table:
    """The table in a file, in a format of ours or of a plugin."""
    return read(path, formats=catalog().formats.values(), **options)


def load_table(plan: Plan, frame: object, path: str | None) -> Table:
    """The table of a frame, or of a file that is read as the plan says; dates are days, shifted where it says so."""
    return planned_dates(_loaded(plan, frame, path), plan)


def _loaded(plan: Plan, frame: object, path: str | None) -> Table:
    if frame is not None:
        return _without_nan(from_frame(frame, missing=plan.input.missing))
    if plan.input.engine is not None:
        raise PlanError(
            f"input.engine: rows stay in {plan.input.engine} for releases of tables by groups only; this reads single "
            "rows, so leave input.engine out and name a file that fits in memory"
        )
    if path is None:
        raise PlanError("input.path is missing; name the data file in the plan or with --input")
    source = plan.input
    found = read_file(
        plan.folder / path,
        delimiter=source.delimiter,
        quote=source.quote,
        encoding=source.encoding,
        header=source.header,
        names=source.names or None,
        missing=source.missing,
        trim=source.trim,
    )
    return _without_nan(found)


def whole_file(path: str | Path) -> Table:
    """The table in a file as a plan reads it that says nothing about the file."""
    return _without_nan(read_file(path))


def _without_nan(table: Table) -> Table:
    """A number that is none is a missing value, and zero has no sign."""
    reals = [name for name in table.names if table.frame[name].dtype.is_float()]
    zeros = [pl.when(pl.col(n) == 0).then(pl.col(n).abs()).otherwise(pl.col(n).fill_nan(None)).alias(n) for n in reals]
    return replace(table, frame=table.frame.with_columns(zeros))


def rows_or_none(plan: Plan, frame: object) -> Table:
    """The table of a frame, or of the file that the plan names, which may have no rows."""
    return _read(plan) if frame is None else load_table(plan, frame, None)


def _read(plan: Plan) -> Table:
    """The plan's table; one without rows is a table too, for a refusal would tell that nobody is in it."""
    try:
        return load_table(plan, None, plan.input.path)
    except DataError as error:
        if not any(said in str(error) for said in _NO_ROWS[: 1 if plan.input.header else None]):
            raise
        path = plan.folder / str(plan.input.path)
        return Table(frame=_header(plan, path), source=path.name, missing=plan.input.missing)


_NO_ROWS = ("but no rows", "the file is empty", "only blank lines")
"""What the reader says of a table without rows; the last two only where a file needs no header."""


def _header(plan: Plan, path: Path) -> pl.DataFrame:
    """No rows, under the names of the file, or of the plan where a file without rows has none."""
    source = plan.input
    data = content(path, where=str(path), empty=True)
    if data.startswith((b"PAR1", b"ARROW1")):
        kind = next(one for one in FORMATS if one.name == ("parquet" if data.startswith(b"PAR1") else "arrow"))
        return typed_frame(data, kind, names=source.names or None, trim=source.trim, where=str(path))
    names: Sequence[str] = source.names
    if not names and source.header:
        first = read_file(
            path,
            delimiter=source.delimiter,
            quote=source.quote,
            encoding=source.encoding,
            header=False,
            trim=source.trim,
        )
        names = [str(name) for name in first.frame.row(0)]
    return pl.DataFrame(schema=dict.fromkeys(names or plan.columns, pl.String))


def marked(table: Table, plan: Plan) -> Table:
    """Where there are nulls and no missing marker is declared, choose one that is no value of the table."""
    named = [name for name in plan.columns if name in table.names]
    if plan.input.missing or not any(table.frame[name].null_count() for name in named):
        return table
    texts = [table.frame[name].unique().cast(pl.String) for name in named if table.frame[name].dtype in TEXTS]
    free = [marker for marker in MARKERS if not any((cells == marker).any() for cells in texts)]
    if not free:
        raise DataError(
            f"{table.source} has nulls, and {listed(MARKERS)} are all values of it; declare in [input] missing how "
            "a missing value is to be written"
        )
    return replace(table, missing=(free[0],))


def bounded(table: Table, plan: Plan, *, most: int | None = None) -> Table:
    """At most ``rows_per_unit`` random rows of each person, or ``most``, where the plan tells people apart.

    This comes before anything is counted. Which rows of a person are kept depends on that person's rows alone, so that
    adding or removing all rows of one person changes at most so many of the rows that are left.
    """
    unit, many = plan.input.unit, plan.input.rows_per_unit if most is None else most
    if unit is None:
        return table
    if unit not in table.names:
        raise unknown_column(unit, table.names, where="input.unit")
    order = pl.Series(Chance().generator().permutation(table.rows).astype(np.int64))
    person = pl.Series(told_apart(table.column(unit, "text"))[0])
    rank = pl.DataFrame({"person": person, "order": order}).select(pl.col("order").rank("ordinal").over("person"))
    return replace(table, frame=table.frame.filter(rank["order"] <= many))


def classes(
    frame: object, *, quasi: Sequence[str], counted: Sequence[str] = (), missing: Sequence[str] = ()
) -> Classes:
    """Group a frame by its quasi-identifiers and count the sensitive or class columns in each group."""
    table = from_frame(frame, missing=tuple(missing))
    return cells([table.column(name) for name in quasi], [table.column(name) for name in counted], stars=TOP).classes
