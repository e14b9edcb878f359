"""The input of a plan: a table in memory, or a source of cells in an engine."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.bundles.columns import MARKERS
from sfumato.core.errors import DataError, PlanError, listed, unknown_column
from sfumato.core.input_files import PACKED
from sfumato.core.randomness import Chance
from sfumato.counts.classes import Classes, told_apart
from sfumato.counts.local_table import cells
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.dates import planned_dates
from sfumato.pipeline.plan.columns import refuse_dates
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import SQLITE
from sfumato.tables.files import content, format_of, read, typed_frame
from sfumato.tables.frames import from_frame
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import TEXTS, Table

if TYPE_CHECKING:
    from sqlglot import exp

    from sfumato.counts.engine_source import EngineSource
    from sfumato.tables.engines.statements import Engine


# Tables as a plan reads them: from a frame, or from a file in any format of the catalog.


def read_file(path: str | Path, **options: Any) -> Table:
    """The table in a file, in a format of ours or of a plugin."""
    return read(path, formats=catalog().formats.values(), **options)


def load_table(plan: Plan, frame: object, path: str | None) -> Table:
    """The table of a frame, or of a file that is read as the plan says; dates are days, shifted where it says so."""
    return planned_dates(_loaded(plan, frame, path), plan)


def _loaded(plan: Plan, frame: object, path: str | None) -> Table:
    if frame is not None:
        return without_nan(from_frame(frame, missing=plan.input.missing))
    if plan.input.engine is not None:
        raise PlanError(
            f"input.engine: rows stay in {plan.input.engine} for releases of tables by groups only; this reads single "
            "rows, so leave input.engine out and name a file that fits in memory"
        )
    if path is None:
        raise PlanError("input.path is missing; name the data file in the plan or with --input")
    source = plan.input
    if path.lower().endswith(SQLITE):
        return without_nan(_in_sqlite(plan, plan.folder / path))
    table = read_file(
        plan.folder / path,
        delimiter=source.delimiter,
        quote=source.quote,
        encoding=source.encoding,
        header=source.header,
        names=source.names or None,
        missing=source.missing,
        trim=source.trim,
        sheet=source.sheet,
        labels=source.labels,
    )
    return without_nan(table)


def _in_sqlite(plan: Plan, path: Path) -> Table:
    """The rows of a query or a table in a SQLite file."""
    from sfumato.tables.engines.query_frames import sqlite_frame

    input_plan = plan.input
    if input_plan.query is None and input_plan.table is None:
        raise PlanError('input.query or input.table is missing: a SQLite file has many tables; for example table = "t"')
    frame = sqlite_frame(path, query=input_plan.query, table=input_plan.table)
    return Table(frame=frame, source=path.name, missing=input_plan.missing)


def whole_file(path: str | Path) -> Table:
    """The table in a file as a plan reads it that says nothing about the file."""
    return without_nan(read_file(path))


def without_nan(table: Table) -> Table:
    """A number that is none is a missing value, and zero has no sign."""
    reals = [name for name in table.names if table.frame[name].dtype.is_float()]
    zeros = [pl.when(pl.col(n) == 0).then(pl.col(n).abs()).otherwise(pl.col(n).fill_nan(None)).alias(n) for n in reals]
    return replace(table, frame=table.frame.with_columns(zeros))


def rows_or_none(plan: Plan, frame: object) -> Table:
    """The table of a frame, or of the file that the plan names, which may have no rows."""
    return _read_plan_table(plan) if frame is None else load_table(plan, frame, None)


def _read_plan_table(plan: Plan) -> Table:
    """The plan's table; one without rows is a table too, for a refusal would tell that nobody is in it."""
    try:
        return load_table(plan, None, plan.input.path)
    except DataError as error:
        if not any(message in str(error) for message in _NO_ROWS[: 1 if plan.input.header else None]):
            raise
        path = plan.folder / str(plan.input.path)
        return Table(frame=_header(plan, path), source=path.name, missing=plan.input.missing)


_NO_ROWS = ("but no rows", "the file is empty", "only blank lines")
"""What the reader says of a table without rows; the last two only where a file needs no header."""

_MARKS = {b"PAR1": "parquet", b"ARROW1": "arrow"}
"""How files of two formats begin, whatever they are called."""


def _header(plan: Plan, path: Path) -> pl.DataFrame:
    """No rows, under the names of the file, or of the plan where a file without rows has none."""
    source = plan.input
    data = content(path, where=str(path), empty=True)
    named = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    kind = format_of(path, named, catalog().formats.values())
    if not kind.text:
        options = {"where": str(path), "names": source.names or None, "trim": source.trim, "sheet": source.sheet}
        return typed_frame(data, kind, {**options, "header": source.header, "labels": source.labels})
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


# From what a plan says about its input, or from a relation, to a source of cells in an engine.


def planned_source(plan: Plan, path: str | None = None) -> EngineSource:
    """The rows that a plan names, in the plan's engine; or those of another path, for the same columns."""
    if path is None and plan.input.engine == "postgresql":
        return _in_postgres(plan)
    if path is None and plan.input.engine == "spark":
        return _in_spark(plan)
    from sfumato.tables.engines.duckdb import DIALECT, DuckEngine

    input_plan = plan.input
    database = None if input_plan.database is None or path is not None else plan.folder / input_plan.database
    engine = DuckEngine.opened(database, memory=input_plan.memory)
    rows = _named(plan, DIALECT) if path is None else None
    return _engine_source(plan, engine, *(rows or _files(plan, path)))


def _in_postgres(plan: Plan) -> EngineSource:
    from sfumato.tables.engines.postgres import DIALECT, PostgresEngine, plain_rows

    rows, where = _named(plan, DIALECT) or _files(plan, None)
    engine = PostgresEngine.opened(_address(plan.input.connection))
    return _engine_source(plan, engine, plain_rows(engine, rows, where=where), where)


def _in_spark(plan: Plan) -> EngineSource:
    from sfumato.tables.engines.spark import DIALECT, SparkEngine, spark_files

    input_plan = plan.input
    rows = _named(plan, DIALECT)
    if rows is None and input_plan.path is None:
        raise PlanError("input.path is missing; name a folder of Parquet files, input.table or input.query")
    engine = SparkEngine.opened(None if input_plan.connection is None else _address(input_plan.connection))
    return _engine_source(
        plan, engine, *(rows or (spark_files(engine, plan.folder, str(input_plan.path)), str(input_plan.path)))
    )


def _address(variable: str | None) -> str:
    """What the environment variable of a plan holds."""
    value = os.environ.get(variable or "", "")
    if not value:
        raise PlanError(f"input.connection: the environment variable {variable} is not set; it holds the address")
    return value


def _named(plan: Plan, dialect: str) -> tuple[exp.Query, str] | None:
    """The rows of the plan's table or query as an expression, and what messages call them."""
    from sfumato.tables.engines.statements import query_rows, table_rows

    if plan.input.table is not None:
        return table_rows(plan.input.table), plan.input.table
    return None if plan.input.query is None else (query_rows(plan.input.query, dialect), "the query")


def _files(plan: Plan, path: str | None) -> tuple[exp.Query, str]:
    """The rows of files as an expression, and what messages call them."""
    from sfumato.tables.engines.duckdb import TextShape, file_rows

    input_plan, place = plan.input, path or plan.input.path
    if place is None:
        raise PlanError("input.path is missing; name a file, folder or pattern, or input.table with input.database")
    shape = TextShape(
        delimiter=input_plan.delimiter,
        quote=input_plan.quote,
        header=input_plan.header,
        names=input_plan.names,
        trim=input_plan.trim,
    )
    return file_rows(plan.folder / place, shape), place


def is_relation(frame: object) -> bool:
    """Whether a frame is a relation of DuckDB; DuckDB is not loaded for that."""
    kind = type(frame)
    return kind.__name__ == "DuckDBPyRelation" and kind.__module__.partition(".")[0] in ("duckdb", "_duckdb")


def is_spark(frame: object) -> bool:
    """Whether a frame is a data frame of Spark; Spark is not loaded for that."""
    return type(frame).__name__ == "DataFrame" and type(frame).__module__.partition(".")[0] == "pyspark"


def stays(plan: Plan, frame: object) -> bool:
    """Whether the rows of a frame stay in an engine: relations, frames of Spark, and lazy ones where a plan asks."""
    lazy = isinstance(frame, pl.LazyFrame) and (plan.input.engine == "duckdb" or plan.output_format == "parts")
    return is_relation(frame) or is_spark(frame) or lazy


def frame_source(plan: Plan, frame: Any) -> EngineSource:
    """The rows of a frame that stays in an engine."""
    if is_spark(frame):
        from sfumato.tables.engines.spark import SparkEngine, spark_frame

        engine = SparkEngine.of(frame.sparkSession)
        return _engine_source(plan, engine, spark_frame(engine, frame), "the spark frame")
    return _lazy_source(plan, frame) if isinstance(frame, pl.LazyFrame) else relation_source(plan, frame)


def _lazy_source(plan: Plan, frame: pl.LazyFrame) -> EngineSource:
    """The rows of a lazy frame: polars streams them into a file, which DuckDB counts."""
    from sfumato.tables.engines.duckdb import DuckEngine, parquet_rows

    engine = DuckEngine.opened(memory=plan.input.memory, what="a lazy frame that is larger than memory")
    file = Path(engine.folder) / "lazy.parquet"
    frame.sink_parquet(file)
    return _engine_source(plan, engine, parquet_rows([file]), "the polars frame")


def relation_source(plan: Plan, relation: object) -> EngineSource:
    """The rows of a relation, kept as they are now in a DuckDB of our own, on disk where memory ends."""
    from sfumato.tables.engines.duckdb import DuckEngine
    from sfumato.tables.engines.statements import named

    engine = DuckEngine.opened(memory=plan.input.memory)
    engine.keep("rows", relation)
    return _engine_source(plan, engine, named(["rows"]), "the duckdb relation")


def _engine_source(plan: Plan, engine: Engine, rows: exp.Query, source: str) -> EngineSource:
    from sfumato.counts.engine_source import EngineSource

    refuse_dates(plan.columns, "rows that stay in an engine")
    input_plan = plan.input
    engine_source = EngineSource.reading(
        engine, rows, names=input_plan.names, trim=input_plan.trim, missing=input_plan.missing, source=source
    )
    return engine_source.marked([name for name in plan.columns if name in engine_source.names], MARKERS)


# Which inputs go to DuckDB although the plan names no engine: those that would fill the memory, and many files.


SHARE = 0.1
"""A file of more bytes than this share of the machine's memory is not read into it: rows in memory are larger."""
_BY_CELLS = ("auto", "optimal", "greedy", "samarati", "incognito", "datafly", "k-optimize", "top-down", "bottom-up")
"""Algorithms that never ask for single rows."""
_READ = (".parquet", ".pq", ".csv", ".tsv")


def duckdb_reads(path: Path) -> bool:
    """Whether the name of a file says that DuckDB can read it: of compressed files only gzip."""
    return any(end.lower() in _READ for end in path.suffixes[-2:]) and path.suffix.lower() not in PACKED[1:]


def too_large(plan: Plan, memory: int | None = None) -> str | None:
    """Why the plan's input goes to DuckDB, for the steward; None where it is read into memory."""
    input_plan = plan.input
    other_options = (
        input_plan.engine,
        input_plan.unit,
        input_plan.population,
        input_plan.weight,
        input_plan.query,
        input_plan.table,
        input_plan.sheet,
    )
    if input_plan.path is None or any(option is not None for option in other_options):
        return None
    if any(column.format or column.shift for column in plan.columns.values()):
        return None
    if plan.algorithm.name not in _BY_CELLS or input_plan.encoding.lower() not in ("utf-8", "utf8"):
        return None
    path = plan.folder / input_plan.path
    if path.is_file():
        size, most = path.stat().st_size, (memory or _memory()) * SHARE
        if size <= most or not duckdb_reads(path) or find_spec("duckdb") is None:
            return None
        return _told(plan, f"{input_plan.path} has {size / 1e6:,.0f} MB, more than {SHARE:.0%} of the memory")
    if path.is_dir() or any(Path(name).is_file() for name in glob.iglob(str(path), recursive=True)):
        return _told(plan, f"{input_plan.path} stands for many files")
    return None


def _told(plan: Plan, why: str) -> str:
    more = "" if plan.output_format == "parts" else '; with [output] format = "parts" released rows stay in files too'
    return f'{why}: DuckDB counts them where they are, as [input] engine = "duckdb" would say{more}'


def _memory() -> int:
    """The machine's memory in bytes; so much that nothing is too large where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**62
