"""Reading the data files of a bundle: texts that were escaped against spreadsheets are read as what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.csv_files import parse_csv
from sfumato.data.files import read
from sfumato.data.formulas import formula_columns, unescaped
from sfumato.data.table import Table
from sfumato.ground.errors import listed
from sfumato.verification.checks import Check


def is_escaped(manifest: Mapping[str, Any]) -> bool:
    """Whether a bundle says that its texts are escaped against spreadsheets."""
    return bool(manifest["plan"].get("output", {}).get("escape_formulas", False))


def read_released(path: Path, manifest: Mapping[str, Any], missing: Sequence[str] = ()) -> Table:
    """The rows of a data file."""
    return as_meant(read(path, missing=tuple(missing), delimiter="," if path.suffix == ".csv" else None), manifest)


def as_meant(table: Table, manifest: Mapping[str, Any]) -> Table:
    """Rows as they were before they were escaped, if they were."""
    return replace(table, frame=unescaped(table.frame)) if is_escaped(manifest) else table


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
