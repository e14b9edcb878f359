"""The same contract for every engine: every algorithm, faults, and names and values that look like statements."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import BudgetError, BundleError, DataError, PlanError
from sfumato.counts.engine_source import EngineSource
from sfumato.counts.sources import CellMapping
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.inputs import without_nan
from sfumato.tables.engines import statements
from sfumato.tables.table import Table
from tests.tables.engines.attacks import ATTACKS, everything
from tests.tables.engines.engine_tables import in_duckdb, in_postgres, in_spark, owner
from tests.tables.engines.test_engine_contract import NUMBERS, as_local, awkward, check_some, plan_for
from tests.tables.engines.test_released_parts import TREE, people
from tests.weights import examples

pytest.importorskip("duckdb")

ENGINES = ["duckdb", "postgresql", "spark"]
BY_CELLS = [
    "optimal", "greedy", "samarati", "incognito", "datafly", "k-optimize", "mondrian", "top-down", "bottom-up", "local"
]  # fmt: skip
BY_ROWS = ["hilbert", "microaggregation", "anatomy"]


def put(engine: str, table: Table, request: pytest.FixtureRequest) -> EngineSource:
    """A table as a source in an engine."""
    if engine == "postgresql":
        return in_postgres(request.getfixturevalue("postgres"), table, name=f"contract {next(NUMBERS)}")
    return in_duckdb(table) if engine == "duckdb" else in_spark(request.getfixturevalue("spark"), table)


def few() -> Table:
    """People with few values each, so that every search comes to its end."""
    rng = np.random.default_rng(2)
    frame = people(90).with_columns(age=pl.Series(rng.integers(1, 8, 90) * 5), number=pl.int_range(90))
    return Table(frame=frame.with_columns(education=pl.Series(rng.choice(["low", "mid", "?"], 90))), missing=("?",))


@pytest.fixture(params=ENGINES)
def source(request: pytest.FixtureRequest) -> EngineSource:
    """The people in each engine."""
    return put(request.param, few(), request)


def plan(name: str, *, form: str = "parquet", **more: Any) -> sf.Plan:
    said = {"name": name, "max_suppressed": 0.05, "suppressed": "star"}
    tree = {**TREE, "input": {"missing": ["?"]}, "algorithm": said, "output": {"format": form}, **more}
    return sf.Plan.parse(tree)


def rows_of(made: Any) -> Counter[Any]:
    return Counter(made.lazy().select(pl.all().cast(pl.String)).collect().rows())


HERE: dict[str, Counter[Any]] = {}
"""The released rows of the table in memory, by algorithm."""


def here(name: str) -> Counter[Any]:
    if name not in HERE:
        HERE[name] = rows_of(sf.release(plan(name), few()).rows)
    return HERE[name]


@pytest.mark.slow
def test_every_algorithm_that_works_on_cells_runs_in_every_engine(source: EngineSource):
    for name in BY_CELLS:
        assert rows_of(sf.release(plan(name), source).rows) == here(name), name


@pytest.mark.slow
def test_an_algorithm_that_needs_rows_is_refused_with_what_would_do(source: EngineSource):
    for name in BY_ROWS:
        with pytest.raises(PlanError, match=f"{name} needs single rows, and this source only counts; use 'optimal'"):
            sf.release(plan(name), source)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["diffgen", "marginals"])
def test_private_releases_pay_from_their_ledger_in_every_engine(
    engine: str, name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("opendp")
    frame = sf.datasets.census(300, seed=5)
    said: dict[str, Any] = {"path": "t.parquet", "engine": engine}
    frame.write_parquet(tmp_path / "t.parquet")
    if engine == "postgresql":
        monkeypatch.setenv("WAREHOUSE", request.getfixturevalue("postgres"))
        place = f"private_{next(NUMBERS)}"
        in_postgres(request.getfixturevalue("postgres"), Table(frame=frame), name=place)
        said = {"engine": engine, "connection": "WAREHOUSE", "table": place}
    elif engine == "spark":
        request.getfixturevalue("spark")
    Ledger.create(tmp_path / "budget.db", total=1).grant("release", 1)
    columns = {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}},
        "sex": {"role": "quasi", "values": ["Female", "Male"]},
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    }
    tree = {"input": said, "columns": columns, "privacy": {"epsilon": 1.0, "ledger": "budget.db"}}
    asked = sf.Plan.parse({**tree, "algorithm": {"name": name}}, folder=tmp_path)
    assert sf.release(asked).write(tmp_path / "out").holds
    with pytest.raises(BudgetError, match="has 0 of 1 left"):
        sf.release(asked)


def released(asked: sf.Plan, given: Any) -> Any:
    """The sorted rows of a release, or how it is refused."""
    try:
        made = sf.release(asked, given)
    except sf.SfumatoError as refusal:
        return type(refusal)
    return sorted(made.rows.select(pl.all().cast(pl.String).fill_null("(null)")).rows())


def check_released(source: EngineSource, table: Table, algorithm: str) -> None:
    """A release of a table in an engine has the rows of the same table in memory."""
    asked = plan_for(list(table.names), {"missing": list(table.missing)}, Path(), algorithm)
    assert released(asked, source) == released(asked, without_nan(table))


@pytest.mark.slow
@given(awkward(), st.sampled_from(["auto", "mondrian", "top-down", "incognito"]))
@examples(40)
def test_random_tables_in_postgresql_are_released_as_in_memory(postgres: str, table: Table, algorithm: str):
    plain = Table(frame=table.frame.with_columns(pl.col(pl.Decimal).cast(pl.String)), missing=table.missing)
    check_released(in_postgres(postgres, table, name=f"released {next(NUMBERS)}"), plain, algorithm)


@pytest.mark.slow
@given(awkward(), st.sampled_from(["auto", "mondrian", "top-down", "incognito"]))
@examples(5)
def test_random_tables_in_spark_are_counted_recoded_and_released_as_in_memory(spark: Any, table: Table, algorithm: str):
    source = in_spark(spark, table)
    check_some(source, as_local(table), list(table.names))
    check_released(source, table, algorithm)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_table_that_changes_between_count_and_recoding_is_refused(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
):
    """PostgreSQL keeps one snapshot, and does not see the change."""
    table = Table(frame=people(), missing=("?",))
    source = put(engine, table, request)
    cells = source.cells([source.domain("sex"), source.domain("education")])
    hidden = np.zeros(cells.count, np.bool_)
    mapping = CellMapping(cells=cells, labels=cells.labels, shown=cells.keys, suppressed=hidden)
    assert source.apply(mapping).frame.height == source.rows
    changed = people().with_columns(sex=pl.lit("Male"))
    if engine == "duckdb":
        source.engine.keep("people", changed)  # type: ignore[attr-defined]
    else:
        source.engine.lend("people", changed)
    with pytest.raises(DataError, match="changed while it was read"):
        source.apply(mapping)
    with pytest.raises(DataError, match="changed while it was read"):
        list(source.apply_in(tmp_path, mapping))


@pytest.mark.slow
def test_a_full_disk_ends_in_one_message_and_nothing_is_left(
    source: EngineSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The engine writes rows into a folder that takes none; with PostgreSQL we write them ourselves."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    write = type(source.engine).write

    def full(self: Any, statement: Any, folder: Path) -> None:
        (folder / "no").write_text("")
        write(self, statement, folder / "no" / "folder")

    monkeypatch.setattr(type(source.engine), "write", full)
    with pytest.raises((BundleError, DataError)) as refusal:
        sf.release(plan("optimal", form="parts"), source).write(tmp_path / "out")
    assert len(str(refusal.value).splitlines()) == 1
    assert not (tmp_path / "out").exists()
    assert not [one for one in (tmp_path / "tmp").iterdir() if "parts" in one.name]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_whatever_names_and_values_are_no_statement_but_ours_is_run(engine: str, request: pytest.FixtureRequest):
    attacks = [one for one in ATTACKS if "\x00" not in one]
    values = [*attacks, "${spark.app.name}", "\\", None]
    name = "`\"'; DROP TABLE victim; --"
    frame = pl.DataFrame({name: values, "${spark.app.name}": values, "third": values[::-1]})
    source = put(engine, Table(frame=frame, missing=(attacks[0], "?")), request)
    victim = pl.DataFrame({"secret": ["s1", "s2"]})
    if engine == "postgresql":
        with owner(request.getfixturevalue("postgres")) as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS victim AS SELECT 's1' AS secret UNION ALL SELECT 's2'")
    else:
        source.engine.lend("victim", victim)
    everything(source)
    domains = [source.domain(one) for one in source.names]
    labels = {name: {value: f"{value}'" for value in domains[0].values}}
    assert source.coarser(labels).domain(name, "text").values == tuple(sorted(labels[name].values()))
    source.cells_within(domains, 100)
    source.group_sizes(source.names)
    found = in_engine(engine, request, source).ask(statements.named(["victim"]))
    assert sorted(found["secret"].to_list()) == ["s1", "s2"]


def in_engine(engine: str, request: pytest.FixtureRequest, source: EngineSource) -> Any:
    """Somebody who sees the victim as it is now."""
    if engine != "postgresql":
        return source.engine
    from sfumato.tables.engines.postgres import PostgresEngine

    return PostgresEngine.opened(request.getfixturevalue("postgres"))
