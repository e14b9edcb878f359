"""A program of its own that reads one SPSS, Stata or SAS file: from standard input, as Arrow to standard output.

pyreadstat is compiled code, and some broken files make it crash. Here a crash ends this program alone; whoever started
it sees that, and refuses the file. It is started by its path, so it imports nothing of the package.
"""

from __future__ import annotations

import io
import json
import struct
import sys
from contextlib import suppress
from typing import Any

HEAD = struct.Struct("<Q")
"""How long the JSON text is that comes before the Arrow file."""


def main(reader: str, most_cells: int, most_bytes: int, most_memory: int) -> None:
    """Read standard input, and answer in two parts: what was found as JSON, and the cells as Arrow."""
    _hold(most_memory)
    try:
        about, cells = _read(reader, most_cells, most_bytes, sys.stdin.buffer.read())
    except Exception as fault:  # whatever the reader raises, the file cannot be read
        about, cells = {"fault": str(fault).strip() or type(fault).__name__}, b""
    text = json.dumps(about).encode()
    sys.stdout.buffer.write(HEAD.pack(len(text)) + text + cells)


def _hold(most: int) -> None:
    """No more memory than so many bytes, where the system can be told."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _read(reader: str, most_cells: int, most_bytes: int, data: bytes) -> tuple[dict[str, Any], bytes]:
    import pyreadstat

    read = getattr(pyreadstat, reader)
    _, about = read(io.BytesIO(data), metadataonly=True, output_format="dict")
    columns = len(about.column_names)
    width = sum(int(size or 8) for size in about.variable_storage_width.values())
    most = max(min(most_cells // max(columns, 1), most_bytes // max(width, 1)), 1)
    if columns > most_cells:
        return {"columns": columns}, b""
    cells, about = read(io.BytesIO(data), row_limit=most + 1, output_format="dict")
    labels = {name: [[str(_plain(code)), label] for code, label in known.items()] for name, known in
              about.variable_value_labels.items()}  # fmt: skip
    return {"columns": columns, "most": most, "labels": labels}, _arrow(cells)


def _plain(code: Any) -> Any:
    """A code as a whole number, where it is one."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _arrow(cells: dict[str, Any]) -> bytes:
    import polars as pl

    into = io.BytesIO()
    pl.DataFrame([_series(pl, name, values) for name, values in cells.items()]).write_ipc(into)
    return into.getvalue()


def _series(polars: Any, name: str, values: Any) -> Any:
    """A column, whatever its values are; mixed ones are texts."""
    try:
        return polars.Series(name, values)
    except (TypeError, polars.exceptions.PolarsError):
        return polars.Series(name, [None if value is None else str(value) for value in values], dtype=polars.String)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
