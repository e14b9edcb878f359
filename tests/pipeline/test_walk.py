"""The walk: its stages in order, who can stop it, and what its objects show of themselves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import Interrupted
from sfumato.core.run_context import Work
from sfumato.pipeline.release import STAGES

SECRET = "Zebulon-77"
PEOPLE = sf.datasets.census(400, seed=6).with_columns(
    occupation=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(SECRET)).otherwise(pl.col("occupation"))
)
TABLE: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20, 40], "low": 0, "high": 100}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "occupation": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 5},
}
BASKETS: dict[str, Any] = {
    "columns": {"bag": {"role": "quasi", "type": "set"}, "occupation": {"role": "sensitive"}},
    "privacy": {"km": {"k": 3, "m": 2}},
}
PRIVATE: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100, "grid": 10}},
        "sex": {"role": "quasi", "values": ["Male", "Female"]},
    },
    "privacy": {"epsilon": 1.0},
}
PLANS = {"table": TABLE, "items": BASKETS, "private": PRIVATE}


def frame(kind: str) -> pl.DataFrame:
    bags = pl.Series("bag", [f"{'a' if n % 2 else 'b'}|{'c' if n % 3 else 'd'}" for n in range(PEOPLE.height)])
    return PEOPLE.with_columns(bags).select(list(PLANS[kind]["columns"]))


class Heard:
    """Somebody who listens, and may stop the work at a stage."""

    def __init__(self, stop_at: str = "") -> None:
        self.stages: list[str] = []
        self.stop_at, self.work = stop_at, Work()

    def advance(self, stage: str, done: int, total: int) -> None:
        if stage not in self.stages:
            self.stages.append(stage)
        if stage == self.stop_at:
            self.work.cancelled.set()


def watched(stop_at: str = "") -> Heard:
    heard = Heard(stop_at)
    heard.work = Work(progress=heard)
    return heard


@pytest.mark.parametrize("kind", PLANS)
def test_every_kind_walks_the_same_stages_in_order(kind: str, tmp_path: Path):
    heard = watched()
    made = sf.release(sf.Plan.parse(PLANS[kind]), frame(kind), work=heard.work)
    assert made.write(tmp_path / "out", work=heard.work).holds
    known = [stage for stage in heard.stages if stage in STAGES]
    assert known == [stage for stage in STAGES if stage in known]
    assert set(STAGES) - set(known) <= ({"attack"} if kind == "private" else set())


@pytest.mark.parametrize("stage", ["count", "recode", "judge", "attack", "report", "write", "verify"])
def test_the_work_can_be_stopped_at_any_stage_and_leaves_nothing(stage: str, tmp_path: Path):
    heard = watched(stage)
    with pytest.raises(Interrupted, match="stopped on request"):
        sf.release(sf.Plan.parse(TABLE), frame("table"), work=heard.work).write(tmp_path / "out", work=heard.work)
    assert list(tmp_path.iterdir()) == []


def test_when_the_time_is_over_attacks_are_listed_as_not_made():
    work = Work(seconds=1e-9)
    time.sleep(0.01)
    made = sf.release(sf.Plan.parse(TABLE), frame("table"), work=work)
    assert made.audit.findings == ()
    assert set(made.audit.skipped.values()) == {"the time was over"}


def test_a_limit_of_the_search_does_not_stop_the_attacks():
    tree = {**TABLE, "algorithm": {"name": "greedy", "seconds": 0.001}}
    assert sf.release(sf.Plan.parse(tree), frame("table")).audit.findings


def test_attacks_are_data_of_a_release_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = sf.release(sf.Plan.parse(TABLE), frame("table"))
    monkeypatch.setattr("sfumato.pipeline.attack.attacked", lambda *_: pytest.fail("attacked again"))
    assert made.write(tmp_path / "out").holds
    assert "attacks" in made.report(inside=True).lower()


@pytest.mark.parametrize("kind", PLANS)
def test_one_protocol_for_all_kinds(kind: str):
    made = sf.release(sf.Plan.parse(PLANS[kind]), frame(kind).to_pandas())
    assert isinstance(made, sf.Release)
    assert type(made.frame).__module__.startswith("pandas")
    assert all(claim.holds for claim in made.claims)
    for name in ("utility", "audit", "marks", "write", "transform", "algorithm", "why"):
        assert hasattr(made, name)
    if kind == "items":
        with pytest.raises(sf.PlanError, match="there is no rule for new ones"):
            made.transform(frame(kind))
    else:
        assert made.transform(frame(kind)).rows.height == PEOPLE.height


@pytest.mark.parametrize("kind", PLANS)
def test_what_is_shown_is_short_and_tells_no_original_value(kind: str, tmp_path: Path):
    plan, table = sf.Plan.parse(PLANS[kind]), frame(kind)
    made = sf.release(plan, table)
    shown: list[object] = [plan, made, made.audit, made.kind, made.claims[0]]
    if kind == "table":
        shown += [made.transform(table), sf.profile(table), sf.classes(table, quasi=["age"], counted=["occupation"])]
        shown += [made.prepared, made.prepared.problem, made.outcome, made.recoding, made.published]  # type: ignore[attr-defined]
        shown += [sf.dimensions(plan, table), sf.frontier(plan, table, folder=tmp_path / "front")]
        shown += [sf.attack(_written(made, tmp_path), table, plan=plan), sf.verify(tmp_path / "out")]
    for one in shown:
        assert len(repr(one)) < 500, type(one)
        assert SECRET not in repr(one), type(one)
    assert SECRET not in made._repr_html_()
    assert len(made._repr_html_()) < 4000
    assert all(claim.model in made._repr_html_() for claim in made.claims)
    assert "<th>before</th><th>after</th>" in made._repr_html_()


def _written(made: sf.Release, place: Path) -> Path:
    made.write(place / "out")
    return place / "out"
