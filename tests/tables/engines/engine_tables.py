"""Tables put into engines for tests, and every statement that DuckDB is given."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

from sfumato.counts.engine_source import EngineSource
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.tables.engines.statements import ArrowStream, named, quoted
from sfumato.tables.table import Table

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What Java is told so that Spark is quick on small tables: compile for a short run, one thread for old objects."""


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


def in_spark(session: Any, table: Table) -> EngineSource:
    """A table as a source in Spark."""
    from sfumato.tables.engines.spark import SparkEngine

    engine = SparkEngine.of(session)
    engine.lend("people", typed(table.frame))
    return EngineSource.reading(engine, named(["people"]), missing=table.missing)


@cache
def _owning(address: str) -> Any:
    import adbc_driver_postgresql.dbapi as driver

    return driver.connect(address, autocommit=True)


@contextmanager
def owner(address: str) -> Iterator[Any]:
    """Somebody who may change tables; one connection for all, because each takes long to open."""
    with _owning(address).cursor() as cursor:
        yield cursor


def without_owner(address: str) -> None:
    """Close the connection of the owner, before the server stops."""
    _owning(address).close()
    _owning.cache_clear()


_PUT: set[tuple[str, str]] = set()
"""Tables that were put somewhere, by address and name."""


def in_postgres(address: str, table: Table, *, name: str = "people") -> EngineSource:
    """A table as a source in PostgreSQL."""
    from sfumato.tables.engines.postgres import PostgresEngine, plain_rows

    with owner(address) as cursor:
        if (address, name) in _PUT:
            gc.collect()  # an engine that nobody uses any more lets go of its snapshot, and so of the table
            cursor.execute(f"DROP TABLE {quoted(name).sql(dialect='postgres')}")
        _PUT.add((address, name))
        cursor.adbc_ingest(name, ArrowStream(typed(table.frame)), mode="create")
        for column, dtype in table.frame.schema.items():
            if isinstance(dtype, pl.Decimal):  # ADBC makes a column of any digits
                spoken = f"ALTER TABLE {{}} ALTER COLUMN {{}} TYPE numeric({dtype.precision}, {dtype.scale})"
                cursor.execute(spoken.format(*(quoted(one).sql(dialect="postgres") for one in (name, column))))
    engine = PostgresEngine.opened(address)
    rows = plain_rows(engine, named([name]), where=name)
    return EngineSource.reading(engine, rows, missing=table.missing)
