"""File formats: how the bytes of a table are read and written. Plugins bring more of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.data.csv_files import parse_csv, render_csv

Options = Mapping[str, Any]
"""How text is read: delimiter, quote, encoding, header, names, trim; and ``where``, for messages."""


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
    text: bool = False
    """Whether cells are text without types; names and blanks are then the reader's own business."""


def _text(delimiter: str | None) -> Callable[[bytes, Options], pl.DataFrame]:
    def read(data: bytes, options: Options) -> pl.DataFrame:
        return parse_csv(data, **{**options, "delimiter": options["delimiter"] or delimiter})

    return read


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
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or ","),
        text=True,
    ),
    Format(
        name="tsv",
        extensions=(".tsv", ".tab"),
        read=_text("\t"),
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or "\t"),
        text=True,
    ),
    Format(
        name="parquet",
        extensions=(".parquet", ".pq"),
        read=lambda data, options: pl.read_parquet(io.BytesIO(data)),
        write=_parquet,
    ),
    Format(
        name="arrow",
        extensions=(".arrow", ".feather", ".ipc"),
        read=lambda data, options: pl.read_ipc(io.BytesIO(data)),
        write=_arrow,
    ),
)
"""The formats that come with the package."""
