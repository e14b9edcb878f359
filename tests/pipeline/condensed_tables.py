"""A small table and plans for tests of condensed releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf

COLUMNS = {
    "age": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "hours-per-week": {"role": "keep"},
    "occupation": {"role": "sensitive"},
    "income": {"role": "target"},
}
K = 12


def people(rows: int = 400, seed: int = 5) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=seed)


def plan(**options: Any) -> sf.Plan:
    more = {key: options.pop(key) for key in ("input", "privacy", "attack", "output_plan", "columns") if key in options}
    tree = {
        "columns": more.pop("columns", COLUMNS),
        "privacy": more.pop("privacy", {"indistinguishable_groups": K}),
        "algorithm": {"name": "condense", **options},
        "attack": more.pop("attack", {"trials": 100}),
    }
    return sf.Plan.parse({**tree, **more})


def written(folder: Path, **options: Any) -> Path:
    assert sf.release(plan(**options), people()).write(folder / "out").holds
    return folder / "out"
