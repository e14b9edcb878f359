"""The seam of cells: a table in shuffled parts, and one in DuckDB, give the releases of the local table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.core.errors import PlanError
from sfumato.counts.added_sources import AddedCells
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellSource
from sfumato.pipeline.inputs import load_table, marked
from sfumato.tables.table import Table
from tests.golden.releases import adapter, comparing
from tests.golden.releases.plans import PLANS
from tests.golden.releases.plans import TABLES as GOLDEN
from tests.tables.engines.engine_tables import in_duckdb
from tests.weights import thorough

ITEMS = ("set", "trajectory")
TABLES = [
    name
    for name, tree in GOLDEN.items()
    if "epsilon" not in tree["privacy"] and not any(one.get("type") in ITEMS for one in tree["columns"].values())
]
BY_ROWS = ("anatomy", "hilbert", "local-closeness", "microaggregation", "mondrian-relaxed-boxes")
"""Plans whose algorithms tell rows with equal quasi-identifiers apart."""
LONG = "bottom-up-beam"
"""A search that takes seconds; what it asks of a source, shorter searches ask too."""


def in_parts(table: Table, parts: int = 3) -> AddedCells:
    order = np.random.default_rng(5).permutation(table.rows)
    pieces = [Table(frame=table.frame[part], missing=table.missing) for part in np.array_split(order, parts)]
    return AddedCells(parts=tuple(map(LocalTable, pieces)))


def source_of(plan: sf.Plan, path: str, make: Any) -> CellSource:
    return make(marked(load_table(plan, None, path), plan))  # type: ignore[no-any-return]


def released(name: str, make: Any) -> sf.Release:
    plan = adapter.plan_of(PLANS[name], comparing.HERE)
    rows = source_of(plan, plan.input.path, make)
    people = None if plan.input.population is None else source_of(plan, plan.input.population, make)
    return sf.release(plan, rows, population=people)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        (name, make)
        for name in TABLES
        for make in (in_parts, in_duckdb)
        if name not in BY_ROWS and (name != LONG or make is in_duckdb or thorough())
    ],
)
def test_releases_are_equal_row_for_row(name: str, make: Any):
    made = released(name, make)
    for ending, golden in comparing.kept(name).items():
        assert comparing.tables(made)[ending].rows() == golden.rows()
    assert made.frame is made.rows


@pytest.mark.parametrize("make", [in_parts, in_duckdb])
@pytest.mark.parametrize("name", BY_ROWS)
def test_a_search_by_rows_refuses_a_source_that_only_counts(name: str, make: Any):
    with pytest.raises(PlanError, match="needs single rows, and this source only counts"):
        released(name, make)


def test_added_parts_have_the_cells_of_the_whole():
    frame = sf.datasets.census(600, seed=3).with_columns(
        education=pl.when(pl.col("age") < 25).then(None).otherwise(pl.col("education"))
    )
    table = Table(frame=frame, missing=("?",))
    whole, parts = LocalTable(table), in_parts(table, 4)
    names, counted = ("age", "sex", "education"), ("occupation", "hours-per-week")
    mine, theirs = ([one.domain(name) for name in names] for one in (whole, parts))
    assert [(d.kind, d.labels, d.all_counts.tolist()) for d in mine] == [
        (d.kind, d.labels, d.all_counts.tolist()) for d in theirs
    ]
    a = whole.cells(mine, [whole.domain(name) for name in counted])
    b = parts.cells(theirs, [parts.domain(name) for name in counted])
    assert a.keys.tolist() == b.keys.tolist()
    assert a.sizes.tolist() == b.sizes.tolist()
    for name in counted:
        assert a.tally(name).dense().tolist() == b.tally(name).dense().tolist()


def test_a_mapping_of_values_is_told_where_a_value_always_reads_alike():
    whole = adapter.made(adapter.plan_of(PLANS["optimal-k"], comparing.HERE))
    for place, name in enumerate(whole.recoding.mapping.cells.quasi):
        labels = whole.recoding.mapping.by_value(place)
        mapped = whole.prepared.source.apply(whole.recoding.mapping).frame[name].cast(pl.String)
        assert mapped.to_list() == [labels[value] for value in whole.prepared.source.texts([name])[name]]
    local = adapter.made(adapter.plan_of(PLANS["mondrian"], comparing.HERE)).recoding.mapping
    assert None in [local.by_value(place) for place in range(len(local.cells.quasi))]
