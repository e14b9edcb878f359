"""A program that reads one untrusted file with compiled code, under limits, and answers by its exit code.

A file whose header states impossible sizes can make such a reader end the whole process. Here only this program ends,
and the caller refuses the file. It is started by its path, so it imports nothing of the package. It calls the readers
as the package does: a file that passes here is read the same way afterwards.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import closing, suppress


def main(reader: str, most_memory: int, arguments: list[str]) -> None:
    """Read standard input, or the named file, and end with an error where that fails or takes too much memory."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    READERS[reader](*arguments)


def _parquet() -> None:
    import polars as pl

    pl.read_parquet(io.BytesIO(sys.stdin.buffer.read()))


def _arrow() -> None:
    import polars as pl

    pl.read_ipc(io.BytesIO(sys.stdin.buffer.read()))


def _json_lines(most_cells: str) -> None:
    """Keys first: with too many of them the file is refused afterwards, and is not read here."""
    import polars as pl

    data = sys.stdin.buffer.read()
    keys = len(pl.scan_ndjson(io.BytesIO(data), infer_schema_length=None).collect_schema())
    if keys * (data.count(b"\n") + 1) <= int(most_cells):
        pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)


def _workbook() -> None:
    import fastexcel

    book = fastexcel.read_excel(sys.stdin.buffer.read())
    for name in book.sheet_names:
        book.load_sheet(name, header_row=None)


def _sqlite(uri: str, query: str) -> None:
    import sqlite3

    with closing(sqlite3.connect(uri, uri=True)) as database:
        rows = database.execute(query)
        while rows.fetchmany(10_000):
            pass


def _parts(memory: str, *paths: str) -> None:
    """Every page of some Parquet files, as DuckDB unfolds them to count rows."""
    import duckdb

    with duckdb.connect(config={"memory_limit": memory, "threads": 1}) as database:
        rows = database.read_parquet(list(paths))
        columns = ('"' + name.replace('"', '""') + '"' for name in rows.columns)
        rows.aggregate(f"bit_xor(hash({', '.join(columns)}))").fetchall()


READERS: dict[str, Callable[..., None]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "json-lines": _json_lines,
    "workbook": _workbook,
    "sqlite": _sqlite,
    "parts": _parts,
}

if __name__ == "__main__":
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  what it says, the refusal says
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
