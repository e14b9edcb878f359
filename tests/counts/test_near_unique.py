"""Near-unique columns: the definition by counting, and by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.counts.near_unique import NearUnique, near_unique, near_unique_columns
from sfumato.tables.schema import Role
from tests.weights import examples

CELLS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "*", "?", None]), min_size=1, max_size=60)


def literal(cells: list[str | None], role: Role, k: int) -> int | None:
    """The definition, row by row: how many rows hold a value that fewer than k rows share; None: no near-unique."""
    holes = {None, "?"} | ({"*"} if role is Role.QUASI else set())
    rare = sum(1 for cell in cells if cell not in holes and sum(1 for other in cells if other == cell) < k)
    flagged = rare > 0 and Fraction(rare, len(cells)) >= Fraction(1, 20) and len(cells) >= k
    return rare if flagged and role not in (Role.IDENTIFIER, Role.UNIT, Role.DROP) else None


@examples(150)
@given(cells=CELLS, role=st.sampled_from(list(Role)), k=st.integers(2, 9))
def test_the_definition(cells, role, k):
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
    found = near_unique_columns(frame, {"x": role}, ["?"], k)
    rare = literal(cells, role, k)
    assert found == (() if rare is None else (NearUnique(column="x", role=role, rows=rare, of=len(cells), k=k),))
    counts = Counter(cell for cell in cells if cell not in (None, "?"))
    if role is Role.KEEP:
        alike = near_unique("x", role, np.array([*counts.values(), 0], np.int64), len(cells), k)
        assert (alike,) == (found or (None,))


def test_one_row_in_twenty_is_the_limit():
    """One value that one row has, among 20 and among 21 rows."""
    for rows, flagged in ((20, True), (21, False)):
        frame = pl.DataFrame({"x": ["rare", *["often"] * (rows - 1)]})
        assert bool(near_unique_columns(frame, {"x": Role.KEEP}, [], 2)) is flagged
    with pytest.raises(ParameterError, match="k must be at least 2"):
        near_unique("x", Role.KEEP, np.array([1]), 1, 1)


def test_numbers_lists_and_bytes_are_counted_too():
    frame = pl.DataFrame({"n": [1.5, 2.5, None], "l": [["a"], ["b"], ["b"]], "b": [b"x", b"y", b"y"]})
    found = near_unique_columns(frame, dict.fromkeys(frame.columns, Role.SENSITIVE), [], 2)
    assert [(one.column, one.rows) for one in found] == [("n", 2), ("l", 1), ("b", 1)]
    assert near_unique_columns(frame, {}, [], 2) == ()


def test_what_is_told():
    told = NearUnique(column="income", role=Role.TARGET, rows=4342, of=4517, k=3).told
    assert told.startswith(
        "income (target) is near-unique: 4,342 of 4,517 rows hold a value that fewer than 3 rows share"
    )
    assert "quasi-identifier with a hierarchy, round it before the release, or drop it" in told
