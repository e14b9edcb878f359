"""What auto chooses, by size, metric and models, and that the manifest says why."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.table.problem import prepare
from sfumato.pipeline.methods.table.stages import chosen


def table(columns: int) -> pl.DataFrame:
    base = sf.datasets.census(300, seed=4)
    ages = base["age"].to_list()
    made = {f"q{c}": [str((age * (c + 3)) % 23) for age in ages] for c in range(columns)}
    return pl.DataFrame({**made, "occupation": base["occupation"]})


def plan(columns: int, privacy: dict, metric: str = "loss") -> sf.Plan:
    hierarchy = {"kind": "intervals", "widths": [2, 4, 8, 16], "low": 0, "high": 24}
    quasi = {f"q{c}": {"role": "quasi", "type": "integer", "hierarchy": hierarchy} for c in range(columns)}
    return sf.Plan.parse(
        {
            "columns": {**quasi, "occupation": {"role": "sensitive"}},
            "privacy": privacy,
            "utility": {"metric": metric},
        }
    )


@pytest.mark.parametrize(
    ("columns", "privacy", "metric", "name"),
    [
        (3, {"k_anonymity": 3}, "loss", "optimal"),
        (8, {"k_anonymity": 3}, "loss", "optimal"),
        (8, {"k_anonymity": 3}, "discernibility", "mondrian"),
        (12, {"k_anonymity": 3}, "loss", "mondrian"),
        (12, {"t_closeness": {"t": 0.4}}, "loss", "mondrian"),
        (12, {"lkc": {"l": 2, "k": 2, "c": 0.9, "values": ["Sales"]}}, "loss", "greedy"),
    ],
)
def test_the_choice(columns: int, privacy: dict, metric: str, name: str):
    asked = plan(columns, privacy, metric)
    problem = prepare(asked, sf_table(table(columns)), None, catalog()).problem
    found, why = chosen(problem)
    assert found == name
    assert f"{problem.nodes:,} nodes" not in why  # under a mask it tells how long the longest code is
    assert metric in why


def test_the_manifest_says_why(tmp_path):
    made = sf.release(plan(12, {"k_anonymity": 3}), table(12))
    assert made.algorithm == "mondrian"
    assert made.write(tmp_path / "out").holds
    assert "more than the" in (tmp_path / "out" / "manifest.json").read_text()


def sf_table(frame: pl.DataFrame):
    from sfumato.tables.frames import from_frame

    return from_frame(frame, missing=())
