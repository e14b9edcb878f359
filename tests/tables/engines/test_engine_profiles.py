"""A look at a table in an engine tells what a look at the same rows in memory tells, and asks for counts only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.core.errors import PlanError
from sfumato.counts.engine_source import EngineSource
from sfumato.pipeline import inputs
from sfumato.pipeline.profile import profile
from sfumato.pipeline.profile import source as profiled_source
from sfumato.pipeline.profile.profile import Profile
from sfumato.pipeline.profile.source import ProfiledEngine
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.tables.table import Table
from tests.tables.engines.engine_tables import in_duckdb, in_postgres, in_spark, typed
from tests.tables.engines.test_engine_contract import NUMBERS, awkward, everything
from tests.weights import examples

pytest.importorskip("duckdb")


@st.composite
def profiled_tables(draw: st.DrawFn) -> Table:
    """Awkward tables, each row several times, so that columns have few values beside the rows; some are twins."""
    table = draw(awkward())
    days = table.frame.with_columns(pl.col(pl.Datetime).dt.truncate("1d"))  # an engine leaves times of day out
    frame = pl.concat([days] * draw(st.sampled_from([1, 5])))
    if draw(st.booleans()):
        frame = frame.with_columns(frame[:, 0].alias("birth"), frame[:, 0].alias("race"))
    return replace(table, frame=frame)


def told(look: Callable[[], Profile]) -> Profile | str:
    """A profile, or why a table is refused."""
    try:
        return replace(look(), source="the table", engine=None)
    except sf.SfumatoError as refusal:
        return str(refusal)


def looked(source: EngineSource) -> Profile | str:
    """The profile of a table in an engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "profiled", lambda *_, **__: ProfiledEngine(inner=source))
        return told(lambda: sf.profile(missing=source.missing))


def here(table: Table, *, decimals: bool = True) -> Profile | str:
    """The profile of the rows in memory; PostgreSQL's numbers of any digits come as texts."""
    frame = typed(table.frame) if decimals else typed(table.frame).with_columns(pl.col(pl.Decimal).cast(pl.String))
    return told(lambda: sf.profile(frame, missing=table.missing))


@pytest.mark.slow
@given(profiled_tables())
@examples(100)
def test_a_look_at_duckdb_is_a_look_at_the_rows(table: Table):
    assert looked(in_duckdb(table)) == here(table)


@pytest.mark.slow
@given(profiled_tables())
@examples(40)
def test_a_look_at_postgresql_is_a_look_at_the_rows(postgres: str, table: Table):
    engine = in_postgres(postgres, table, name=f"looked at {next(NUMBERS)}")
    assert looked(engine) == here(table, decimals=False)


@pytest.mark.slow
def test_a_look_at_spark_is_a_look_at_the_rows(spark: Any):
    table = everything()
    table = replace(table, frame=table.frame.drop(cs.datetime()))
    assert isinstance(here(table), Profile)
    assert looked(in_spark(spark, table)) == here(table)
    given = sf.profile(spark.createDataFrame(sf.datasets.census(200, seed=2).to_arrow()))
    assert given.engine == "spark"
    assert given.columns == sf.profile(sf.datasets.census(200, seed=2)).columns


def people(rows: int = 700) -> pl.DataFrame:
    return sf.datasets.census(rows, seed=4).with_columns(number=pl.int_range(rows) * 3)


def few() -> pl.DataFrame:
    """So few people and columns that a release is found at once."""
    return people(120).select("age", "sex", "education", "income")


@pytest.mark.parametrize("kind", ["relation", "lazy"])
def test_frames_that_are_not_in_memory_are_counted_where_they_are(kind: str):
    import duckdb

    frame = people()
    given = duckdb.from_arrow(frame.to_arrow()) if kind == "relation" else frame.lazy()
    found = sf.profile(given)
    assert found.engine == "duckdb"
    assert found.columns == sf.profile(frame).columns
    assert found.combinations == sf.profile(frame).combinations


def test_too_many_values_and_cells_are_told_and_their_figures_are_right(monkeypatch: pytest.MonkeyPatch):
    frame = people().with_columns(note=pl.when(pl.col("number") % 7 == 0).then(None).otherwise(pl.col("number") % 50))
    whole = sf.profile(frame)
    monkeypatch.setattr(profile, "MOST", 100)
    monkeypatch.setattr(
        profiled_source.ProfiledEngine.__init__, "__kwdefaults__", {"most": 40, "reading": {}, "_seen": {}}
    )
    found = sf.profile(frame.lazy())
    assert found.combinations == ()
    assert found.notes == (
        "more than 100 combinations of the suggested quasi-identifiers: no columns are looked at together",
    )
    assert [(c.name, c.distinct, c.missing) for c in found.columns] == [
        (c.name, c.distinct, c.missing) for c in whole.columns
    ]
    assert np.allclose([c.bits for c in found.columns], [c.bits for c in whole.columns])
    cut = {c.name: c.suggestion for c in found.columns if c.distinct >= 40}
    assert cut["number"].why == "700 different values single people out; round or cut them"
    sizes = frame.group_by(found.quasi).len()["len"].to_numpy()
    assert found.risk == profiled_source.risk(sizes)


def test_no_row_leaves_the_engine(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    ask = DuckEngine.ask

    def heard(self: DuckEngine, statement: Any) -> pl.DataFrame:
        asked.append(statement.sql(dialect="duckdb"))
        return ask(self, statement)

    monkeypatch.setattr(DuckEngine, "ask", heard)
    sf.profile(people().lazy())
    assert all("COUNT(*)" in one or one.endswith("LIMIT 0") for one in asked)


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["profile", *words], catch_exceptions=False)


def test_the_command_looks_at_folders_large_files_and_databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import duckdb

    (tmp_path / "rows").mkdir()
    few()[:50].write_parquet(tmp_path / "rows" / "a.parquet")
    few()[50:].write_parquet(tmp_path / "rows" / "b.parquet")
    few().write_csv(tmp_path / "t.csv")
    with duckdb.connect(str(tmp_path / "own.duckdb")) as own:
        own.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'rows' / '*.parquet'}'")
    monkeypatch.setattr(inputs, "_memory", lambda: 100)
    own = ("--engine", "duckdb", "--database", str(tmp_path / "own.duckdb"))
    asked = [
        (str(tmp_path / "rows"),),
        (str(tmp_path / "rows" / "*.parquet"),),
        (str(tmp_path / "t.csv"),),
        (*own, "--table", "people"),
        (*own, "--query", "SELECT * FROM people"),
    ]
    for place, words in enumerate(asked):
        plan = tmp_path / f"{place}.toml"
        told = run(*words, "-o", str(plan))
        assert told.exit_code == 0, told.output
        assert ("DuckDB counts them where they are" in told.output) == (place < 3)
        assert "120 rows" in told.output
        found = sf.Plan.load(plan)
        assert found.input.engine == (None if place < 3 else "duckdb")
        assert sf.release(found).height > 0


@pytest.mark.slow
def test_the_command_looks_at_a_table_in_postgresql(tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch):
    in_postgres(postgres, Table(frame=few()), name="looked")
    monkeypatch.setenv("WAREHOUSE", postgres)
    plan = tmp_path / "plan.toml"
    told = run("--engine", "postgresql", "--connection", "WAREHOUSE", "--table", "looked", "-o", str(plan))
    assert told.exit_code == 0, told.output
    assert 'engine = "postgresql"\nconnection = "WAREHOUSE"\ntable = "looked"\n' in plan.read_text()
    assert postgres not in plan.read_text()
    assert sf.release(sf.Plan.load(plan)).height > 0


def test_what_cannot_be_looked_at_is_refused():
    with pytest.raises(PlanError, match="there is nothing to look at: name a file, or --engine with --table or"):
        sf.profile()
    with pytest.raises(PlanError, match=r"input\.table goes with input\.engine"):
        sf.profile("t.csv", reading={"table": "t"})
    with pytest.raises(PlanError, match=r"input\.engine must be one of"):
        sf.profile("t.csv", reading={"engine": "oracle"})


def test_people_with_several_rows_are_told_and_not_counted_as_people(tmp_path: Path):
    frame = few().with_columns(patient_id=pl.int_range(120) // 2)
    frame.write_parquet(tmp_path / "t.parquet")
    plan = tmp_path / "plan.toml"
    told = run(str(tmp_path / "t.parquet"), "--engine", "duckdb", "-o", str(plan))
    assert "of a file that fits in memory; duckdb counts rows" in told.output
    assert "# patient_id repeats, and duckdb counts rows, not people: see input.unit" in plan.read_text()
    assert sf.release(sf.Plan.load(plan)).height > 0


def test_an_engine_leaves_times_of_day_out():
    times = pl.datetime_range(pl.datetime(2020, 1, 1), pl.datetime(2020, 2, 1), "7h", eager=True)
    found = sf.profile(
        pl.DataFrame({"seen": times, "sex": ["f", "m"] * (len(times) // 2) + ["f"] * (len(times) % 2)}).lazy()
    )
    assert {c.name: str(c.suggestion.role) for c in found.columns} == {"seen": "drop", "sex": "quasi"}
    assert "times of day" in found.columns[0].suggestion.why
