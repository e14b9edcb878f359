"""Releases of tables in PostgreSQL and Spark: the rows of the file in memory, nothing changed, nothing told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import DataError, PlanError
from sfumato.counts.engine_source import EngineSource
from sfumato.pipeline.inputs import planned_source
from sfumato.tables.engines import statements
from sfumato.tables.engines.postgres import PostgresEngine, without_secrets
from sfumato.tables.engines.statements import query_rows
from sfumato.tables.table import Table
from tests.tables.engines.attacks import ATTACKS, everything
from tests.tables.engines.engine_tables import JAVA, in_postgres, owner
from tests.tables.engines.test_released_parts import TREE, people


def plan(folder: Path, said: dict[str, Any], form: str = "parquet", **more: Any) -> sf.Plan:
    return sf.Plan.parse(
        {**TREE, "input": {"missing": ["?"], **said}, "output": {"format": form}, **more}, folder=folder
    )


def rows_of(frame: Any) -> Counter[Any]:
    return Counter(frame.lazy().select(pl.all().cast(pl.String)).collect().rows())


@pytest.fixture
def warehouse(postgres: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """PostgreSQL with a table of people, at an address that only the environment holds."""
    monkeypatch.setenv("WAREHOUSE", postgres)
    in_postgres(postgres, Table(frame=people()), name="people")
    return postgres


@pytest.mark.parametrize("form", ["parquet", "parts"])
def test_a_table_in_postgresql_gives_the_release_of_the_file(tmp_path: Path, warehouse: str, form: str):
    people().write_parquet(tmp_path / "t.parquet")
    whole = sf.release(plan(tmp_path, {"path": "t.parquet"}))
    place = {"engine": "postgresql", "connection": "WAREHOUSE"}
    for said in ({"table": "public.people"}, {"query": "SELECT * FROM people WHERE number >= 0"}):
        made = sf.release(plan(tmp_path, {**place, **said}, form))
        assert rows_of(made.frame) == rows_of(whole.rows)
        assert made.frame.lazy().collect_schema() == whole.rows.schema
    made.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    told = (tmp_path / "out" / "manifest.json").read_text() + (tmp_path / "out" / "report.html").read_text()
    assert "WAREHOUSE" not in told
    assert "tester" not in told


def test_what_others_write_in_between_is_not_seen(warehouse: str, tmp_path: Path):
    source = planned_source(plan(tmp_path, {"engine": "postgresql", "connection": "WAREHOUSE", "table": "people"}))
    before = source.rows
    with owner(warehouse) as cursor:
        cursor.execute("DELETE FROM people WHERE sex = 'Male'")
    assert source.rows == before
    made = sf.release(plan(tmp_path, {}), source)
    assert made.height == before
    later = planned_source(plan(tmp_path, {"engine": "postgresql", "connection": "WAREHOUSE", "table": "people"}))
    assert later.rows < before


def test_no_query_changes_anything_in_postgresql(warehouse: str):
    with owner(warehouse) as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION harm() RETURNS int LANGUAGE plpgsql AS "
            "$$ BEGIN DELETE FROM people; RETURN 1; END $$"
        )
    engine = PostgresEngine.opened(warehouse)
    engine.lend("sfumato_lent_d0", pl.DataFrame({"v": ["x"]}))
    for question in ("SELECT harm() AS a", "SELECT nextval('none') AS a"):
        with pytest.raises(DataError, match="PostgreSQL cannot answer: "):
            PostgresEngine.opened(warehouse).ask(query_rows(question, "postgres"))
    with pytest.raises(DataError, match="cannot execute DELETE in a read-only transaction"):
        engine.ask(query_rows("SELECT harm() AS a", "postgres"))
    assert PostgresEngine.opened(warehouse).ask(statements.size(statements.named(["people"])))["n"][0] == 800


def test_a_name_or_value_that_looks_like_a_statement_is_none_in_postgresql(postgres: str):
    for attack in ATTACKS[:-1]:
        name = attack[:40]
        frame = pl.DataFrame({name: [attack, "b", None], "plain": [attack, "", attack], "third": ["x", "y", attack]})
        source = in_postgres(postgres, Table(frame=frame, missing=(attack, "?")), name=name)
        everything(source)


@pytest.mark.slow
def test_a_name_or_value_that_looks_like_a_statement_is_none_in_spark(spark: Any):
    from sfumato.tables.engines.spark import SparkEngine

    attacks = [*ATTACKS[:-1], "${spark.app.name}", "\\u0041\\'", "\\"]
    engine = SparkEngine.of(spark)
    engine.lend("people", pl.DataFrame({"${spark.app.name} `; --": attacks, "plain": attacks, "third": attacks[::-1]}))
    source = EngineSource.reading(engine, statements.named(["people"]), missing=(attacks[0], "${spark.app.name}"))
    assert source.domain(source.names[0], "text").values == tuple(sorted({*attacks} - {*source.missing}))
    kept = source.complete(source.names[:1])
    assert kept.rows == len(attacks) - 2
    assert spark.conf.get("spark.sql.variable.substitute") == "true"
    with pytest.raises(DataError, match="Spark cannot answer: "):
        engine.ask(statements.size(statements.named(["nothing"])))


@pytest.mark.slow
def test_files_and_frames_of_spark_give_the_release_of_the_file(tmp_path: Path, spark: Any):
    folder = tmp_path / "it's [a] {b}"
    (folder / "rows").mkdir(parents=True)
    people().write_parquet(folder / "rows" / "t.parquet")
    whole = sf.release(plan(folder, {"path": "rows/t.parquet"}))
    made = sf.release(plan(folder, {"path": "rows", "engine": "spark"}, "parts"))
    assert rows_of(made.frame) == rows_of(whole.rows)
    assert made.write(tmp_path / "out").holds
    frame = spark.createDataFrame(people().to_arrow())
    given = sf.release(plan(folder, {}), frame)
    assert type(given.frame) is type(frame)
    assert rows_of(pl.DataFrame(given.frame.toArrow())) == rows_of(whole.rows)
    with pytest.raises(DataError, match="there is no such file or folder; Spark reads Parquet"):
        sf.release(plan(folder, {"path": "none", "engine": "spark"}))


@pytest.mark.slow
def test_a_spark_that_dies_ends_in_one_message_and_nothing_is_written(tmp_path: Path):
    """In a process of its own, because its Java is killed between counting and writing."""
    pytest.importorskip("pyspark", reason="pip install pyspark")
    people().write_parquet(tmp_path / "t.parquet")
    script = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import sfumato as sf
from sfumato.tables.engines.spark import SparkEngine
from sfumato.core.errors import SfumatoError
from sfumato.pipeline.inputs import planned_source
from tests.tables.engines.test_engine_releases import plan
folder = Path(sys.argv[1])
asked = plan(folder, {"path": "t.parquet", "engine": "spark"})
source = planned_source(asked)
assert source.domain("sex").values == ("Female", "Male")
os.kill(source.engine.session.sparkContext._gateway.proc.pid, signal.SIGKILL)
try:
    sf.release(asked, source).write(folder / "out")
except SfumatoError as error:
    print("REFUSED", error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(Path(__file__).parents[2])],
        env={**os.environ, "JAVA_TOOL_OPTIONS": JAVA},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "REFUSED Spark" in done.stdout, done.stderr[-2000:]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("said", [{"engine": "duckdb"}, {}])
def test_a_lazy_frame_is_streamed_to_an_engine_and_comes_out_lazy(tmp_path: Path, said: dict[str, Any]):
    """By its engine where the plan says so or asks for parts; else it is collected as it ever was."""
    pytest.importorskip("duckdb")
    whole = sf.release(plan(tmp_path, {}), people())
    made = sf.release(plan(tmp_path, said, "parquet" if said else "parts"), people().lazy())
    assert isinstance(made.frame, pl.LazyFrame)
    assert rows_of(made.frame) == rows_of(whole.rows)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"engine": "postgresql", "table": "t"}, "input.connection and input.table"),
        ({"engine": "postgresql", "connection": "X"}, "input.connection and input.table"),
        (
            {"engine": "postgresql", "connection": "postgresql://a:b@h/d", "table": "t"},
            "is the name of an environment",
        ),
        (
            {"engine": "postgresql", "connection": "X", "table": "t", "memory": "1GB"},
            "input.memory goes with engine = d",
        ),
        ({"engine": "spark", "database": "x.db", "table": "t"}, "input.database goes with engine = duckdb, not spark"),
        (
            {"engine": "duckdb", "connection": "X", "path": "t"},
            "input.connection goes with engine = postgresql or spark",
        ),
    ],
)
def test_what_a_plan_cannot_say_of_these_engines_is_refused(said: dict[str, Any], told: str):
    with pytest.raises(PlanError, match=told.replace(".", r"\.")):
        plan(Path(), said)


def test_an_address_is_in_the_environment_and_in_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("adbc_driver_postgresql")
    said = plan(tmp_path, {"engine": "postgresql", "connection": "NOWHERE", "table": "t"})
    with pytest.raises(PlanError, match="the environment variable NOWHERE is not set"):
        sf.release(said)
    for address in ("postgresql://me:s3cr3t%21@127.0.0.1:1/db", "host=127.0.0.1 port=1 password=s3cr3t! user=me"):
        monkeypatch.setenv("NOWHERE", address)
        with pytest.raises(DataError, match="PostgreSQL cannot be reached: ") as refusal:
            sf.release(said)
        assert "s3cr3t" not in str(refusal.value)
    assert without_secrets("no: postgresql://me:pw@h/d pw password=x y", "postgresql://me:pw@h/d") == (
        "no: *** *** password=*** y"
    )


def test_a_connection_that_is_lost_ends_in_one_message_and_nothing_is_written(warehouse: str, tmp_path: Path):
    source = planned_source(plan(tmp_path, {"engine": "postgresql", "connection": "WAREHOUSE", "table": "people"}))
    assert source.domain("sex").values == ("Female", "Male")
    with owner(warehouse) as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )
        cursor.fetchall()
    with pytest.raises(DataError, match="PostgreSQL cannot answer: "):
        sf.release(plan(tmp_path, {}), source).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_are_looked_up_in_the_cells_last(postgres: str):
    """PostgreSQL would join the cells by the first of their codes, and look at most of them for every row."""
    engine = PostgresEngine.opened(postgres)
    engine.lend("sfumato_lent_d0", pl.DataFrame({"v": ["x"]}))
    settings = ["enable_nestloop", "enable_mergejoin", "join_collapse_limit", "from_collapse_limit"]
    asked = ", ".join(f"current_setting('{name}') AS {name}" for name in settings)
    found = engine.ask(query_rows(f"SELECT {asked} FROM sfumato_lent_d0", "postgres"))
    assert found.row(0) == ("off", "off", "1", "1")


def test_what_was_lent_before_is_still_there(postgres: str):
    engine = PostgresEngine.opened(postgres)
    engine.lend("sfumato_lent_b0", pl.DataFrame({"v": ["x", "y"]}))
    assert engine.ask(statements.size(statements.named(["sfumato_lent_b0"])))["n"][0] == 2
    engine.lend("sfumato_lent_d0", pl.DataFrame({"v": ["x"]}))
    assert engine.ask(statements.size(statements.named(["sfumato_lent_d0"])))["n"][0] == 1
    assert engine.ask(statements.size(statements.named(["sfumato_lent_b0"])))["n"][0] == 2
