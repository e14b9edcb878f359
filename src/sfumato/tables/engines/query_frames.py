"""From an SQL query to a frame in memory: a SQLite file, or any connection of Python's database interface (PEP 249).

One SELECT and nothing beside it. A SQLite file is opened for reading only, and SQLite itself refuses whatever is no
reading: another file, a change, a setting.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.input_files import CELLS_TO_A_BYTE, MOST_CELLS, MOST_FIELD
from sfumato.tables.engines.statements import query_rows, table_rows
from sfumato.tables.isolated_readers import try_reading
from sfumato.tables.table import checked_names, refuse_long

_MARK = b"SQLite format 3\0"
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}
"""What a statement may do; 33 is a recursive SELECT."""
_PART = 50_000


def read_query(query: str, connection: Any, *, dialect: str | None = None) -> pl.DataFrame:
    """The rows of one SELECT as a frame, from a SQLite file or an open connection of PEP 249.

    ``dialect`` names the SQL that the database speaks, as sqlglot calls it; a SQLite file speaks its own. Whether a
    connection changes anything is up to the database: give it a user who may only read.

    >>> with closing(sqlite3.connect(":memory:")) as connection:
    ...     read_query("SELECT 31 AS age, 'Ann' AS name", connection).rows()
    [(31, 'Ann')]
    """
    if isinstance(connection, str | os.PathLike):
        return sqlite_frame(Path(connection), query=query)
    if not callable(getattr(connection, "cursor", None)):
        type_name = type(connection).__name__
        raise ParameterError(
            f"connection must be an open database connection (PEP 249) or a SQLite file, not {type_name}"
        )
    query_rows(query, dialect or ("sqlite" if isinstance(connection, sqlite3.Connection) else ""))
    with closing(connection.cursor()) as cursor:
        cursor.execute(query)
        return _frame(cursor, most=None, where="the query")


def sqlite_frame(path: Path, *, query: str | None = None, table: str | None = None) -> pl.DataFrame:
    """The rows of a query, or of a table, in a SQLite file."""
    _refuse_others(path)
    statement = (query_rows(query, "sqlite") if query is not None else table_rows(str(table))).sql("sqlite")
    size = path.stat().st_size
    most = max(MOST_CELLS, CELLS_TO_A_BYTE * size)
    try:
        try_reading("sqlite", b"", _uri(path), f"SELECT * FROM ({statement}) LIMIT {most}", size=size)
        with closing(_opened(path)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100 * MOST_FIELD)
            database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
            return _frame(database.execute(statement), most=most, where=str(path))
    except (sqlite3.Error, UnicodeError, ValueError) as fault:
        reason = "it holds text that is not UTF-8" if isinstance(fault, UnicodeError) else fault
        raise DataError(f"{path}: the query cannot be answered ({reason}); {_tables(path)}") from None


def _opened(path: Path) -> sqlite3.Connection:
    """A SQLite file, for reading only."""
    return sqlite3.connect(_uri(path), uri=True)


def _uri(path: Path) -> str:
    return f"{path.resolve().as_uri()}?mode=ro"


def _refuse_others(path: Path) -> None:
    """Refuse what is no SQLite file before SQLite opens it."""
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; check the name and the folder {path.parent}")
    with path.open("rb") as file:
        if file.read(len(_MARK)) != _MARK:
            raise DataError(f"{path}: is not a SQLite file; name one, or another format without query and table")


def _tables(path: Path) -> str:
    """Which tables a file has, for messages."""
    try:
        with closing(_opened(path)) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchmany(20)
    except (sqlite3.Error, UnicodeError):
        return "is the file whole?"
    return f"its tables are {', '.join(str(row[0]) for row in rows) or 'none'}"


def _frame(cursor: Any, *, most: int | None, where: str) -> pl.DataFrame:
    """All rows of a cursor, part by part."""
    if cursor.description is None:
        raise DataError(f"{where}: the query gives no rows; it must be a SELECT")
    names = checked_names([column[0] for column in cursor.description], where=where)
    columns: list[list[Any]] = [[] for _ in names]
    while part := cursor.fetchmany(_PART):
        for column, cells in zip(columns, zip(*part, strict=True), strict=True):
            column.extend(cells)
        if most is not None and len(columns[0]) * len(names) > most:
            raise DataError(f"{where}: the query gives more than {most:,} cells; ask for fewer rows or columns")
    if not columns[0]:
        raise DataError(f"{where}: the query gives no rows; at least one is needed")
    return pl.DataFrame([_series(name, cells, where) for name, cells in zip(names, columns, strict=True)])


def _series(name: str, cells: Sequence[Any], where: str) -> pl.Series:
    """A column; SQLite may keep numbers and texts in one, which are texts then."""
    try:
        series = pl.Series(name, cells)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        series = pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    if series.dtype == pl.String:
        refuse_long(series.str.len_bytes(), name, where=where)
    return series.cast(pl.String) if series.dtype == pl.Null else series
