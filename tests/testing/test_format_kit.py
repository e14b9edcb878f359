"""Every format of the catalog passes the kit; formats that are known to be bad do not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from sfumato.pipeline.catalog.catalog import catalog
from sfumato.tables.files import FORMATS, Format
from sfumato.testing.formats import BrokenFormat, check_format

PARQUET = next(one for one in FORMATS if one.name == "parquet")
CSV = next(one for one in FORMATS if one.name == "csv")


@pytest.mark.parametrize("name", [one.name for one in catalog().formats.values() if one.write is not None])
def test_every_format_that_writes_passes(name: str):
    check_format(catalog().formats[name])


def test_a_format_that_only_reads_needs_an_example():
    reads = replace(PARQUET, write=None)
    with pytest.raises(BrokenFormat, match="checked by examples"):
        check_format(reads)
    frame = pl.DataFrame({"a": ["x"], "b": [1]})
    assert PARQUET.write is not None
    check_format(reads, [(PARQUET.write(frame, None), frame)])


def _keyed(data: bytes, options: Any) -> pl.DataFrame:
    """Fails with a KeyError where a key is missing."""
    told = json.loads(data)
    return pl.DataFrame(told["rows"], schema=told["names"], orient="row")


def _as_json(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    return json.dumps({"names": frame.columns, "rows": frame.rows()}).encode()


def _some(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    assert PARQUET.write is not None
    return PARQUET.write(frame[:, :-1] if frame.width > 2 else frame, delimiter)


@pytest.mark.parametrize(
    ("form", "law"),
    [
        (replace(PARQUET, write=_some), "the columns are"),
        (replace(PARQUET, read=lambda data, options: PARQUET.read(data, options)[:0]), "its own bytes are refused"),
        (replace(PARQUET, read=lambda data, options: PARQUET.read(data, options).reverse()), "the rows are"),
        (
            replace(PARQUET, read=lambda data, options: PARQUET.read(data, options).select(pl.all().cast(pl.String))),
            "the types are",
        ),
        (Format(name="keyed", extensions=(".keyed",), read=_keyed, write=_as_json, text=True), "not JSONDecodeError"),
        (replace(CSV, extensions=("csv",)), "with their dot"),
    ],
)
def test_what_is_known_to_be_bad_is_caught(form: Format, law: str):
    with pytest.raises(BrokenFormat, match=law):
        check_format(form)
