"""No name and no value becomes a part of a statement: whatever they are, only our own statements are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlglot import exp, parse

import sfumato as sf
from sfumato.core.errors import DataError, MissingExtra, PlanError
from sfumato.counts.engine_source import EngineSource
from sfumato.tables.engines import statements
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.tables.engines.statements import query_rows, table_rows
from tests.tables.engines.attacks import ATTACKS, everything
from tests.tables.engines.engine_tables import Recorded


def victimized() -> tuple[DuckEngine, Recorded]:
    engine = DuckEngine.opened()
    engine.keep("victim", pl.DataFrame({"secret": ["s1", "s2"]}))
    recorded = Recorded(engine.connection)
    object.__setattr__(engine, "connection", recorded)
    return engine, recorded


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_name_or_value_that_looks_like_a_statement_is_none(attack: str):
    engine, recorded = victimized()
    table = attack.replace("\x00", "")
    frame = pl.DataFrame({attack: [attack, "b", None], "plain": [attack, "", attack], "third": ["x", "y", attack]})
    frame = frame.rename({attack: table})
    engine.keep(table, frame)
    everything(EngineSource.reading(engine, statements.named([table]), missing=(attack, "?"), source=attack))
    assert recorded.connection.sql("SELECT * FROM victim").fetchall() == [("s1",), ("s2",)]
    for asked in recorded.statements:
        (found,) = parse(asked, dialect="duckdb")
        assert isinstance(found, exp.Select | exp.Create)
        known = {table, "sfumato arriving", *(statements.lent(n) for n in ("d0", "d1", "d2", "m"))}
        assert {one.name for one in found.find_all(exp.Table)} <= known


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("attack", [one for one in ATTACKS if "\x00" not in one])
def test_every_dialect_reads_back_the_same_names_and_values(attack: str, dialect: str):
    asked = statements.complete(statements.named([attack]), {attack: (attack,)})
    (found,) = parse(asked.sql(dialect=dialect, identify=True), dialect=dialect)
    assert {one.name for one in found.find_all(exp.Table)} == {attack}
    assert {one.name for one in found.find_all(exp.Column)} == {attack}
    assert {one.this for one in found.find_all(exp.Literal)} == {attack}


def test_what_would_be_two_statements_is_not_run():
    engine, recorded = victimized()
    forged = exp.select(exp.Var(this="1; DROP TABLE victim"))
    with pytest.raises(DataError, match="reads more in a statement than was meant"):
        engine.ask(forged)
    assert not recorded.statements


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; DROP TABLE victim",
        "DROP TABLE victim",
        "DELETE FROM victim",
        "COPY victim TO 'x.csv'",
        "ATTACH 'x.db'",
        "PRAGMA database_list",
        "SELECT 1 INTO victim",
        "INSERT INTO victim SELECT 1",
        "SELECT FROM WHERE",
        "",
    ],
)
def test_a_query_that_is_not_one_select_is_refused(query: str):
    with pytest.raises(PlanError, match=r"input\.query"):
        query_rows(query, "duckdb")


@pytest.mark.parametrize("name", ["a.b.c.d", "", "a..b", "."])
def test_a_table_without_a_name_is_refused(name: str):
    with pytest.raises(PlanError, match=r"input\.table"):
        table_rows(name)


def test_a_database_reaches_no_other_file(tmp_path: Path):
    engine = DuckEngine.opened()
    engine.connection.execute(f"ATTACH '{tmp_path / 'own.duckdb'}' AS own; CREATE TABLE own.t AS SELECT 1 AS a")
    engine.connection.execute("DETACH own")
    (tmp_path / "other.csv").write_text("a\n1\n")
    own = DuckEngine.opened(tmp_path / "own.duckdb", memory="100MB")
    assert own.ask(query_rows("SELECT * FROM t", "duckdb")).rows() == [(1,)]
    with pytest.raises(DataError, match="DuckDB cannot answer"):
        own.ask(query_rows(f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')", "duckdb"))


def plan(said: dict[str, Any], folder: Path = Path(), **more: Any) -> sf.Plan:
    tree = {
        "input": said,
        "columns": {"sex": {"role": "quasi", "hierarchy": {"kind": "flat"}}, "age": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 2},
    }
    return sf.Plan.parse({**tree, **more}, folder=folder)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"engine": "duckdb", "path": "a", "password": "x"}, "input.password: a plan holds no passwords"),
        ({"engine": "duckdb", "database": "postgresql://me:pw@host/db", "table": "t"}, "input.database names a file"),
        ({"engine": "duckdb", "database": "md:mine?motherduck_token=x", "table": "t"}, "input.database names a file"),
        ({"engine": "oracle"}, "input.engine must be one of"),
        ({"table": "t"}, "input.table goes with input.engine"),
        ({"engine": "duckdb", "path": "a", "table": "t", "database": "d"}, "both say where the rows are"),
        ({"engine": "duckdb", "table": "t"}, "input.database goes with"),
        ({"engine": "duckdb", "path": "a", "memory": "lots"}, "input.memory must be an amount"),
        ({"engine": "duckdb", "path": "a", "encoding": "latin-1"}, "reads UTF-8 only"),
    ],
)
def test_what_a_plan_cannot_say_of_an_engine_is_refused(said: dict[str, Any], told: str):
    with pytest.raises(PlanError, match=told.replace(".", r"\.")):
        plan(said)


def test_what_an_engine_cannot_do_is_refused_with_what_would_do(tmp_path: Path):
    sf.datasets.census(200, seed=1).write_parquet(tmp_path / "t.parquet")
    said = {"engine": "duckdb", "path": "t.parquet"}
    with pytest.raises(PlanError, match="hilbert needs single rows, and this source only counts; use 'optimal'"):
        sf.release(plan(said, tmp_path, algorithm={"name": "hilbert"}))
    with pytest.raises(PlanError, match=r"input\.unit needs to know whose rows they are"):
        sf.release(plan({**said, "unit": "race"}, tmp_path))
    with pytest.raises(PlanError, match=r"input\.engine: rows stay in duckdb for releases of tables by groups only"):
        sf.dimensions(plan(said, tmp_path))
    with pytest.raises(DataError, match="no such file"):
        sf.release(plan({**said, "path": "none/*.parquet"}, tmp_path))


def test_too_many_cells_are_refused_with_their_number_and_the_columns_responsible():
    engine = DuckEngine.opened()
    engine.keep("t", pl.DataFrame({"id": range(30), "half": [n // 2 for n in range(30)], "sex": ["f", "m"] * 15}))
    few = EngineSource.reading(engine, statements.named(["t"]), source="t", most=20)
    with pytest.raises(DataError, match="t, column 'id': 30 different values; at most 20 are counted"):
        few.domain("id")
    domains = [few.domain("half"), few.domain("sex")]
    with pytest.raises(
        DataError, match=r"30 combinations of 'half', 'sex'.*there would be 2 without 'half', 15 without"
    ):
        few.cells(domains)


def test_a_lost_connection_and_a_broken_file_end_in_one_message_and_nothing_is_written(tmp_path: Path):
    frame = sf.datasets.census(200, seed=1)
    engine = DuckEngine.opened()
    engine.keep("t", frame)
    source = EngineSource.reading(engine, statements.named(["t"]))
    assert source.domain("sex").values == ("Female", "Male")
    engine.connection.close()
    with pytest.raises(DataError, match="DuckDB cannot answer: "):
        sf.release(plan({}), source)
    frame.write_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="DuckDB cannot answer: "):
        sf.release(plan({"engine": "duckdb", "path": "t.parquet"}, tmp_path)).write(tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["t.parquet"]


def test_duckdb_draws_no_bars_on_standard_output():
    """DuckDB would, where a program has no file."""
    program = "from sfumato.tables.engines.duckdb import *; from sfumato.tables.engines.statements import *"
    program += "; asked = query_rows(\"SELECT current_setting('enable_progress_bar') AS a\", 'duckdb')"
    program += "; print(DuckEngine.opened().ask(asked).rows())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[(False,)]\n"


def test_without_duckdb_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sf.datasets.census(200, seed=1).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[duckdb\]'"):
        sf.release(plan({"engine": "duckdb", "path": "t.parquet"}, tmp_path))
