"""Counting from coarser levels: the engine groups by labels, rows read as in memory, and nothing finer is published."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import DataError, PlanError
from sfumato.counts.added_sources import AddedCells
from sfumato.counts.local_table import LocalTable
from sfumato.pipeline.inputs import planned_source
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.tables.hierarchy import base_level
from sfumato.tables.table import Table
from tests.tables.engines.engine_tables import in_duckdb, in_postgres, in_spark
from tests.weights import examples

pytest.importorskip("duckdb")

AGES = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}
ZIPS = {"kind": "mask", "from": "right"}
WORK = {"tree": {"trade": ["baker", "smith"], "office": ["clerk", "judge"]}}
ALGORITHMS = [
    "optimal", "greedy", "samarati", "incognito", "datafly", "k-optimize", "mondrian", "top-down", "bottom-up", "local"
]  # fmt: skip


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "zip": [f"{n:04}" for n in rng.integers(0, 300, rows)],
            "work": rng.choice(["baker", "smith", "clerk", "judge"], rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )
    gone = pl.int_range(rows) % 11 == 0
    return frame.with_columns(pl.when(gone).then(None).otherwise(pl.col(n)).alias(n) for n in ("age", "zip"))


def plan(folder: Path, bases: dict[str, int], *, name: str = "optimal", **more: Any) -> sf.Plan:
    trees = {"age": AGES, "zip": ZIPS, "work": WORK}
    columns: dict[str, Any] = {n: {"role": "quasi", "hierarchy": tree} for n, tree in trees.items()}
    for column, base in bases.items():
        columns[column]["base"] = base
    tree = {
        "input": {"missing": ["?"]},
        "columns": {**columns, "ill": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 4},
        "algorithm": {"name": name, "max_suppressed": 0.1},
        "attack": {"run": False},
        "output": {"format": "parquet"},
    }
    return sf.Plan.parse({**tree, **more}, folder=folder)


BASES = {"age": 1, "zip": 2, "work": 1}


def rows_of(made: Any) -> Counter[Any]:
    return Counter(made.rows.select(pl.all().cast(pl.String)).rows())


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_counts_labels_in_memory_and_in_duckdb(tmp_path: Path, name: str):
    here = sf.release(plan(tmp_path, BASES, name=name), Table(frame=people(), missing=("?",)))
    there = sf.release(plan(tmp_path, BASES, name=name), in_duckdb(Table(frame=people(), missing=("?",))))
    assert rows_of(here) == rows_of(there)
    for place, made in enumerate((here, there)):
        assert made.write(tmp_path / str(place)).holds
        assert sf.verify(tmp_path / str(place)).holds
    shown = set(here.rows["work"])
    assert not shown & {"baker", "smith", "clerk", "judge"}
    assert all(text in ("?", "*") or text.endswith("**") for text in here.rows["zip"])
    attacked = sf.attack(tmp_path / "0", people(), plan=plan(tmp_path, BASES), trials=30)
    assert attacked.findings
    if here.rules is not None:
        new = here.transform(people(), outside="top").rows
        shown = here.rows.columns[:3]
        assert set(here.rows.select(shown).rows()) <= set(new.select(shown).rows())


@pytest.mark.slow
@given(st.integers(0, 10**6), st.fixed_dictionaries({"age": st.integers(0, 3), "zip": st.integers(0, 3)}))
@examples(40)
def test_a_base_level_is_a_table_of_its_labels(seed: int, bases: dict[str, int]):
    """Counting from a level gives the release of a table that has the labels of this level in place of values."""
    table = Table(frame=people(60, seed), missing=("?",))
    asked = plan(Path(), bases)
    made = sf.release(asked, table)
    assert rows_of(made) == rows_of(sf.release(asked, in_duckdb(table)))
    source = LocalTable(table)
    for name, tree in (("age", AGES), ("zip", ZIPS)):
        levels = builder(tree, "x", Path()).build(source.domain(name)).levels[bases[name] :]
        allowed = {label for level in levels for label in level.labels}
        assert set(made.rows[name].cast(pl.String).fill_null("?")) <= {*allowed, "?"}
    assert made.levels is not None
    assert all(made.levels[name] >= base for name, base in bases.items())


@pytest.mark.slow
def test_postgresql_and_spark_count_labels_too(postgres: str, spark: Any):
    table = Table(frame=people(), missing=("?",))
    here = sf.release(plan(Path(), BASES), table)
    assert rows_of(sf.release(plan(Path(), BASES), in_postgres(postgres, table, name="based"))) == rows_of(here)
    assert rows_of(sf.release(plan(Path(), BASES), in_spark(spark, table))) == rows_of(here)


def test_parts_that_lie_apart_count_labels_too():
    frame = people()
    halves = AddedCells(parts=tuple(LocalTable(Table(frame=one, missing=("?",))) for one in (frame[:150], frame[150:])))
    here = sf.release(plan(Path(), BASES), Table(frame=frame, missing=("?",)))
    assert rows_of(sf.release(plan(Path(), BASES), halves)) == rows_of(here)


def test_a_population_counts_labels_too(tmp_path: Path):
    frame = people()
    said = {"privacy": {"k_map": 5}}
    here = sf.release(plan(tmp_path, BASES, **said), Table(frame=frame[:200], missing=("?",)), population=frame)
    whole = Table(frame=frame, missing=("?",))
    there = sf.release(
        plan(tmp_path, BASES, **said),
        in_duckdb(Table(frame=frame[:200], missing=("?",))),
        population=in_duckdb(whole),
    )
    assert rows_of(here) == rows_of(there)
    assert here.write(tmp_path / "out").holds


def test_too_many_cells_become_few(tmp_path: Path):
    people().write_parquet(tmp_path / "t.parquet")
    said = {"input": {"path": "t.parquet", "engine": "duckdb", "missing": ["?"]}}
    few = replace(planned_source(plan(tmp_path, {}, **said)), most=320)
    with pytest.raises(DataError, match=r"without 'zip'.*\(base = 1 in \[columns\.zip\]\)"):
        sf.release(plan(tmp_path, {}, **said), few)
    made = sf.release(plan(tmp_path, {"zip": 3, "age": 3}, **said), few)
    assert made.write(tmp_path / "out").holds
    found = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert found["plan"]["columns"]["zip"]["base"] == 3
    assert found["recoding"]["columns"]["zip"]["level"] >= 3
    assert found["recoding"]["columns"]["age"]["of"] == 4


def test_the_engine_groups_by_labels(monkeypatch: pytest.MonkeyPatch):
    """No answer but the values of single columns has anything finer than the base level."""
    answers: list[pl.DataFrame] = []
    ask = DuckEngine.ask

    def heard(self: DuckEngine, statement: Any) -> pl.DataFrame:
        answers.append(ask(self, statement))
        return answers[-1]

    monkeypatch.setattr(DuckEngine, "ask", heard)
    sf.release(plan(Path(), BASES), in_duckdb(Table(frame=people(), missing=("?",))))
    together = [one for one in answers if one.width > 3 and one.height]
    assert len(together) == 2
    for answer in together:
        texts = {str(text) for name in answer.columns for text in answer[name].to_list()}
        assert not texts & {"baker", "0123", "0042"}


def test_values_that_change_before_they_are_counted_are_refused():
    source = in_duckdb(Table(frame=people(), missing=("?",)))
    assert source.domain("zip").values
    source.engine.connection.execute("UPDATE people SET zip = 'new1' WHERE zip < '0100'")
    with pytest.raises(DataError, match="changed while it was read: column 'zip' has other values than before"):
        sf.release(plan(Path(), {"zip": 1}), source)


@pytest.mark.parametrize(
    ("columns", "more", "told"),
    [
        ({"age": {"role": "quasi", "hierarchy": AGES, "base": -1}}, {}, "columns.age.base must be a level"),
        ({"age": {"role": "quasi", "hierarchy": AGES, "base": True}}, {}, "columns.age.base must be"),
        ({"age": {"role": "keep", "base": 1}}, {}, "columns.age.base: only a quasi-identifier .* has role = 'keep'"),
        ({"age": {"role": "quasi", "type": "set", "base": 1}}, {}, "columns.age.base: .* has type set"),
        (
            {"age": {"role": "quasi", "hierarchy": AGES, "base": 1}},
            {"privacy": {"epsilon": 1.0}},
            "columns.age.base is for releases of tables by groups; this one is private",
        ),
        (
            {"age": {"role": "quasi", "hierarchy": AGES, "base": 1}},
            {"attack": {"control": "c.csv"}},
            "attack.control compares exact values, and columns.age.base counts labels",
        ),
    ],
)
def test_what_a_plan_cannot_say_of_a_base_level_is_refused(columns: Any, more: Any, told: str):
    with pytest.raises(PlanError, match=told):
        sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": 2}, **more})


@pytest.mark.parametrize(("column", "base", "told"), [("age", 4, "from 1 to 3"), ("work", 2, "from 1 to 1")])
def test_a_level_that_there_is_not_is_refused(column: str, base: int, told: str):
    with pytest.raises(PlanError, match=f"columns.{column}.base: counting cannot begin at level {base}; .* {told}"):
        sf.release(plan(Path(), {column: base}), Table(frame=people(), missing=("?",)))


def test_a_hierarchy_without_levels_has_no_base():
    domain = LocalTable(Table(frame=people())).domain("ill")
    with pytest.raises(PlanError, match="no level between its values and '\\*', so give it one"):
        base_level(domain, builder({"kind": "flat"}, "x", Path()).build(domain), 1)
