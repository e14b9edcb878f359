"""The first rows of a bundle as texts, for a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl


def first_rows(folder: Path, manifest: Mapping[str, Any], many: int) -> dict[str, Any]:
    """The first rows of the data file; none where a bundle has no rows that can be read from their beginning."""
    said = manifest.get("data", {})
    path = folder / str(said.get("file", ""))
    frame = _frame(path, many)
    if frame is None:
        return {"columns": [], "rows": [], "of": 0}
    rows = [[None if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
    return {"columns": list(frame.columns), "rows": rows, "of": said.get("rows", len(rows))}


def _frame(path: Path, many: int) -> pl.DataFrame | None:
    if path.suffix == ".csv":
        return pl.read_csv(path, n_rows=many, infer_schema=False)
    return pl.read_parquet(path, n_rows=many) if path.suffix == ".parquet" else None
