"""A private release of a table in an engine: the counts are those of the rows in memory, and so is what is paid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import BudgetError, PlanError
from sfumato.counts.sources import by_value
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.methods.private.domains import declared
from sfumato.pipeline.methods.private.stages import engine_counts
from sfumato.tables.table import Table

pytest.importorskip("opendp")


def plan(folder: Path, said: dict[str, Any], name: str = "diffgen", **privacy: Any) -> sf.Plan:
    tree = {
        "input": {"path": "t.parquet", "missing": ["?"], **said},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}},
            "sex": {"role": "quasi", "values": ["Female", "Male"]},
            "income": {"role": "target", "values": ["<=50K", ">50K"]},
            "race": {"role": "drop"},
        },
        "privacy": {"epsilon": 1.0, **privacy},
        "algorithm": {"name": name},
    }
    return sf.Plan.parse(tree, folder=folder)


def people(folder: Path, rows: int = 900) -> pl.DataFrame:
    frame = sf.datasets.census(rows, seed=5)
    frame = frame.with_columns(
        sex=pl.when(pl.col("age") % 7 == 0).then(None).otherwise(pl.col("sex")), age=pl.col("age") * 3 - 20
    )
    frame.write_parquet(folder / "t.parquet")
    return frame


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_counts_of_the_engine_are_those_of_the_rows(tmp_path: Path, missing: str):
    frame = people(tmp_path)
    here = declared(plan(tmp_path, {"on_missing": missing}), Table(frame=frame, missing=("?",)))
    said = plan(tmp_path, {"engine": "duckdb", "on_missing": missing})
    there = declared(said, *engine_counts(said))
    assert here.table.rows == there.table.rows
    assert (here.table.rows < 900) == (missing == "drop")
    walks = [one.table.counts.root(one.table.figures) for one in (here, there)]
    for column, attribute in enumerate(here.table.attributes):
        asked = by_value(column, len(attribute.values))
        assert np.array_equal(*(walk.histogram(asked) for walk in walks))
    assert "rows" not in there.table.counts.gives


@pytest.mark.parametrize("name", ["diffgen", "marginals"])
def test_a_release_is_paid_for_and_verified(tmp_path: Path, name: str):
    people(tmp_path)
    Ledger.create(tmp_path / "budget.db", total=2).grant("release", 2)
    said = plan(tmp_path, {"engine": "duckdb"}, name, ledger="budget.db")
    for round_ in range(2):
        assert sf.release(said).write(tmp_path / f"out{round_}").holds
    with pytest.raises(BudgetError):
        sf.release(said)


def test_what_needs_single_rows_is_refused_by_the_plan_alone(tmp_path: Path):
    with pytest.raises(PlanError, match=r"input.unit: an engine counts rows"):
        engine_counts(plan(tmp_path, {"engine": "duckdb", "unit": "race"}))
