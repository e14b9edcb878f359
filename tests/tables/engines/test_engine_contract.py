"""A table in an engine counts, recodes and is released as the same table in memory is; awkward names and values too."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import DataError
from sfumato.counts.engine_source import EngineSource
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellMapping, CellSource
from sfumato.pipeline.inputs import load_table, marked, planned_source
from sfumato.tables.engines import statements
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tests.tables.engines.engine_tables import in_duckdb, in_postgres, in_spark
from tests.weights import examples

TEXTS = [
    "",
    "?",
    "it's",
    'say "x"',
    "back\\slash",
    "\\",
    "a\nb",
    "😀",
    "select",
    "NULL",
    "%s {x}",
    "é",
    "e\u0301",
    "\t",
]
NUMBERS = [0.0, -0.0, float("nan"), 1.5, 1e20, -1e-7, 0.1]
WHOLE = [2**53, 2**53 + 1, -1, 0, 7]
DAYS = [date(1899, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)]
TIMES = [datetime(1960, 5, 1, 3, 4, 5), datetime(2000, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999)]
CENTS = [Decimal("1.10"), Decimal("-0.01"), Decimal("12345678901234.99")]
NAMES = [
    'quo"te',
    "it's",
    "back\\slash",
    "line\nend",
    "select",
    "c0",
    "n",
    "p",
    "d0.v",
    "😀",
    "from`",
    "m",
    "100%",
    " x",
]
VALUES: dict[pl.DataType, list[Any]] = {
    pl.String(): TEXTS,
    pl.Float64(): NUMBERS,
    pl.Int64(): WHOLE,
    pl.Date(): DAYS,
    pl.Datetime("us"): TIMES,
    pl.Decimal(18, 2): CENTS,
    pl.Boolean(): [True, False],
}

NUMBERS = count()
"""A table of its own for every example: an older one may still be locked by its reader."""


@st.composite
def awkward(draw: st.DrawFn) -> Table:
    """A table of three or four columns with awkward names, types and values, nulls among them."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=4, unique=True))
    rows = draw(st.integers(2, 12))
    columns = []
    for name in names:
        dtype = draw(st.sampled_from(list(VALUES)))
        cells = st.one_of(st.none(), st.sampled_from(VALUES[dtype]))
        columns.append(pl.Series(name, draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=dtype))
    return Table(frame=pl.DataFrame(columns), missing=draw(st.sampled_from([("?", ""), ("NULL",), ("(none)",)])))


def domain(source: CellSource, name: str) -> ObservedDomain:
    """The domain of a column; moments are no days, so they are texts."""
    return source.domain(name, "text" if isinstance(source.dtype(name), pl.Datetime) else None)


def counted(source: CellSource, names: list[str]) -> Any:
    """Everything that a source counts, in plain values."""
    domains = [domain(source, name) for name in names]
    cells = source.cells(domains[:2], domains[2:])
    told = [(d.kind, d.labels, d.all_counts.tolist()) for d in domains]
    tallies = {name: tally.dense().tolist() for name, tally in cells.tallies.items()}
    return told, cells.keys.tolist(), cells.sizes.tolist(), tallies


def recoded(source: CellSource, names: list[str]) -> Any:
    """All rows under a mapping that joins values, leaves the second column and hides every third cell."""
    domains = [domain(source, name) for name in names[:2]]
    cells = source.cells(domains)
    mapping = CellMapping(
        cells=cells,
        labels=(("'even'", "od\\d"), cells.labels[1]),
        shown=np.stack([cells.keys[0] % 2, cells.keys[1]]),
        suppressed=np.arange(cells.count) % 3 == 0,
        unchanged=frozenset(names[1:2]),
    )
    found = source.apply(mapping, names[2:])
    rows = zip(*(map(str, found.frame[name].to_list()) for name in names), found.suppressed.tolist(), strict=True)
    return Counter(rows), Counter(source.texts(names, mapping).rows())


def as_local(table: Table, *, decimals: bool = True) -> LocalTable:
    """The table in memory as a plan reads it; PostgreSQL's numbers of any digits come as texts."""
    real = pl.col(pl.Float64)
    plain = table.frame.with_columns(pl.when(real == 0).then(0.0).otherwise(real.fill_nan(None)).name.keep())
    plain = plain if decimals else plain.with_columns(pl.col(pl.Decimal).cast(pl.String))
    return LocalTable(Table(frame=plain, missing=table.missing))


def check_alike(engine: EngineSource, local: LocalTable, names: list[str]) -> None:
    assert engine.names == local.names
    check_some(engine, local, names)


@pytest.mark.slow
@given(awkward())
@examples(60)
def test_counts_and_recoded_rows_in_duckdb_are_those_of_the_table_in_memory(table: Table):
    check_alike(in_duckdb(table, name='peo"ple'), as_local(table), list(table.names))


@pytest.mark.slow
@given(awkward())
@examples(40)
def test_counts_and_recoded_rows_in_postgresql_are_those_of_the_table_in_memory(postgres: str, table: Table):
    engine = in_postgres(postgres, table, name=f"peo\"ple's \\; DROP {next(NUMBERS)}")
    check_alike(engine, as_local(table, decimals=False), list(table.names))


def everything() -> Table:
    """Every awkward value under awkward names; the last row has nothing, and the first twice."""
    rows = max(map(len, VALUES.values()))
    cells = {name: [*(values * rows)[:rows], None] for name, values in zip(NAMES, VALUES.values(), strict=False)}
    types = dict(zip(cells, VALUES, strict=True))
    frame = pl.DataFrame([pl.Series(name, values, dtype=types[name]) for name, values in cells.items()])
    return Table(frame=pl.concat([frame, frame[:3]]), missing=("?", ""))


@pytest.mark.slow
def test_counts_and_recoded_rows_in_spark_are_those_of_the_table_in_memory(spark: Any):
    table = everything()
    engine, local = in_spark(spark, table), as_local(table)
    names = list(table.names)
    check_some(engine, local, [names[place] for place in (0, 1, 4)])
    check_some(engine, local, [names[place] for place in (2, 3, 5)])


def check_some(engine: EngineSource, local: LocalTable, names: list[str]) -> None:
    assert counted(engine, names) == counted(local, names)
    assert recoded(engine, names) == recoded(local, names)


FLAT = {"kind": "flat"}


def plan_for(names: list[str], said: dict[str, Any], folder: Path, algorithm: str = "auto") -> sf.Plan:
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": FLAT} for name in names[:2]}
    columns |= {names[2]: {"role": "sensitive"}} | {name: {"role": "keep"} for name in names[3:]}
    tree = {
        "input": said,
        "columns": columns,
        "privacy": {"k_anonymity": 2},
        "algorithm": {"name": algorithm, "max_suppressed": 0.5, "suppressed": "star"},
        "attack": {"run": False},
    }
    return sf.Plan.parse(tree, folder=folder)


@pytest.mark.slow
@given(st.data(), awkward(), st.sampled_from(["auto", "mondrian", "top-down", "incognito"]))
@examples(60)
def test_releases_of_files_are_those_of_the_file_read_into_memory(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, table: Table, algorithm: str
):
    folder = tmp_path_factory.mktemp("it's [a] {b}*")
    names, text = list(table.names), data.draw(st.booleans())
    file = folder / ("part'[1].csv" if text else "part'[1].parquet")
    if text:
        table.frame.select(pl.all().cast(pl.String)).write_csv(file, quote_style="always")
    else:
        table.frame.write_parquet(file)
    missing = list(table.missing)
    local = plan_for(names, {"path": file.name, "missing": missing}, folder, algorithm)
    engine = plan_for(names, {"path": file.name, "missing": missing, "engine": "duckdb"}, folder, algorithm)
    assert told(engine) == told(local)


def told(plan: sf.Plan) -> Any:
    """The sorted rows of a release, or how it is refused."""
    try:
        made = sf.release(plan)
    except sf.SfumatoError as refusal:
        return type(refusal)
    return sorted(made.rows.select(pl.all().cast(pl.String).fill_null("(null)")).rows()), made.rows.schema


def test_a_folder_of_parts_a_pattern_and_a_database_give_the_same_release(tmp_path: Path):
    frame = sf.datasets.census(600, seed=3)
    parts = tmp_path / "parts"
    (parts / "_hidden").mkdir(parents=True)
    frame[:200].write_parquet(parts / "a.parquet")
    frame[200:].write_parquet(parts / "b.parquet")
    frame[:5].write_parquet(parts / "_hidden" / "c.parquet")
    engine = DuckEngine.opened()
    engine.keep("people", frame)
    engine.connection.execute(f"ATTACH '{tmp_path / 'own.duckdb'}' AS own; CREATE TABLE own.people AS FROM people")
    engine.connection.execute("DETACH own")
    names = ["sex", "education", "occupation", "age"]
    frame.write_parquet(tmp_path / "whole.parquet")
    whole = told(plan_for(names, {"path": "whole.parquet"}, tmp_path))
    for said in (
        {"path": "parts"},
        {"path": "parts/?.parquet", "memory": "200MB"},
        {"database": "own.duckdb", "table": "main.people"},
        {"database": "own.duckdb", "query": "SELECT * FROM people WHERE age >= 0"},
    ):
        assert told(plan_for(names, {**said, "engine": "duckdb"}, tmp_path)) == whole


def test_a_marker_is_chosen_as_for_a_file(tmp_path: Path):
    frame = pl.DataFrame({"a": ["x", None, "?", "x"], "b": ["1", "1", "2", "2"], "s": ["u", "v", "u", "v"]})
    frame.write_parquet(tmp_path / "t.parquet")
    plan = plan_for(list(frame.columns), {"path": "t.parquet", "engine": "duckdb"}, tmp_path)
    assert planned_source(plan).missing == marked(load_table(_local(plan), None, "t.parquet"), plan).missing != ()


def _local(plan: sf.Plan) -> sf.Plan:
    return plan_for(list(plan.columns), {"path": plan.input.path}, plan.folder)


def test_a_table_that_changes_between_count_and_recoding_is_refused():
    frame = pl.DataFrame({"a": ["x", "y", "y"], "b": ["1", "2", "2"]})
    engine = DuckEngine.opened()
    for change in ("UPDATE people SET a = 'y'", "DELETE FROM people WHERE a = 'x'", "UPDATE people SET a = 'new'"):
        engine.keep("people", frame)
        source = EngineSource.reading(engine, statements.named(["people"]))
        cells = source.cells([source.domain("a"), source.domain("b")])
        mapping = CellMapping(cells=cells, labels=cells.labels, shown=cells.keys, suppressed=np.zeros(2, np.bool_))
        assert source.apply(mapping).frame.height == 3
        engine.connection.execute(change)
        with pytest.raises(DataError, match="changed while it was read"):
            source.apply(mapping)


def test_nothing_is_left_of_what_went_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine = DuckEngine.opened(memory="100MB")
    assert engine.ask(statements.size(statements.named(["duckdb_tables"]))).height == 1
    assert len(list(tmp_path.iterdir())) == 1
    del engine
    assert not list(tmp_path.iterdir())
