"""From what a plan says about its input, or from a relation, to a source of cells in an engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.published import MARKERS
from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.date_plan import refuse_dates
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sqlglot import exp

    from sfumato.engines.engine import Engine
    from sfumato.engines.engine_source import EngineSource


def planned_source(plan: Plan, path: str | None = None) -> EngineSource:
    """The rows that a plan names, in the plan's engine; or those of another path, for the same columns."""
    if path is None and plan.input.engine == "postgresql":
        return _in_postgres(plan)
    if path is None and plan.input.engine == "spark":
        return _in_spark(plan)
    from sfumato.engines.duckdb_engine import DIALECT, DuckEngine

    said = plan.input
    database = None if said.database is None or path is not None else plan.folder / said.database
    engine = DuckEngine.opened(database, memory=said.memory)
    rows = _named(plan, DIALECT) if path is None else None
    return _read(plan, engine, *(rows or _files(plan, path)))


def _in_postgres(plan: Plan) -> EngineSource:
    from sfumato.engines.postgres_engine import DIALECT, PostgresEngine
    from sfumato.engines.postgres_tables import plain_rows

    rows, where = _named(plan, DIALECT) or _files(plan, None)
    engine = PostgresEngine.opened(_address(plan.input.connection))
    return _read(plan, engine, plain_rows(engine, rows, where=where), where)


def _in_spark(plan: Plan) -> EngineSource:
    from sfumato.engines.spark_engine import DIALECT, SparkEngine
    from sfumato.engines.spark_tables import spark_files

    said = plan.input
    rows = _named(plan, DIALECT)
    if rows is None and said.path is None:
        raise PlanError("input.path is missing; name a folder of Parquet files, input.table or input.query")
    engine = SparkEngine.opened(None if said.connection is None else _address(said.connection))
    return _read(plan, engine, *(rows or (spark_files(engine, plan.folder, str(said.path)), str(said.path))))


def _address(variable: str | None) -> str:
    """What the environment variable of a plan holds."""
    found = os.environ.get(variable or "", "")
    if not found:
        raise PlanError(f"input.connection: the environment variable {variable} is not set; it holds the address")
    return found


def _named(plan: Plan, dialect: str) -> tuple[exp.Query, str] | None:
    """The rows of the plan's table or query as an expression, and what messages call them."""
    from sfumato.engines.named_rows import query_rows, table_rows

    if plan.input.table is not None:
        return table_rows(plan.input.table), plan.input.table
    return None if plan.input.query is None else (query_rows(plan.input.query, dialect), "the query")


def _files(plan: Plan, path: str | None) -> tuple[exp.Query, str]:
    """The rows of files as an expression, and what messages call them."""
    from sfumato.engines.duckdb_files import TextShape, file_rows

    said, place = plan.input, path or plan.input.path
    if place is None:
        raise PlanError("input.path is missing; name a file, folder or pattern, or input.table with input.database")
    shape = TextShape(delimiter=said.delimiter, quote=said.quote, header=said.header, names=said.names, trim=said.trim)
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
        from sfumato.engines.spark_engine import SparkEngine
        from sfumato.engines.spark_tables import spark_frame

        engine = SparkEngine.of(frame.sparkSession)
        return _read(plan, engine, spark_frame(engine, frame), "the spark frame")
    return _lazy_source(plan, frame) if isinstance(frame, pl.LazyFrame) else relation_source(plan, frame)


def _lazy_source(plan: Plan, frame: pl.LazyFrame) -> EngineSource:
    """The rows of a lazy frame: polars streams them into a file, which DuckDB counts."""
    from sfumato.engines.duckdb_engine import DuckEngine
    from sfumato.engines.duckdb_files import parquet_rows

    engine = DuckEngine.opened(memory=plan.input.memory, what="a lazy frame that is larger than memory")
    file = Path(engine.folder) / "lazy.parquet"
    frame.sink_parquet(file)
    return _read(plan, engine, parquet_rows([file]), "the polars frame")


def relation_source(plan: Plan, relation: object) -> EngineSource:
    """The rows of a relation, kept as they are now in a DuckDB of our own, on disk where memory ends."""
    from sfumato.engines.duckdb_engine import DuckEngine
    from sfumato.engines.statements import named

    engine = DuckEngine.opened(memory=plan.input.memory)
    engine.keep("rows", relation)
    return _read(plan, engine, named(["rows"]), "the duckdb relation")


def _read(plan: Plan, engine: Engine, rows: exp.Query, source: str) -> EngineSource:
    from sfumato.engines.engine_source import EngineSource

    refuse_dates(plan.columns, "rows that stay in an engine")
    said = plan.input
    found = EngineSource.reading(engine, rows, names=said.names, trim=said.trim, missing=said.missing, source=source)
    return found.marked([name for name in plan.columns if name in found.names], MARKERS)
