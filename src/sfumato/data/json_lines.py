"""JSON lines: one object on each line, a column for each key."""

from __future__ import annotations

import io

import polars as pl

from sfumato.data.names import refuse_long_texts, refuse_many
from sfumato.data.reading_apart import try_reading
from sfumato.ground.errors import DataError
from sfumato.ground.limits import CELLS_TO_A_BYTE, MOST_CELLS


def json_frame(data: bytes, *, where: str) -> pl.DataFrame:
    """The frame in a file of JSON lines; a key that a line does not have is a missing value there.

    The keys are read first: a long list of keys on one line would else make a cell for each on every other line.
    """
    try_reading("json-lines", data, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data)))
    columns = pl.scan_ndjson(io.BytesIO(data), infer_schema_length=None).collect_schema().names()
    refuse_many(len(columns), where=where)
    lines, most = data.count(b"\n") + 1, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data))
    if lines * len(columns) > most:
        raise DataError(f"{where}: {lines:,} lines of {len(columns):,} keys; at most {most:,} cells are read")
    frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    refuse_long_texts(frame, where=where)
    return frame.with_columns(pl.col(pl.Null).cast(pl.String))
