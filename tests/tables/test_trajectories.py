"""Trajectories are read, ordered, compressed, refused by row, and written back; clocks count their ticks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from fractions import Fraction
from itertools import pairwise
from math import nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.files import read, write
from sfumato.tables.item_sets import ItemColumn, as_lists, written
from sfumato.tables.table import Table
from sfumato.tables.times import Timeline, timeline
from sfumato.tables.trajectories import Clock, trajectory_column
from tests.tables.test_itemized import rows, same

Pair = tuple[str, str]
PLACES = st.one_of(st.sampled_from("abc"), st.text("a@Ä 1", min_size=1, max_size=3).map(str.strip).filter(bool))
TIMES = st.sampled_from(["0", "1", "1.0", "01", "1.5", "1.50", "2", "2.00", "3.", ".5", "10", "-1", "0.25", "7"])
CELLS = st.lists(st.lists(st.tuples(PLACES, TIMES), max_size=5), max_size=6)
ORDERED = CELLS.map(lambda cells: [sorted({Fraction(_full(t)): (p, t) for p, t in c}.items()) for c in cells]).map(
    lambda cells: [[pair for _, pair in cell] for cell in cells]
)


def _full(text: str) -> str:
    """A number that Fraction reads."""
    return text.replace("3.", "3") if text.endswith(".") else text


def table(cells: object, dtype: object = None, missing: tuple[str, ...] = ()) -> Table:
    series = pl.Series("path", cells, dtype)  # type: ignore[arg-type]
    return Table(frame=pl.DataFrame({"path": series}), source="t.csv", missing=missing)


def column(cells: object, **options: object) -> ItemColumn:
    return trajectory_column(table(cells), "path", **options)  # type: ignore[arg-type]


def twin(cells: list[list[Pair]], *, compress: bool = True) -> list[list[tuple[Fraction, str]]] | tuple[int, int]:
    """What each row says, or the row and item of the first fault; from the definition."""
    found = []
    for row, cell in enumerate(cells, 1):
        kept: list[tuple[Fraction, str]] = []
        before: tuple[Fraction, str] | None = None
        for item, (place, written_time) in enumerate(cell, 1):
            now = (Fraction(_full(written_time)), place)
            if before is not None and (now[0] < before[0] or (now[0] == before[0] and now[1] != before[1])):
                return row, item
            if before is None or (now[1] != before[1] if compress else now != before):
                kept.append(now)
            before = now
        found.append(kept)
    return found


def said(one: ItemColumn) -> list[list[tuple[Fraction, str]]]:
    """What each row of the column says, from places and times."""
    pairs = [(Fraction(_full(one.times[t])), one.places[p]) for p, t in zip(one.place, one.time, strict=True)]
    assert pairs == sorted(set(pairs))
    ends = one.starts.tolist()
    return [[pairs[c] for c in one.codes[a:b]] for a, b in pairwise(ends)]


def texts(cells: list[list[Pair]]) -> pl.Series:
    return pl.Series("path", ["|".join(f"{p}@{t}" for p, t in cell) for cell in cells], pl.String)


@settings(deadline=None)
@given(st.one_of(CELLS, ORDERED), st.booleans())
def test_random_cells_are_read_as_defined(cells: list[list[Pair]], compress: bool) -> None:
    expected = twin(cells, compress=compress)
    if isinstance(expected, tuple):
        with pytest.raises(DataError, match=f"column 'path', row {expected[0]}, item {expected[1]} "):
            column(texts(cells), compress=compress)
        return
    found = column(texts(cells), compress=compress)
    assert said(found) == expected
    assert set(found.places) == {place for cell in expected for _, place in cell}
    assert len(found.times) == len({when for cell in expected for when, _ in cell})
    assert found.labels == tuple(
        f"{found.places[p]}@{found.times[t]}" for p, t in zip(found.place, found.time, strict=True)
    )
    assert found.place.dtype == found.time.dtype == found.codes.dtype == np.int32


@settings(deadline=None)
@given(ORDERED)
def test_what_is_written_is_read_as_the_same(cells: list[list[Pair]]) -> None:
    found = column(texts(cells))
    for lists in (False, True):
        assert same(column(written(found, lists=lists)), found)
    structs = pl.Series("path", [[{"place": p, "time": t} for p, t in cell] for cell in cells], STRUCTS)
    assert same(column(structs), found)
    assert same(column(texts(cells).str.split("|").set(texts(cells) == "", None)), found)


STRUCTS = pl.List(pl.Struct({"place": pl.String, "time": pl.String}))


def test_lists_survive_parquet(tmp_path: Path) -> None:
    found = column(["b@2|d@3", "", "d@3|b@2024"])
    write(written(found, lists=True).to_frame(), tmp_path / "t.parquet")
    assert same(trajectory_column(read(tmp_path / "t.parquet"), "path"), found)


def test_the_literature_example_is_read() -> None:
    found = column(["b@2|d@3|c@4|f@6|c@7", "f@6|c@7|e@8"])
    assert found.labels == ("b@2", "d@3", "c@4", "f@6", "c@7", "e@8")
    assert (found.places, found.times) == (("b", "c", "d", "e", "f"), ("2", "3", "4", "6", "7", "8"))
    assert rows(found) == [["b@2", "d@3", "c@4", "f@6", "c@7"], ["f@6", "c@7", "e@8"]]


def test_repeated_readings_keep_the_entry_time() -> None:
    cells = ["a@1|a@1|a@2|b@3|b@3.0|a@4|a@9"]
    assert rows(column(cells)) == [["a@1", "b@3", "a@4"]]
    assert column(cells).times == ("1", "3", "4")
    assert rows(column(cells, compress=False)) == [["a@1", "a@2", "b@3", "a@4", "a@9"]]


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        (["a@2.0|b@10", "a@2"], ("2", "10")),
        (["a@0.50", "a@0.5"], ("0.5",)),
        (["a@02|b@10"], ("02", "10")),
        (["a@8:00|b@9:30:15", "a@08:00", "a@08:00:00"], ("08:00", "9:30:15")),
        (["a@2024-02-29|b@2024-03-01"], ("2024-02-29", "2024-03-01")),
        (["a@2024-05-01T08:00|b@2024-05-01T08:00:00.5", "a@2024-05-01 08:00"], None),
        (["a@2024-05-01T08:00+02:00", "a@2024-05-01T06:00Z"], ("2024-05-01T06:00Z",)),
    ],
)
def test_one_time_has_one_writing(cells: list[str], times: tuple[str, ...] | None) -> None:
    assert column(cells).times == (times or ("2024-05-01 08:00", "2024-05-01T08:00:00.5"))


def test_a_pair_is_split_at_its_last_mark_and_blanks_do_not_count() -> None:
    assert column([" x@home @ 2 | b@3 "]).labels == ("x@home@2", "b@3")
    assert column(["x at 2, b at 3"], separator=",", mark=" at ").places == ("b", "x")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["a@1", "a@1|b"],
            "t.csv, column 'path', row 2, item 2 'b': has no mark '@' between place and time; write pla",
        ),
        (["a@1|@2"], "row 1, item 2 '@2': has no place before the mark '@'; write place@time, such as 'b@2'"),
        (["a@1", "", "b@x"], "row 3, item 1 'b@x': the time cannot be read; times are numbers (2, 2.5), clock times"),
        (["a@1|b@"], "row 1, item 2 'b@': the time cannot be read"),
        (["a@25:00"], "'a@25:00': the time cannot be read"),
        (["a@2023-02-29"], "'a@2023-02-29': the time cannot be read"),
        (["a@1|b@2", "c@3|d@08:00"], "row 2, item 2 'd@08:00': the time is a clock time, but other times of the col"),
        (["a@2024-05-01", "b@2024-05-02", "b@2024-05-01T08:00"], "row 3, item 1 'b@2024-05-01T08:00': the time is a"),
        (["a@3|b@2"], "row 1, item 2 'b@2': goes back in time after 'a@3'; sort the pairs of the cell by time"),
        (["a@3|a@2"], "row 1, item 2 'a@2': goes back in time"),
        (["c@1", "a@3|b@3.0"], "row 2, item 2 'b@3.0': is a second place at the time of 'a@3'; keep one place per ti"),
        (["a@1||b@2"], "row 1, item 2 '': is empty"),
        ([["a@1", "b|c@2"]], "row 1, item 2 'b|c@2': contains the separator '|'"),
        ([[{"place": "a", "time": "2@3"}]], "row 1: the time '2@3' contains the mark '@'"),
        ([[{"place": None, "time": "2"}]], "row 1, item 1 '': is empty"),
        ([[{"place": "a", "time": "2"}], [None]], "row 2, item 1 '': is empty"),
        ([[{"place": " ", "time": "2"}]], "row 1, item 1 '@2': has no place"),
        ([[{"where": "a", "time": "2"}]], "column 'path': structs with the fields place and time are needed"),
        ([[2.5]], "the cells are of type List(Float64)"),
    ],
)
def test_cells_that_are_no_trajectories_are_refused_by_row(cells: list[object], message: str) -> None:
    with pytest.raises(DataError) as refusal:
        column(cells)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([2, 10], ("2", "10")),
        ([2.0, 2.5], ("2", "2.5")),
        ([date(2024, 5, 1), date(2024, 5, 2)], ("2024-05-01", "2024-05-02")),
        ([datetime(2024, 5, 1), datetime(2024, 5, 2)], ("2024-05-01", "2024-05-02")),
        ([datetime(2024, 5, 1, 8), datetime(2024, 5, 2)], ("2024-05-01T08:00:00", "2024-05-02T00:00:00")),
        ([datetime(2024, 5, 1, 8, tzinfo=UTC)] * 2, ("2024-05-01T08:00:00+00:00",)),
        ([time(8), time(9, 30)], ("08:00:00", "09:30:00")),
    ],
)
def test_typed_times_in_structs(times: list[object], expected: tuple[str, ...]) -> None:
    cells = [[{"place": 7, "time": times[0]}], [], None, [{"place": 7, "time": times[1]}]]
    found = column(cells)
    assert (found.times, found.places) == (expected, ("7",))
    assert np.diff(found.starts).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("dtype", [pl.String, pl.List(pl.String), pl.Null, STRUCTS])
@pytest.mark.parametrize("height", [0, 3])
def test_tables_without_pairs(dtype: pl.DataType, height: int) -> None:
    found = trajectory_column(table([None] * height, dtype), "path")
    assert (found.rows, found.labels, found.places, found.times) == (height, (), (), ())
    assert same(column(written(found, lists=True)), found)
    assert same(column(written(found, lists=False)), found)


def test_marks_that_could_not_be_found_again_are_refused() -> None:
    for wrong in ("", "-", " ", "T", ":1"):
        with pytest.raises(ParameterError, match="mark must"):
            column(["a@1"], mark=wrong)
    with pytest.raises(ParameterError, match="mark must not contain the separator"):
        column(["a@1"], mark="|")


def test_many_rows() -> None:
    generator = np.random.default_rng(0)
    when = np.sort(generator.integers(0, 100, (200_000, 8)), axis=1) + np.arange(8)
    where = generator.integers(0, 20, (200_000, 8))
    pairs = pl.Series("path", [f"p{p}@{t}" for p in range(20) for t in range(107)])
    cells = as_lists(np.arange(200_001) * 8, pairs.gather((where * 107 + when).ravel())).list.join("|")
    found = column(cells)
    sample = [
        [(f"p{p}", str(t)) for p, t in zip(*pair, strict=True)] for pair in zip(where[:200], when[:200], strict=True)
    ]
    assert said(column(cells.head(200))) == twin(sample)
    assert found.rows == 200_000
    assert same(column(written(found, lists=False)), found)


@settings(deadline=None)
@given(ORDERED, st.data())
def test_a_release_without_some_pairs_is_read_as_written(cells: list[list[Pair]], data: st.DataObject) -> None:
    found = column(texts(cells))
    lost = np.array(data.draw(st.lists(st.booleans(), min_size=len(found.codes), max_size=len(found.codes))), np.bool_)
    left = replace(
        found,
        codes=found.codes[~lost],
        starts=np.concatenate(([0], np.cumsum(~lost, dtype=np.int64)))[found.starts],
    )
    for lists in (False, True):
        assert rows(column(written(left, lists=lists), compress=False)) == rows(left)


def line(*times: str) -> Timeline:
    return timeline(times, lambda bad: f"{bad}")


def ticks(clock: Clock, *times: str) -> list[list[int]]:
    return [found.tolist() for found in clock.ticks(line(*times))]


def test_ticks() -> None:
    assert ticks(Clock(step=0.1), "0", "0.25", "0.3", "1") == [[0] * 4, [0, 2, 3, 10]]
    assert ticks(Clock(step=2, start=1, split=10), "1", "4", "11", "12") == [[0, 0, 1, 1], [0, 1, 0, 0]]
    assert ticks(Clock(step="30m"), "00:10", "8:00") == [[0, 0], [0, 16]]
    assert ticks(Clock(step="1h", split="6h"), "05:59", "6:00", "14:30") == [[0, 1, 2], [5, 0, 2]]
    assert ticks(Clock(step="1d", start="2024-02-28"), "2024-02-28", "2024-03-01") == [[0, 0], [0, 2]]
    assert ticks(Clock(step="1h", start="2024-05-01T06:00"), "2024-05-01T05:59:59", "2024-05-01T07:00")[1] == [-1, 1]
    assert ticks(Clock(step="1d", split="1w"), "2024-05-06", "2024-05-12", "2024-05-13")[1] == [0, 6, 0]
    assert ticks(Clock(step="1h", split="1d"), "2024-05-01T01:00+02:00", "2024-05-01T00:00Z")[1] == [23, 0]


@pytest.mark.parametrize(
    ("clock", "time", "message"),
    [
        (Clock(step="1h"), "5", "clock step '1h': a time of the table is a number; the step must be a number"),
        (Clock(step=1), "08:00", "clock step 1: a time of the table is a clock time; the step must be a duration"),
        (Clock(step="1h"), "2024-05-01", "a date, which needs a start to count from; name the start, or split the"),
        (Clock(step="1h", start="08:00"), "2024-05-01", "clock start '08:00': a time of the table is a date; the st"),
    ],
)
def test_clocks_that_do_not_fit_the_times(clock: Clock, time: str, message: str) -> None:
    with pytest.raises(DataError) as refusal:
        clock.ticks(line(time))
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "10 minutes"}, "clock step must be a number or a duration such as"),
        ({"step": 0}, "clock step must be above 0"),
        ({"step": "1h", "split": "1m"}, "clock split must be at least one step of '1h', not '1m'"),
        ({"step": "1h", "split": 5}, "must both be numbers or both durations"),
        ({"step": "1h", "start": "noon"}, "clock start must be a time, not 'noon'; times are numbers"),
        ({"step": 1, "start": nan}, "clock start must be a finite number"),
    ],
)
def test_wrong_clocks_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Clock(**options)  # type: ignore[arg-type]
