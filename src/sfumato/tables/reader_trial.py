"""A program that reads untrusted files with compiled code, under limits, and answers whether that went well.

A file whose header states impossible sizes can make such a reader end the whole process. Here only this program ends,
and the caller refuses the file. It is started by its path, so it imports nothing of the package. It calls the readers
as the package does: a file that passes here is read the same way afterwards.

A request is a line of JSON (reader, memory, arguments, size) and ``size`` bytes; the answer is one byte. The program
ends with its caller, and after some idle seconds: what it has imported takes 100 MB.
"""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import closing, suppress

GOOD, BAD = b"+", b"-"
"""The answers."""
IDLE = 5.0
"""After so many seconds without a request the program ends."""


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # what a reader says, the refusal says
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    while select.select([requests], [], [], IDLE)[0] and (line := requests.readline()):
        request = json.loads(line)
        data = requests.read(request["size"])
        try:
            _limit(request["memory"])
            READERS[request["reader"]](data, *request["arguments"])
            answer = GOOD
        except MemoryError:
            answer = BAD
        except Exception:  # the caller meets it too, and tells it in its own words
            answer = GOOD
        except BaseException:  # a panic of compiled code
            answer = BAD
        answers.write(answer)


def _limit(memory: int) -> None:
    """No more memory than so many bytes, where the system can be told."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _parquet(data: bytes) -> None:
    import polars as pl

    pl.read_parquet(io.BytesIO(data))


def _arrow(data: bytes) -> None:
    import polars as pl

    pl.read_ipc(io.BytesIO(data))


def _json_lines(data: bytes, most_cells: int) -> None:
    """Keys first: with too many of them the file is refused afterwards, and is not read here."""
    import polars as pl

    keys = len(pl.scan_ndjson(io.BytesIO(data), infer_schema_length=None).collect_schema())
    if keys * (data.count(b"\n") + 1) <= most_cells:
        pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)


def _workbook(data: bytes) -> None:
    import fastexcel

    book = fastexcel.read_excel(data)
    for name in book.sheet_names:
        book.load_sheet(name, header_row=None)


def _sqlite(data: bytes, uri: str, query: str) -> None:
    import sqlite3

    with closing(sqlite3.connect(uri, uri=True)) as database:
        rows = database.execute(query)
        while rows.fetchmany(10_000):
            pass


def _parts(data: bytes, memory: str, *paths: str) -> None:
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
    main()
