"""A bundle made again is the same, whatever types and formats its columns have."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf

ROWS = 60
FRAME = pl.DataFrame(
    {
        "age": [20 + n % 3 for n in range(ROWS)],
        "income": [1e16 * (n + 1) / 3 for n in range(ROWS)],
        "seen": [date(2020, 1, 1 + n % 20) for n in range(ROWS)],
        "member": [n % 2 == 0 for n in range(ROWS)],
        "note": ["=1+1" if n % 5 == 0 else None if n % 7 == 0 else f"n{n % 4}" for n in range(ROWS)],
    }
)


def plan(**more: Any) -> sf.Plan:
    columns = {"age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5], "low": 0, "high": 100}}}
    columns |= {name: {"role": "keep"} for name in FRAME.columns[1:]}
    return sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 5}, "attack": {"trials": 20}, **more})


@pytest.mark.parametrize(
    "output", [{"format": "csv"}, {"format": "parquet"}, {"format": "csv", "escape_formulas": True}], ids=str
)
@pytest.mark.parametrize("missing", [[], ["?"]], ids=str)
def test_typed_columns_are_the_same_again(output: dict[str, Any], missing: list[str], tmp_path: Path):
    asked = plan(output=output, input={"missing": missing})
    assert sf.release(asked, FRAME).write(tmp_path / "out").holds
    found = sf.verify_again(tmp_path / "out", plan=asked, original=FRAME)
    assert found.holds, [one for one in found.checks if not one.holds]
    moved = FRAME.with_columns(pl.col("income").reverse())
    wrong = [one.what for one in sf.verify_again(tmp_path / "out", plan=asked, original=moved).checks if not one.holds]
    assert "rows of data" in wrong


def test_columns_of_lists_are_released_and_made_again(tmp_path: Path):
    frame = FRAME.select("age").with_columns(tags=pl.Series([["a", "b"]] * ROWS))
    columns = {"age": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "tags": {"role": "keep"}}
    asked = sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 5}, "output": {"format": "parquet"}})
    assert sf.release(asked, frame).write(tmp_path / "out").holds
    assert sf.verify_again(tmp_path / "out", plan=asked, original=frame).holds
