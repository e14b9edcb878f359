"""Set-valued columns: read from texts and lists, refused by row, written back."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError, UnknownColumn
from sfumato.tables.files import read, write
from sfumato.tables.item_sets import ItemColumn, as_lists, set_column, written
from sfumato.tables.table import Table

ITEMS = st.one_of(
    st.integers(-20, 120).map(str), st.text("abÄ7 ,-", min_size=1, max_size=3).map(str.strip).filter(bool)
)
SETS = st.lists(st.lists(ITEMS, max_size=6), max_size=8)


def table(cells: object, dtype: object = None, missing: tuple[str, ...] = ()) -> Table:
    series = pl.Series("items", cells, dtype)  # type: ignore[arg-type]
    return Table(frame=pl.DataFrame({"items": series}), source="t.csv", missing=missing)


def rows(column: ItemColumn) -> list[list[str]]:
    """The items of each row, by label."""
    ends = column.starts.tolist()
    return [[column.labels[c] for c in column.codes[a:b]] for a, b in pairwise(ends)]


def same(one: ItemColumn, other: ItemColumn) -> bool:
    """Whether two columns say the same in the same way."""
    plain = ("name", "kind", "labels", "places", "times")
    arrays = ("starts", "codes", "place", "time")
    return all(getattr(one, f) == getattr(other, f) for f in plain) and all(
        np.array_equal(getattr(one, f), getattr(other, f)) and getattr(one, f).dtype == getattr(other, f).dtype
        for f in arrays
    )


def in_order(labels: set[str]) -> list[str]:
    """Whole numbers by size, else texts: from the definition."""
    whole = all(label.removeprefix("-").isdigit() and str(int(label)) == label for label in labels)
    return sorted(labels, key=int) if whole else sorted(labels)


@settings(deadline=None)
@given(SETS, st.data())
def test_sets_are_read_as_defined_and_back(cells: list[list[str]], data: st.DataObject) -> None:
    blanks = st.sampled_from(["", " ", "  "])
    texts = ["|".join(data.draw(blanks) + item + data.draw(blanks) for item in cell) for cell in cells]
    column = set_column(table(texts, pl.String), "items")
    order = in_order({item for cell in cells for item in cell})
    assert list(column.labels) == order
    assert rows(column) == [sorted(set(cell), key=order.index) for cell in cells]
    assert (column.starts.dtype, column.codes.dtype) == (np.int64, np.int32)
    assert same(set_column(table(cells, pl.List(pl.String)), "items"), column)
    for lists in (False, True):
        back = written(column, lists=lists)
        assert (back.name, back.dtype) == ("items", pl.List(pl.String) if lists else pl.String)
        assert same(set_column(table(back), "items"), column)


def test_numbers_are_ordered_by_size_and_codes_as_text() -> None:
    assert set_column(table(["10|9", "2"]), "items").labels == ("2", "9", "10")
    assert set_column(table(["010|9", "2"]), "items").labels == ("010", "2", "9")
    assert set_column(table([[10, 9], [2], []]), "items").labels == ("2", "9", "10")


def test_cells_without_a_value_are_empty_sets() -> None:
    column = set_column(table(["a|b", "", None, "?", "  "], missing=("?",)), "items")
    assert rows(column) == [["a", "b"], [], [], [], []]
    assert written(column, lists=False).to_list() == ["a|b", "", "", "", ""]
    assert rows(set_column(table([["a"], None, []]), "items")) == [["a"], [], []]


@pytest.mark.parametrize("dtype", [pl.String, pl.List(pl.String), pl.Null, pl.List(pl.Null), pl.Categorical])
@pytest.mark.parametrize("height", [0, 3])
def test_tables_without_items(dtype: pl.DataType, height: int) -> None:
    column = set_column(table([None] * height, dtype), "items")
    assert (column.rows, column.labels, rows(column)) == (height, (), [[]] * height)
    assert written(column, lists=False).to_list() == [""] * height
    assert written(column, lists=True).to_list() == [[]] * height
    assert same(set_column(table(written(column, lists=True)), "items"), column)


def test_lists_of_other_types() -> None:
    expected = [["a", "b"], ["b"]]
    assert rows(set_column(table([["b", "a"], ["b", "b"]], pl.List(pl.Categorical)), "items")) == expected
    assert rows(set_column(table([["b", "a"], ["b", "b"]], pl.Array(pl.String, 2)), "items")) == expected


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", "a||b"], "t.csv, column 'items', row 2, item 2 '': is empty; remove it, or leave the whole cell empty"),
        (["a|"], "row 1, item 2 '': is empty"),
        ([["a"], ["b", None]], "row 2, item 2 '': is empty"),
        ([["a"], ["b", " "]], "row 2, item 2 '': is empty"),
        ([["a"], [], ["b|c"]], "row 3, item 1 'b|c': contains the separator '|'; name another separator, one that no"),
        (["a|?"], "row 1, item 2 '?': is a text that means a missing value ('?'); name it otherwise"),
        ([["?"]], "row 1, item 1 '?': is a text that means a missing value"),
        ([1, 2], "t.csv, column 'items': the cells are of type Int64; texts split by '|', or lists of texts or whole"),
        ([[1.5]], "the cells are of type List(Float64)"),
    ],
)
def test_cells_that_are_no_sets_are_refused_by_row(cells: list[object], message: str) -> None:
    with pytest.raises(DataError) as refusal:
        set_column(table(cells, missing=("?",)), "items")
    assert message in str(refusal.value)


def test_separators() -> None:
    assert rows(set_column(table(["a|1, b"]), "items", separator=",")) == [["a|1", "b"]]
    assert rows(set_column(table([["a|1", "b"]]), "items", separator=",")) == [["a|1", "b"]]
    for wrong in ("", "||", None):
        with pytest.raises(ParameterError, match="separator must be one character"):
            set_column(table(["a"]), "items", separator=wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"column 'items': the item 'a\|1' contains the separator '\|'"):
        written(set_column(table(["a|1, b"]), "items", separator=","), lists=False)
    with pytest.raises(UnknownColumn):
        set_column(table(["a"]), "item")


@settings(deadline=None)
@given(SETS.filter(bool))
def test_lists_survive_parquet_and_texts_survive_csv(cells: list[list[str]]) -> None:
    column = set_column(table(cells, pl.List(pl.String)), "items")
    with tempfile.TemporaryDirectory() as folder:
        for name, lists in (("t.parquet", True), ("t.arrow", True), ("t.csv", False)):
            path = Path(folder) / name
            number = pl.Series("row", range(len(cells)), pl.Int64)
            write(pl.DataFrame([number, written(column, lists=lists)]), path)
            assert same(set_column(read(path, delimiter="," if name == "t.csv" else None), "items"), column)


def test_lists_by_their_starts() -> None:
    lists = as_lists(np.array([0, 0, 2, 3]), pl.Series("x", ["a", "b", "c"]))
    assert lists.to_list() == [[], ["a", "b"], ["c"]]


def test_many_rows() -> None:
    drawn = np.random.default_rng(0).integers(0, 50, (200_000, 5))
    cells = as_lists(np.arange(200_001) * 5, pl.Series("items", drawn.ravel()))
    column = set_column(table(cells), "items")
    assert column.labels == tuple(map(str, range(50)))
    np.testing.assert_array_equal(np.diff(column.starts)[:50], [len(set(row)) for row in drawn[:50].tolist()])
    assert same(set_column(table(written(column, lists=False)), "items"), column)
