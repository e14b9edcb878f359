"""PostgreSQL as an engine, by ADBC, in read-only transactions."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

import polars as pl
from sqlglot import exp

from sfumato.core.errors import DataError
from sfumato.core.extras import extra
from sfumato.tables.engines.statements import BATCH, ROWS, ArrowStream, Engine, cell, quoted
from sfumato.tables.table import checked_names

# PostgreSQL as an engine, by ADBC: every question sees one snapshot, in a transaction that can change nothing.
#
# The first connection opens a read-only transaction and shares its snapshot. Lent tables are temporary ones of a
# second connection, whose transaction takes the same snapshot, and is made read-only before it is asked anything.


DIALECT = "postgres"
_COPY = "adbc.postgresql.use_copy"
_WHAT = 'engine = "postgresql"'
_JOINS = ("enable_nestloop = off", "enable_mergejoin = off", "join_collapse_limit = 1", "from_collapse_limit = 1")
"""Every row is looked up in lent tables: by hash, and in the cells last, when all their codes are known."""


@dataclass(slots=True, eq=False, repr=False, weakref_slot=True)
class PostgresEngine:
    """Two connections to one PostgreSQL server, which see the same rows whatever others write."""

    connect: Callable[[], Any]
    """Opens a connection."""
    reader: Any
    """The connection that keeps the snapshot."""
    snapshot: str
    """What PostgreSQL calls the snapshot."""
    name: ClassVar[str] = "postgresql"
    _opened: list[Any] = field(default_factory=list)
    _lent: dict[str, pl.DataFrame] = field(default_factory=dict)
    """Every lent table."""
    _there: set[str] = field(default_factory=set)
    """Those that the second connection has in its transaction; once it was asked, it is read-only."""

    @classmethod
    def opened(cls, address: str) -> PostgresEngine:
        """A server by its address, such as ``postgresql://user@host/database``; it is never shown."""
        driver = extra("adbc_driver_postgresql.dbapi", _WHAT)

        def connect() -> Any:
            try:
                return driver.connect(address, autocommit=True)
            except driver.Error as fault:
                raise DataError(f"PostgreSQL cannot be reached: {without_secrets(_told(fault), address)}") from None

        reader = connect()
        try:
            _run(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            snapshot = str(_answer(reader, "SELECT pg_export_snapshot() AS n")["n"][0])
        except driver.Error as fault:
            reader.close()
            raise DataError(f"PostgreSQL keeps no snapshot: {without_secrets(_told(fault), address)}") from None
        engine = cls(connect=connect, reader=reader, snapshot=snapshot, _opened=[reader])
        weakref.finalize(engine, _close, engine._opened)
        return engine

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives."""
        rows: pl.DataFrame = self._tried(lambda: _answer(self._asked(statement), written(statement)))
        return rows

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """A temporary table that only our second connection sees, from the next question that names it."""
        self._lent[name] = frame
        self._there.discard(name)

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows in files of a million, fetched one after the other."""
        self._tried(lambda: self._fetch(statement, folder))

    def _asked(self, statement: exp.Query) -> Any:
        """The connection that is asked: one that has the lent tables that a statement names."""
        named = {table.name for table in statement.find_all(exp.Table)} & self._lent.keys()
        if not named <= self._there:
            self._there = set()
            lender = self._begun()
            for name in sorted(named):
                with lender.cursor() as cursor:
                    cursor.adbc_ingest(name, ArrowStream(self._lent[name]), mode="create", temporary=True)
                _run(lender, f"ANALYZE {exp.to_identifier(name, quoted=True).sql(dialect=DIALECT)}")
            _run(lender, "SET TRANSACTION READ ONLY")
            self._there = named
        return self._opened[-1]

    def _begun(self) -> Any:
        """The second connection at the beginning of a transaction that sees the same snapshot."""
        if len(self._opened) < 2:
            self._opened.append(self.connect())
        lender = self._opened[1]
        _run(lender, "ROLLBACK")
        _run(lender, "BEGIN ISOLATION LEVEL REPEATABLE READ")
        _run(lender, f"SET TRANSACTION SNAPSHOT {exp.Literal.string(self.snapshot).sql(dialect=DIALECT)}")
        for setting in _JOINS:
            _run(lender, f"SET LOCAL {setting}")
        return lender

    def _fetch(self, statement: exp.Query, folder: Path) -> None:
        connection = self._asked(statement)
        _run(connection, "SET LOCAL cursor_tuple_fraction = 1")  # all rows are fetched, not the first ones
        _run(connection, f"DECLARE sfumato NO SCROLL CURSOR FOR {written(statement)}")
        place, more = 0, True
        while more:
            rows = _answer(connection, f"FETCH {BATCH} FROM sfumato", copy=False)
            rows.write_parquet(folder / f"rows-{place:05}.parquet")
            place, more = place + 1, rows.height == BATCH
        _run(connection, "CLOSE sfumato")

    def _tried(self, done: Callable[[], Any]) -> Any:
        driver = extra("adbc_driver_postgresql.dbapi", _WHAT)
        try:
            return done()
        except (driver.Error, pl.exceptions.PolarsError) as fault:
            raise DataError(f"PostgreSQL cannot answer: {_told(fault)}") from None


def written(statement: exp.Query) -> str:
    """A statement as PostgreSQL reads it, which has a number that is none, and no function that asks for it."""
    none = exp.cast(exp.Literal.string("NaN"), "double")
    plain = statement.transform(lambda node: node.this.eq(none.copy()) if isinstance(node, exp.IsNan) else node)
    return str(plain.sql(dialect=DIALECT, identify=True, comments=False))


def without_secrets(message: str, address: str) -> str:
    """What a driver says, without an address and its password."""
    try:
        password = urlsplit(address).password
    except ValueError:
        password = None
    for secret in (address, password, None if password is None else unquote(password)):
        message = message.replace(secret, "***") if secret else message
    return re.sub(r"password=\S+", "password=***", message)


def _run(connection: Any, command: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(command)


def _answer(connection: Any, question: str, *, copy: bool = True) -> pl.DataFrame:
    """The rows of a question; ADBC lets PostgreSQL prepare it, which refuses more than one statement."""
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{_COPY: "true" if copy else "false"})
        cursor.execute(question)
        return pl.DataFrame(ArrowStream(cursor.fetch_arrow()))


def _told(fault: BaseException) -> str:
    """What PostgreSQL says, in one line."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    error_line = next((line for line in lines if "ERROR:" in line or "FATAL:" in line), lines[0] if lines else "")
    return re.split(r"(?:ERROR|FATAL):\s*", error_line)[-1] or type(fault).__name__


def _close(opened: list[Any]) -> None:
    for connection in opened:
        connection.close()


# What PostgreSQL reads for a plan: a table or a query, every column as a type that comes through unharmed.


_PLAIN = frozenset(
    (
        "smallint",
        "integer",
        "bigint",
        "real",
        "double precision",
        "boolean",
        "date",
        "text",
        "timestamp without time zone",
        "timestamp with time zone",
    )
)
"""Types that come as they are; of every other type, the text comes that PostgreSQL writes."""


def plain_rows(engine: Engine, rows: exp.Query, *, where: str) -> exp.Select:
    """The rows with texts for cells of types that only PostgreSQL knows: numeric, uuid, enumerations, intervals ..."""
    names = checked_names(_names(engine, rows), where=where)
    kinds = [exp.cast(exp.Anonymous(this="PG_TYPEOF", expressions=[cell(name)]), "text") for name in names]
    query = exp.select(*(kind.as_(quoted(f"c{place}")) for place, kind in enumerate(kinds)))
    types = engine.ask(_nobody(query, rows)).row(0)
    read = [
        cell(name) if kind in _PLAIN else exp.cast(cell(name), "text").as_(quoted(name))
        for name, kind in zip(names, types, strict=True)
    ]
    return exp.select(*read).from_(rows.copy().subquery(quoted(ROWS)))


def _names(engine: Engine, rows: exp.Query) -> list[str]:
    """The columns' names, whatever their types are: those of one row that has nothing in it."""
    whole = _nobody(exp.select(exp.Column(this=exp.Star(), table=quoted(ROWS))), rows).subquery(quoted("r"))
    line = exp.cast(exp.Anonymous(this="TO_JSON", expressions=[exp.column(quoted("r"))]), "text")
    answer = engine.ask(exp.select(line.as_(quoted("n"))).from_(whole))["n"][0]
    pairs: list[tuple[str, object]] = json.loads(answer, object_pairs_hook=list)
    return [name for name, _ in pairs]


def _nobody(query: exp.Select, rows: exp.Query) -> exp.Select:
    """A question about one row without any values."""
    single_row = exp.select(exp.Literal.number(1).as_(quoted("one"))).subquery(quoted("o"))
    none = exp.select("*").from_(rows.copy().subquery(quoted(ROWS))).limit(0).subquery(quoted(ROWS))
    return query.from_(single_row).join(none, on=exp.true(), join_type="left")
