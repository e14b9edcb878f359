"""What a private release refuses before anything is paid, and what a private frontier does not do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import ParameterError, PlanError
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.frontier.frontier import pick
from sfumato.pipeline.methods.private.domains import released_rows
from tests.pipeline.test_private import made, records, tree


@pytest.mark.parametrize("output", ["counts", "records"])
def test_a_column_may_be_named_like_the_counts(output: str, tmp_path: Path) -> None:
    plan: dict[str, Any] = tree(algorithm={"name": "marginals", "output": output})
    plan["columns"]["count"] = {"role": "quasi", "values": ["a", "b"]}
    made = sf.release(sf.Plan.parse(plan), records().with_columns(count=pl.lit("a")))
    assert made.write(tmp_path / "out").holds
    assert ("rows" in made.rows.columns) == (output == "counts")
    assert "count" in made.rows.columns
    assert not sf.attack(tmp_path / "out", records().with_columns(count=pl.lit("a")), trials=20, seed=1).refuted


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 120, "grid": 1e-6}}}, "cells"),
        ({"age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0}}}, "together"),
    ],
)
def test_grids_have_an_end(change: dict[str, Any], told: str) -> None:
    plan = tree()
    plan["columns"] |= change
    with pytest.raises(PlanError, match=told):
        sf.release(sf.Plan.parse(plan), records())


def test_noise_that_would_fill_the_disk_is_published_as_counts_only() -> None:
    release = made()
    many = release.outcome.counts * 0 + 10**9
    table = type("Table", (), {"target_name": "class", "classes": ("Y", "N")})()

    with pytest.raises(ParameterError, match="output = 'counts'"):
        released_rows(replace(release.outcome, counts=many), table, counts=False)


def test_a_private_point_cannot_be_picked_and_costs_nothing(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", total=3)
    ledger.grant("release", 3)
    privacy = {"epsilon": 1.0, "ledger": str(tmp_path / "budget.db")}
    plan = sf.Plan.parse(tree(privacy=privacy, frontier={"jobs": 1, "algorithms": ["diffgen"]}))
    sf.frontier(plan, records(60), folder=tmp_path / "front")
    assert not ledger.history()
    with pytest.raises(PlanError, match="no epsilon covers"):
        pick(plan, 1, tmp_path / "out", records(60))


def test_a_private_release_recodes_new_records_too() -> None:
    release = made()
    assert release.transform(records(8)).rows.columns == ["job", "age", "class"]
