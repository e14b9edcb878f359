"""Real paths and baskets: each release is verified, and meets the definition by an independent count."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from tests.shared_data import shared


def fewest(cells: pl.Series, size: int) -> int:
    """The fewest records of any set of up to ``size`` items, counted in plain Python."""
    counts: Counter[tuple[str, ...]] = Counter()
    for cell in cells:
        items = sorted(set(cell.split("|"))) if cell else []
        for length in range(1, size + 1):
            counts.update(combinations(items, length))
    return min(counts.values())


def test_groceries_with_and_without_their_taxonomy(tmp_path: Path):
    lines = shared("sets", "groceries.csv").read_text().splitlines()
    frame = pl.DataFrame({"items": [line.strip().replace(",", "|") for line in lines if line.strip()]})
    pl.read_csv(shared("sets", "groceries_taxonomy.csv")).write_csv(tmp_path / "tree.csv", include_header=False)
    for more in ({}, {"hierarchy": {"file": str(tmp_path / "tree.csv")}}):
        column: dict[str, Any] = {"role": "quasi", "type": "set", **more}
        made = sf.release(sf.Plan.parse({"columns": {"items": column}, "privacy": {"km": {"k": 5, "m": 2}}}), frame)
        assert made.write(tmp_path / f"out{len(more)}").holds
        assert fewest(made.rows["items"], 2) >= 5
        assert made.utility["lost_frequent_sets"] < 0.2


def test_groceries_part_by_part_and_with_guarded_goods(tmp_path: Path):
    lines = shared("sets", "groceries.csv").read_text().splitlines()
    frame = pl.DataFrame({"items": [line.strip().replace(",", "|") for line in lines if line.strip()]})
    goods = pl.read_csv(shared("sets", "groceries_taxonomy.csv"))
    own = pl.col(goods.columns[0]).is_in(["rum", "baby food"])
    goods = goods.with_columns(
        pl.when(own).then(pl.lit("guarded")).otherwise(name).alias(name) for name in goods.columns[1:]
    )
    goods.write_csv(tmp_path / "tree.csv", include_header=False)
    column: dict[str, Any] = {"role": "quasi", "type": "set", "hierarchy": {"file": str(tmp_path / "tree.csv")}}
    km = {"columns": {"items": column}, "privacy": {"km": {"k": 5, "m": 2}}}
    local = sf.release(sf.Plan.parse({**km, "algorithm": {"name": "local-sets"}}), frame)
    assert local.write(tmp_path / "local").holds
    assert fewest(local.rows["items"], 2) >= 5
    assert local.utility["ncp"] < sf.release(sf.Plan.parse(km), frame).utility["ncp"]
    rho = {"rho_uncertainty": {"rho": 0.3, "sensitive": ["rum", "baby food"], "l": 1}}
    plan = {"columns": {"items": column}, "privacy": rho, "algorithm": {"name": "top-down-sets"}}
    made = sf.release(sf.Plan.parse(plan), frame)
    assert made.write(tmp_path / "guarded").holds
    rows = [set(cell.split("|")) for cell in made.rows["items"]]
    assert sum("rum" in row for row in rows) == sum("rum" in cell.split("|") for cell in frame["items"])
    for label in set().union(*rows) - {""}:
        having = [row for row in rows if label in row]
        assert all(sum(one in row for row in having) <= 0.3 * len(having) for one in {"rum", "baby food"} - {label})


def test_days_of_geolife_on_squares(tmp_path: Path):
    fixes = pl.read_csv(shared("trajectories", "geolife_10min.csv.gz"), infer_schema=False)
    column = {
        "role": "quasi",
        "type": "trajectory",
        "long": {"id": "user", "x": "lon", "y": "lat", "time": "time_gmt"},
        "grid": {"low": [116.1, 39.7], "high": [116.7, 40.2], "step": 0.05},
        "clock": {"step": "1h", "split": "1d"},
        "outside": "drop",
        "ties": "first",
        "hierarchy": {"kind": "squares", "widths": [2, 4]},
        "time_hierarchy": {"kind": "intervals", "widths": [3, 6, 12], "low": 0, "high": 24},
    }
    tree = {"columns": {"path": column}, "privacy": {"km": {"k": 5, "m": 2}}, "algorithm": {"support": 0.005}}
    made = sf.release(sf.Plan.parse(tree), fixes)
    assert made.write(tmp_path / "out").holds
    assert fewest(made.rows["path"], 2) >= 5
    assert made.rows.height > 10_000
