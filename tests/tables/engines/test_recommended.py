"""On an engine, a refusal names only algorithms that run there, and ``auto`` tries no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipeline.catalog.catalog import catalog

FRAME = pl.DataFrame({"q": ["a", "b", "c"] * 20, "x": [20 + n % 10 for n in range(60)], "s": ["u", "v", "w", "z"] * 15})
PRIVACY: dict[str, dict[str, Any]] = {"k": {"k_anonymity": 3}, "t": {"t_closeness": {"t": 0.2}}}


def plan(folder: Path, name: str, privacy: dict[str, Any]) -> sf.Plan:
    FRAME.write_parquet(folder / "t.parquet")
    tree = {
        "input": {"path": "t.parquet", "engine": "duckdb"},
        "columns": {
            "q": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "x": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5]}},
            "s": {"role": "sensitive"},
        },
        "privacy": privacy,
        "algorithm": {"name": name, "seed": 1},
        "attack": {"run": False},
    }
    return sf.Plan.parse(tree, folder=folder)


@pytest.mark.parametrize("privacy", PRIVACY)
def test_what_a_refusal_recommends_runs(privacy: str, tmp_path: Path):
    refused: dict[str, list[str]] = {}
    for name in catalog().solving("table"):
        try:
            sf.release(plan(tmp_path, name, PRIVACY[privacy]))
        except sf.Infeasible:
            continue
        except sf.PlanError as error:
            refused[name] = re.findall(r"'([a-z-]+)'", str(error).partition("; use ")[2])
    assert {"hilbert", "anatomy", "microaggregation"} <= refused.keys()
    assert all(names and not set(names) & refused.keys() for names in refused.values())


def test_auto_tries_only_what_runs_there(tmp_path: Path):
    made = sf.release(plan(tmp_path, "auto", PRIVACY["t"]))
    assert [one.algorithm for one in made.beside] == ["mondrian"]
    assert all(one.value is not None for one in made.beside)
