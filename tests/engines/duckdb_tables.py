"""Tables put into DuckDB for tests, and every statement that DuckDB is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sfumato.data.table import Table
from sfumato.engines.duckdb_engine import DuckEngine
from sfumato.engines.engine_source import EngineSource
from sfumato.engines.statements import named


def in_duckdb(table: Table, *, name: str = "people") -> EngineSource:
    """A table as a source in a DuckDB of its own."""
    engine = DuckEngine.opened()
    engine.keep(name, typed(table.frame))
    return EngineSource.reading(engine, named([name]), missing=table.missing)


def typed(frame: pl.DataFrame) -> pl.DataFrame:
    """A column of nothing but nulls is one of texts: an engine has no type of its own for it."""
    return frame.with_columns(pl.col(pl.Null).cast(pl.String))


@dataclass
class Recorded:
    """A connection that writes down what it is asked."""

    connection: Any
    statements: list[str] = field(default_factory=list)

    def sql(self, text: str) -> Any:
        self.statements.append(text)
        return self.connection.sql(text)

    def execute(self, text: str) -> Any:
        self.statements.append(text)
        return self.connection.execute(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)
