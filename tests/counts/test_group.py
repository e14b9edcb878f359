"""Cells, merging and subset counts equal plain counting."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import UnknownColumn
from sfumato.counts.keys import distinct
from sfumato.counts.local_table import cells
from sfumato.models.lkc import subsets
from sfumato.tables.table import Table

ROWS = st.lists(st.tuples(*[st.sampled_from("abc")] * 3, st.sampled_from("12?")), min_size=1, max_size=30)


def table(rows):
    return Table(frame=pl.DataFrame(rows, schema=["x", "y", "z", "s"], orient="row"), missing=("?",))


@given(ROWS)
def test_cells_are_counts_of_distinct_tuples(rows):
    t = table(rows)
    made = cells([t.column(n) for n in "xyz"], [t.column("s")])
    expected = Counter(row[:3] for row in rows)
    found = {tuple(made.classes.label(i).values()): int(made.classes.sizes[i]) for i in range(made.classes.count)}
    assert found == expected
    tally = made.classes.tally("s")
    dense = tally.dense()
    for i in range(made.classes.count):
        key = tuple(made.classes.label(i).values())
        values = Counter(row[3] for row in rows if row[:3] == key)
        assert {v: int(n) for v, n in zip(tally.values, dense[i], strict=True) if n} == values
    assert [tuple(made.classes.label(c).values()) for c in made.row_cell] == [row[:3] for row in rows]


@given(ROWS, st.integers(1, 3))
def test_subset_counts(rows, size):
    t = table(rows)
    made = cells([t.column(n) for n in "xyz"], [t.column("s")]).classes
    seen = []
    for columns, ids, count in subsets(made, size):
        seen.append(columns)
        places = ["xyz".index(c) for c in columns]
        expected = Counter(tuple(row[p] for p in places) for row in rows)
        sizes = np.bincount(ids, weights=made.sizes, minlength=count)
        found = {tuple(made.label(i)[c] for c in columns): int(sizes[group]) for i, group in enumerate(ids)}
        assert found == expected
        assert len(found) == count
        grouped, other = made.project(columns)
        assert np.array_equal(grouped.sizes[other], sizes[ids])
    assert seen == list(combinations("xyz", size))


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 2)] * 3), min_size=1, max_size=20))
def test_numbering_does_not_overflow(rows):
    """Three columns of two thousand million values do not fit into 64 bits; the numbering must not mix them up."""
    columns = [np.array([row[c] for row in rows], np.int32) for c in range(3)]
    ids, count = distinct(columns, [2**31 - 1] * 3, len(rows))
    assert count == len(set(rows))
    assert len({(int(i), row) for i, row in zip(ids, rows, strict=True)}) == count


def test_unknown_columns_are_named():
    t = table([("a", "a", "a", "1")])
    made = cells([t.column("x")], [t.column("s")]).classes
    with pytest.raises(UnknownColumn, match="no column 'q'"):
        made.tally("q")
    with pytest.raises(UnknownColumn, match="no column 'y'"):
        made.project(["y"])
