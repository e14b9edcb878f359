"""Statements that rows make about themselves: tried by groups, they single out whom counting every row singles out."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import singling_out
from sfumato.attacks.predicates import Numbers, Sheet, Words
from sfumato.attacks.singling_out import RowStatements
from tests.weights import examples


def numbers(low: list[float], high: list[float], *, exact: bool) -> Numbers:
    order = np.argsort(low, kind="stable").astype(np.int64)
    values = np.array(low)
    return Numbers(low=values, high=np.array(high), order=order, sorted=values[order], exact=exact)


def words(codes: list[int], *, exact: bool) -> Words:
    values = np.array(codes, np.int32)
    order = np.argsort(values, kind="stable").astype(np.int64)
    covers = np.zeros((0, 0), np.bool_) if exact else np.eye(4, dtype=np.bool_)
    strange = np.zeros((len(covers), 1), np.bool_)
    return Words(
        codes=values, covers=np.concatenate([covers, strange], axis=1), order=order, sorted=values[order], exact=exact
    )


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    rows = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    known = st.one_of(st.integers(0, 5).map(float), st.just(nan))
    low = column(known)
    wide = [value + more for value, more in zip(low, column(st.integers(0, 2)), strict=True)]
    exact = column(known)
    columns = {
        "label": words(column(st.integers(0, 3)), exact=False),
        "word": words(column(st.integers(0, 3)), exact=True),
        "range": numbers(low, wide, exact=False),
        "number": numbers(exact, exact, exact=True),
    }
    return Sheet(columns=columns, height=rows)


@examples(200)
@given(sheet=sheets(), data=st.data())
def test_groups_single_out_whom_all_rows_single_out(sheet, data):
    said = RowStatements(sheet)
    choices = st.lists(st.sampled_from(list(sheet.columns)), min_size=1, unique=True).map(tuple)
    tries = data.draw(st.lists(st.tuples(st.integers(0, sheet.height - 1), choices), min_size=1, max_size=20))
    assert said.singled(tries).tolist() == [sheet.singled(said.predicate(tried)) for tried in tries]


@pytest.mark.parametrize(("block", "first", "far"), [(1, 3, 1), (2, 12, 2)])
def test_large_groups_are_asked_in_short_and_single_out_the_same(block: int, first: int, far: int):
    """What is left out of large tables is left out of tables of some rows; whoever fits is counted row by row."""

    @examples(120)
    @given(sheet=sheets(), more=sheets(), data=st.data())
    def compared(sheet: Sheet, more: Sheet, data: st.DataObject) -> None:
        other = np.resize(more.columns["range"].low, sheet.height)
        sheet = Sheet(columns=sheet.columns | {"other": numbers(other, other, exact=False)}, height=sheet.height)
        choices = st.lists(st.sampled_from(["range", "other", "word"]), min_size=1, unique=True).map(tuple)
        tries = [(row, data.draw(choices)) for row in range(sheet.height)]
        said = RowStatements(sheet)
        every = np.arange(sheet.height)
        literal = [sheet.fitting(said.predicate(tried), every) == 1 for tried in tries]
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (("BLOCK", block), ("_FIRST_ROWS", first), ("_FAR_OUT", far)):
                patch.setattr(singling_out, name, value)
            assert said.singled(tries).tolist() == literal

    compared()
