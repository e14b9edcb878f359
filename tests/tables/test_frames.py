"""Frames of other libraries come in, and go back as what they were."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.frames import from_frame, to_native
from sfumato.tables.table import Table

CELLS = {"age": [31, 47], "name": ["Ann", "Bob"]}
FRAME = pl.DataFrame(CELLS)
KINDS: dict[str, Callable[[], object]] = {
    "pandas": lambda: pd.DataFrame(CELLS),
    "polars": lambda: pl.DataFrame(CELLS),
    "polars, lazy": lambda: pl.LazyFrame(CELLS),
    "pyarrow": lambda: pa.table(CELLS),
    "duckdb": lambda: duckdb.sql("select * from (values (31, 'Ann'), (47, 'Bob')) as t(age, name)"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_in_and_goes_back(kind: str) -> None:
    native = KINDS[kind]()
    table = from_frame(native, missing=["?"])
    assert table.frame.cast({"age": pl.Int64}).equals(FRAME)
    assert table.missing == ("?",)
    back = to_native(table.frame, native)
    assert type(back) is type(native)
    assert from_frame(back).frame.equals(table.frame)


def test_a_table_passes_through() -> None:
    table = Table(frame=FRAME, source="people.csv")
    assert from_frame(table) is table
    marked = from_frame(table, missing=["?"])
    assert (marked.source, marked.missing, table.missing) == ("people.csv", ("?",), ())
    assert to_native(FRAME, table) is FRAME


def test_messages_know_where_a_frame_comes_from() -> None:
    assert from_frame(KINDS["pandas"]()).source == "the pandas frame"


def test_the_types_of_pandas_are_understood_and_its_index_is_no_column() -> None:
    native = pd.DataFrame(
        {
            "category": pd.Categorical(["a", "b", None]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "text": ["x", None, "z"],
            "when": pd.to_datetime(["2020-01-01", "2020-02-01", None]),
            "day": [date(2020, 1, 1), None, date(2020, 1, 3)],
            "real": [1.5, float("nan"), 3.0],
        },
        index=["p", "q", "r"],
    )
    frame = from_frame(native).frame
    assert frame["category"].cast(pl.String).to_list() == ["a", "b", None]
    assert frame["whole"].to_list() == [1, None, 3]
    assert frame["text"].to_list() == ["x", None, "z"]
    assert frame["when"].to_list() == [datetime(2020, 1, 1), datetime(2020, 2, 1), None]
    assert frame["day"].to_list() == [date(2020, 1, 1), None, date(2020, 1, 3)]
    assert frame["real"].to_list() == [1.5, None, 3.0]
    assert from_frame(to_native(frame, native)).frame.equals(frame)


def test_a_duckdb_relation_outlives_the_frame_it_was_made_of() -> None:
    relation = to_native(pl.DataFrame({"a": [1, 2]}), KINDS["duckdb"]())
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert relation.fetchall() == [(1,), (2,)]


@pytest.mark.parametrize("odd", [{"a": [1]}, [[1, 2]], 3, None, "people.csv", pd.Series([1]), pl.Series([1])])
def test_what_is_no_frame_is_refused(odd: object) -> None:
    with pytest.raises(DataError, match=f"a {type(odd).__name__} is not a table; give a pandas, polars"):
        from_frame(odd)
    with pytest.raises(DataError, match="is not a table"):
        to_native(FRAME, odd)


def test_names_that_are_no_text_are_refused() -> None:
    with pytest.raises(DataError, match=r"the pandas frame: the column name 7 is int, not text; rename .* to '7'"):
        from_frame(pd.DataFrame({"a": [1], 7: [2]}))
    with pytest.raises(DataError, match="column 2 has a blank name"):
        from_frame(pl.DataFrame({"a": [1], " ": [2]}))


@pytest.mark.parametrize("native", [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])])
def test_repeated_names_are_refused(native: object) -> None:
    with pytest.raises(DataError, match=r"'a' 2 times.*give every column a name of its own"):
        from_frame(native)


@pytest.mark.parametrize("cells", [["x", 1, 2.5], [{1}, 2, "x"]])
def test_a_column_of_mixed_types_is_named(cells: list[object]) -> None:
    with pytest.raises(DataError, match="the pandas frame: column 'odd' mixes values of different types"):
        from_frame(pd.DataFrame({"fine": [1, 2, 3], "odd": cells}))


def test_missing_is_a_list() -> None:
    with pytest.raises(ParameterError, match="missing must be a list of texts"):
        from_frame(FRAME, missing="NA")
