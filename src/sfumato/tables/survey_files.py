"""Tables of SPSS, Stata and SAS, read with pyreadstat in a process of its own.

Values that the file declares missing are missing. A column whose codes all have labels shows the labels: codes mean
nothing without the code book. One in which some value has no label, or two codes share one, keeps its codes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.core.errors import DataError
from sfumato.core.extras import require
from sfumato.core.input_files import MOST_CELLS, most_unfolded
from sfumato.tables import survey_reader
from sfumato.tables.isolated_readers import answer_of
from sfumato.tables.table import checked_names, refuse_long_texts, refuse_many
from sfumato.tables.workbooks import plain_types

_BLANK_IS_MISSING = ("read_dta", "read_sas7bdat", "read_xport")
"""Stata and SAS have no other missing text than the empty one; in SPSS an empty text is a value."""
_MEMORY = 8_000_000_000
"""How much address space the process may take; a larger file has a hundred times its size more."""


def survey_frame(data: bytes, *, reader: str, labels: bool, where: str) -> pl.DataFrame:
    """The frame in the bytes of a file that ``reader`` of pyreadstat reads."""
    require("pyreadstat", f"reading {where}")
    limits = (MOST_CELLS, most_unfolded(len(data)), _MEMORY + 100 * len(data))
    about, cells = _told(answer_of(survey_reader.__file__, data, reader, *limits))
    refuse_many(about["columns"], where=where)
    raw_frame = pl.read_ipc(io.BytesIO(cells))
    checked_names(raw_frame.columns, where=where)
    frame = plain_types(raw_frame)
    _refuse_rows(frame, about["most"], data, where)
    if reader in _BLANK_IS_MISSING:
        frame = frame.with_columns(pl.col(pl.String).replace("", None))
    return _labelled(frame, about["labels"]) if labels else frame


def _told(answer: bytes) -> tuple[dict[str, Any], bytes]:
    """The two parts of an answer; a fault that it tells is raised as a ``ValueError``."""
    size = survey_reader.HEAD.size
    length: int = survey_reader.HEAD.unpack_from(answer)[0]
    about: dict[str, Any] = json.loads(answer[size : size + length])
    if "fault" in about:
        raise ValueError(about["fault"])
    return about, answer[size + length :]


def _refuse_rows(frame: pl.DataFrame, most: int, data: bytes, where: str) -> None:
    if frame.height > most:
        raise DataError(
            f"{where}: more than {most:,} rows of {frame.width:,} columns in {len(data):,} bytes; write it as CSV or "
            "Parquet, which may be larger"
        )
    refuse_long_texts(frame, where=where)


def _labelled(frame: pl.DataFrame, labels: Mapping[str, Sequence[tuple[str, str]]]) -> pl.DataFrame:
    """The frame with labels in place of codes, in columns where that loses nothing."""
    return frame.with_columns(_by_label(frame[name], labels[name]) for name in frame.columns if labels.get(name))


def _by_label(cells: pl.Series, labels: Sequence[tuple[str, str]]) -> pl.Series:
    known = {code: label.strip() for code, label in labels}
    texts = cells.cast(pl.String)
    present = texts.drop_nulls().unique().to_list()
    present_labels = [known.get(text, "") for text in present]
    if not all(present_labels) or len(set(present_labels)) < len(present_labels):
        return cells
    return texts.replace_strict(present, present_labels, return_dtype=pl.String, default=None).alias(cells.name)
