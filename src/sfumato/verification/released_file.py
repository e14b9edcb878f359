"""Reading the data files of a bundle: texts that were escaped against spreadsheets are read as what they mean."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.csv_files import parse_csv
from sfumato.data.files import read
from sfumato.data.formats import parquet_frame
from sfumato.data.formulas import formula_columns, unescaped
from sfumato.data.table import Table
from sfumato.ground.errors import listed
from sfumato.ground.opening import read_text, read_whole
from sfumato.verification.checks import Check


def is_escaped(manifest: Mapping[str, Any]) -> bool:
    """Whether a bundle says that its texts are escaped against spreadsheets."""
    return bool(manifest["plan"].get("output", {}).get("escape_formulas", False))


def read_released(path: Path, manifest: Mapping[str, Any], missing: Sequence[str] = ()) -> Table:
    """The rows of a data file as they were before they were escaped against spreadsheets; of JSON, its lines."""
    if path.suffix == ".json":
        lines = read_text(path).removesuffix("\n").split("\n")
        return Table(frame=pl.DataFrame({"document": lines}, schema={"document": pl.String}), source=path.name)
    table = _empty(path) if manifest["data"]["rows"] == 0 else None
    if table is None:
        table = read(path, missing=tuple(missing), delimiter="," if path.suffix == ".csv" else None)
    return replace(table, frame=unescaped(table.frame)) if is_escaped(manifest) else table


def _empty(path: Path) -> Table | None:
    """The columns of a file without rows, for noise can take away the last one; None where there are rows."""
    if path.suffix == ".parquet":
        frame = parquet_frame(read_whole(path))
        return None if frame.height else Table(frame=frame)
    head, _, rows = read_text(path).partition("\n")
    if rows.strip():
        return None
    return Table(frame=pl.DataFrame(schema=dict.fromkeys(next(csv.reader([head]), []), pl.String)))


def formulas_escaped(manifest: Mapping[str, Any], paths: Iterable[Path]) -> Iterable[Check]:
    """Where the bundle says that formulas are escaped, all are: an unescaped text would read like its escaped twin."""
    if not is_escaped(manifest):
        return
    found: list[str] = []
    for path in paths:
        data = path.read_bytes()
        found += formula_columns(parse_csv(data, where=path.name, delimiter=",")) if path.suffix == ".csv" else ["all"]
    detail = f"cells that a spreadsheet would run in {listed(found)}" if found else "none is left"
    yield Check(what="formulas", holds=not found, detail=detail)
