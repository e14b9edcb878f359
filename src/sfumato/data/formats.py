"""File formats: how the bytes of a table are read and written. Plugins bring more of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.arrow_sizes import arrow_sizes
from sfumato.data.csv_files import parse_csv, render_csv
from sfumato.data.json_lines import json_frame
from sfumato.data.large_csv import packed_csv
from sfumato.data.names import refuse_long, refuse_many
from sfumato.data.parquet_sizes import Sizes, parquet_sizes
from sfumato.data.reading_apart import try_reading
from sfumato.data.survey_files import survey_frame
from sfumato.data.workbooks import sheet_frame
from sfumato.ground.errors import DataError
from sfumato.ground.limits import CELLS_TO_A_BYTE, MOST_CELLS, most_unfolded

Options = Mapping[str, Any]
"""How text is read: delimiter, quote, encoding, header, names, trim; and ``where``, for messages. Formats with types
also get the ``sheet`` of a workbook, and ``labels``, whether labels take the place of codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format; a reader raises ``DataError`` or a Polars error for bytes that are not of it."""

    name: str
    """As ``format`` names it."""
    extensions: tuple[str, ...]
    """The ends of file names, with their dot."""
    read: Callable[[bytes, Options], pl.DataFrame]
    """The frame in some bytes."""
    write: Callable[[pl.DataFrame, str | None], bytes] | None = None
    """The bytes of a frame, with a delimiter where there is one; None if it can only be read."""
    large: Callable[[Path, Options], pl.DataFrame | None] | None = None
    """The frame in a large file that is read in pieces, or None where the whole file must be looked at."""
    text: bool = False
    """Whether cells are text without types; names and blanks are then the reader's own business."""


def _text(delimiter: str | None) -> Callable[[bytes, Options], pl.DataFrame]:
    def read(data: bytes, options: Options) -> pl.DataFrame:
        return parse_csv(data, **{**options, "delimiter": options["delimiter"] or delimiter})

    return read


def _large(delimiter: str | None) -> Callable[[Path, Options], pl.DataFrame | None]:
    def read(path: Path, options: Options) -> pl.DataFrame | None:
        return packed_csv(path, **{**options, "delimiter": options["delimiter"] or delimiter})

    return read


def _survey(reader: str) -> Callable[[bytes, Options], pl.DataFrame]:
    def read(data: bytes, options: Options) -> pl.DataFrame:
        return survey_frame(data, reader=reader, labels=options.get("labels", True), where=options["where"])

    return read


def _workbook(data: bytes, options: Options) -> pl.DataFrame:
    header = options.get("header", True)
    return sheet_frame(data, sheet=options.get("sheet"), header=header, where=options["where"])


def parquet_frame(data: bytes, *, where: str = "the file") -> pl.DataFrame:
    """The frame in the bytes of a Parquet file; one that would become too large is refused before it is unfolded."""
    _refuse_large(parquet_sizes(data), data, where)
    try_reading("parquet", data)
    return _held(pl.read_parquet(io.BytesIO(data)), data, where)


def arrow_frame(data: bytes, *, where: str = "the file") -> pl.DataFrame:
    """The frame in the bytes of an Arrow file, under the same limits."""
    _refuse_large(arrow_sizes(data), data, where)
    try_reading("arrow", data)
    return _held(pl.read_ipc(io.BytesIO(data)), data, where)


def _refuse_large(sizes: Sizes, data: bytes, where: str) -> None:
    """Refuse a file that says that it becomes more than its limits."""
    refuse_many(sizes.columns, where=where)
    cells, many = sizes.rows * sizes.columns, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data))
    if cells > many:
        raise DataError(
            f"{where}: {sizes.rows:,} rows of {sizes.columns:,} columns in {len(data):,} bytes; at most "
            f"{many:,} cells are read from a file of this size"
        )
    _refuse_unfolded(sizes.unfolded, data, where)


def _refuse_unfolded(size: int, data: bytes, where: str) -> None:
    if size > most_unfolded(len(data)):
        raise DataError(
            f"{where}: {len(data):,} bytes unfold to {size:,}; at most {most_unfolded(len(data)):,} are read"
        )


def _held(frame: pl.DataFrame, data: bytes, where: str) -> pl.DataFrame:
    """The frame, whose texts may stand in the file once and in very many cells."""
    lengths = frame.select(pl.col(pl.String).str.len_bytes())
    for name in lengths.columns:
        refuse_long(lengths[name], name, where=where)
    _refuse_unfolded(sum(int(lengths[name].cast(pl.Int64).sum()) for name in lengths.columns), data, where)
    return frame


def _arrow(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    into = io.BytesIO()
    frame.write_ipc(into)
    return into.getvalue()


def _parquet(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    into = io.BytesIO()
    frame.write_parquet(into)
    return into.getvalue()


FORMATS = (
    Format(
        name="csv",
        extensions=(".csv", ".txt", ".data", ".test", ".dat"),
        read=_text(None),
        large=_large(None),
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or ","),
        text=True,
    ),
    Format(
        name="tsv",
        extensions=(".tsv", ".tab"),
        read=_text("\t"),
        large=_large("\t"),
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or "\t"),
        text=True,
    ),
    Format(
        name="parquet",
        extensions=(".parquet", ".pq"),
        read=lambda data, options: parquet_frame(data, where=options["where"]),
        write=_parquet,
    ),
    Format(
        name="arrow",
        extensions=(".arrow", ".feather", ".ipc"),
        read=lambda data, options: arrow_frame(data, where=options["where"]),
        write=_arrow,
    ),
    Format(
        name="json-lines",
        extensions=(".jsonl", ".ndjson"),
        read=lambda data, options: json_frame(data, where=options["where"]),
    ),
    Format(name="excel", extensions=(".xlsx", ".xlsm", ".xls", ".ods"), read=_workbook),
    Format(name="spss", extensions=(".sav", ".zsav"), read=_survey("read_sav")),
    Format(name="stata", extensions=(".dta",), read=_survey("read_dta")),
    Format(name="sas", extensions=(".sas7bdat",), read=_survey("read_sas7bdat")),
    Format(name="xport", extensions=(".xpt",), read=_survey("read_xport")),
)
"""The formats that come with the package."""
