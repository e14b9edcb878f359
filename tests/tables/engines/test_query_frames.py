"""An SQL query becomes a frame: one SELECT, read-only; everything else is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pytest

import sfumato as sf

TREE = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [50], "low": 0, "high": 100}},
        "ill": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 2},
    "attack": {"run": False},
}


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(place)) as made:
        made.execute("CREATE TABLE patients (id INTEGER, age INTEGER, note, photo BLOB)")
        made.execute("CREATE TABLE visits (id INTEGER, ill TEXT)")
        rows = [(1, 31, 5, None), (2, 47, "x", None), (3, 62, None, b"1"), (4, 71, 1.5, None)]
        made.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", rows)
        made.executemany("INSERT INTO visits VALUES (?, ?)", [(1, "flu"), (2, "cut"), (3, "flu"), (4, None)])
        made.commit()
    return place


JOIN = "SELECT age, ill FROM patients JOIN visits USING (id) ORDER BY id"


def test_a_query_of_a_file_and_of_a_connection_give_the_same(path):
    frame = sf.read_query(JOIN, path)
    assert frame.rows() == [(31, "flu"), (47, "cut"), (62, "flu"), (71, None)]
    with closing(sqlite3.connect(path)) as connection:
        assert sf.read_query(JOIN, connection).equals(frame)


def test_another_database(path):
    with closing(duckdb.connect()) as connection:
        assert sf.read_query("SELECT 1 AS a, DATE '2020-01-31' AS b", connection, dialect="duckdb").dtypes == [
            pl.Int64, pl.Date,
        ]  # fmt: skip


def test_mixed_cells_are_texts(path):
    assert sf.read_query("SELECT photo FROM patients", path)["photo"].to_list() == [None, None, b"1", None]
    assert sf.read_query("SELECT note FROM patients", path)["note"].to_list() == ["5", "x", None, "1.5"]


def test_a_plan_releases_a_query_and_a_table(path, tmp_path):
    tree = {**TREE, "input": {"path": "clinic.sqlite", "query": JOIN}}
    made = sf.release(sf.Plan.parse(tree, folder=tmp_path))
    assert made.write(tmp_path / "out").holds
    assert "SELECT" not in (tmp_path / "out" / "manifest.json").read_text()
    ages = {**TREE, "columns": {"age": TREE["columns"]["age"]}, "input": {"path": "clinic.sqlite", "table": "patients"}}
    assert sf.release(sf.Plan.parse(ages, folder=tmp_path)).rows.height == 4


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("DELETE FROM patients", "must be one SELECT"),
        ("SELECT 1; SELECT 2", "must be one SELECT"),
        ("WITH a AS (SELECT 1) DELETE FROM patients", "must be one SELECT"),
        ("PRAGMA table_info(patients)", "must be one SELECT"),
        ("ATTACH 'x.sqlite' AS x", "must be one SELECT"),
        ("SELECT FROM WHERE", "cannot be read as SQL"),
        ("SELECT nobody FROM patients", "no such column: nobody.*its tables are patients, visits"),
        ("SELECT * FROM pragma_database_list", "cannot be answered"),
        ("SELECT age FROM patients WHERE age > 99", "gives no rows"),
        ("SELECT age, age FROM patients", "occur more than once"),
    ],
)
def test_what_is_refused(path, query, told):
    with pytest.raises(sf.SfumatoError, match=told):
        sf.read_query(query, path)
    with closing(sqlite3.connect(path)) as after:
        assert after.execute("SELECT count(*) FROM patients").fetchone() == (4,)


def test_files_and_connections_that_are_none(tmp_path):
    (tmp_path / "x.sqlite").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "cut.sqlite").write_bytes(b"SQLite format 3\0" + b"\1" * 500)
    for name, told in (
        ("x.sqlite", "is not a SQLite file"),
        ("no.sqlite", "no such file"),
        ("cut.sqlite", "cannot be"),
    ):
        with pytest.raises(sf.DataError, match=told):
            sf.read_query("SELECT 1 AS a FROM t", tmp_path / name)
    with pytest.raises(sf.ParameterError, match="connection must be an open database connection"):
        sf.read_query("SELECT 1", 3)


def test_a_plan_that_does_not_say_what_to_read(path, tmp_path):
    with pytest.raises(sf.PlanError, match=r"input\.query or input\.table is missing"):
        sf.release(sf.Plan.parse({**TREE, "input": {"path": "clinic.sqlite"}}, folder=tmp_path))
    with pytest.raises(sf.PlanError, match=r"input\.query goes with input\.engine"):
        sf.Plan.parse({**TREE, "input": {"path": "clinic.csv", "query": JOIN}}, folder=tmp_path)


def test_a_query_without_end_is_refused(path, monkeypatch):
    monkeypatch.setattr("sfumato.tables.engines.query_frames.MOST_CELLS", 1_000)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    with pytest.raises(sf.DataError, match="gives more than"):
        sf.read_query(endless, path)
