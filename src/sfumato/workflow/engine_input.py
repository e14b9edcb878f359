"""From what a plan says about its input, or from a relation, to a source of cells in an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.bundle.published import MARKERS
from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sqlglot import exp

    from sfumato.engines.duckdb_engine import DuckEngine
    from sfumato.engines.engine_source import EngineSource


def planned_source(plan: Plan, path: str | None = None) -> EngineSource:
    """The rows that a plan names, in the plan's engine; or those of another path, for the same columns."""
    from sfumato.engines.duckdb_engine import DuckEngine

    said = plan.input
    database = None if said.database is None or path is not None else plan.folder / said.database
    engine = DuckEngine.opened(database, memory=said.memory)
    return _read(plan, engine, *_rows(plan, path))


def _rows(plan: Plan, path: str | None) -> tuple[exp.Query, str]:
    """The rows as an expression, and what messages call them."""
    from sfumato.engines.duckdb_files import TextShape, file_rows, query_rows, table_rows

    said = plan.input
    if path is None and said.table is not None:
        return table_rows(said.table), said.table
    if path is None and said.query is not None:
        return query_rows(said.query), "the query"
    place = path or said.path
    if place is None:
        raise PlanError("input.path is missing; name a file, folder or pattern, or input.table with input.database")
    shape = TextShape(delimiter=said.delimiter, quote=said.quote, header=said.header, names=said.names, trim=said.trim)
    return file_rows(plan.folder / place, shape), place


def is_relation(frame: object) -> bool:
    """Whether a frame is a relation of DuckDB; DuckDB is not loaded for that."""
    kind = type(frame)
    return kind.__name__ == "DuckDBPyRelation" and kind.__module__.partition(".")[0] in ("duckdb", "_duckdb")


def relation_source(plan: Plan, relation: object) -> EngineSource:
    """The rows of a relation, kept as they are now in a DuckDB of our own, on disk where memory ends."""
    from sfumato.engines.duckdb_engine import DuckEngine
    from sfumato.engines.statements import named

    engine = DuckEngine.opened(memory=plan.input.memory)
    engine.keep("rows", relation)
    return _read(plan, engine, named(["rows"]), "the duckdb relation")


def _read(plan: Plan, engine: DuckEngine, rows: exp.Query, source: str) -> EngineSource:
    from sfumato.engines.engine_source import EngineSource

    said = plan.input
    found = EngineSource.reading(engine, rows, names=said.names, trim=said.trim, missing=said.missing, source=source)
    return found.marked([name for name in plan.columns if name in found.names], MARKERS)
