"""Long tables become one row per person; grids name squares."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor, inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError, UnknownColumn
from sfumato.tables.files import read
from sfumato.tables.item_sets import set_column
from sfumato.tables.long_tables import Long, gathered, joined
from sfumato.tables.map_squares import Grid
from sfumato.tables.table import Table
from sfumato.tables.trajectories import Clock, trajectory_column
from tests.shared_data import shared

VISITS = Long(name="path", kind="trajectory", id=("who",), place="place", time="time")
POINTS = replace(VISITS, place=None, x="x", y="y", grid=Grid(low=(0, 0), high=(4, 2), step=1))
GOODS = Long(name="goods", kind="set", id=("who",), item="item")
READINGS = st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from("abc"), st.integers(0, 9)), max_size=14)


def table(source: str = "long.csv", missing: tuple[str, ...] = (), **columns: object) -> Table:
    return Table(frame=pl.DataFrame(columns), source=source, missing=missing)


def visits(*readings: tuple[object, str, object]) -> Table:
    schema = {"who": pl.String, "place": pl.String, "time": pl.String}
    rows = [(who, place, None if at is None else str(at)) for who, place, at in readings]
    return Table(frame=pl.DataFrame(rows, schema=schema, orient="row"), source="long.csv")


def said(found: Table, name: str = "path") -> dict[str, list[str]]:
    return dict(zip(found.frame["who"], found.frame[name].to_list(), strict=True))


def twin(readings: list[tuple[str, str, int]], *, first: bool, step: int = 0) -> dict[str, list[str]] | None:
    """The trajectory of each person, or None where somebody is at two places at once; from the definition."""
    people: dict[str, list[str]] = {}
    for who in dict.fromkeys(reading[0] for reading in readings):
        mine = sorted((r for r in readings if r[0] == who), key=lambda r: r[2])
        if not first and len({at for _, _, at in mine}) < len({(place, at) for _, place, at in mine}):
            return None
        ticks: dict[int, str] = {}
        for _, place, at in mine:
            ticks.setdefault(at // step if step else at, place)
        pairs = list(ticks.items())
        people[who] = [f"{place}@{at}" for i, (at, place) in enumerate(pairs) if i == 0 or pairs[i - 1][1] != place]
    return people


@settings(deadline=None)
@given(READINGS, st.sampled_from(["refuse", "first"]), st.sampled_from([0, 1, 3]))
def test_readings_are_gathered_as_defined(readings: list[tuple[str, str, int]], ties: str, step: int) -> None:
    clock = Clock(step=step) if step else None
    spec = replace(VISITS, ties=ties, clock=clock)  # type: ignore[arg-type]
    expected = twin(readings, first=ties == "first", step=step)
    if expected is None:
        with pytest.raises(DataError, match=r"long\.csv, rows \d+ and \d+: who [uvw] is at two places at the time"):
            gathered(visits(*readings), spec)
        return
    found = gathered(visits(*readings), spec)
    assert (list(said(found)), said(found)) == (list(expected), expected)
    assert found.names == ("who", "path")
    column = trajectory_column(found, "path")
    assert [end - start for start, end in zip(column.starts, column.starts[1:], strict=False)] == [
        len(pairs) for pairs in expected.values()
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("uvw"), st.integers(0, 12)), max_size=12))
def test_items_are_gathered_as_sets(rows: list[tuple[str, int]]) -> None:
    long = table(
        who=pl.Series([w for w, _ in rows], dtype=pl.String), item=pl.Series([i for _, i in rows], dtype=pl.Int64)
    )
    found = gathered(long, GOODS)
    expected = {who: sorted({i for w, i in rows if w == who}) for who, _ in rows}
    assert said(found, "goods") == {who: list(map(str, items)) for who, items in expected.items()}
    assert set_column(found, "goods").rows == len(expected)


def test_several_ids_and_columns_that_are_kept() -> None:
    long = table(
        who=[1, 1, 1, 2], trip=["x", "y", "x", "x"], sex=["F", "F", "F", None], place=list("abba"), time=[1, 2, 3, 4]
    )
    spec = replace(VISITS, id=("who", "trip"), keep=("sex",))
    assert gathered(long, spec).frame.rows() == [
        (1, "x", "F", ["a@1", "b@3"]),
        (1, "y", "F", ["b@2"]),
        (2, "x", None, ["a@4"]),
    ]
    changed = table(who=[1, 2, 1], sex=["F", "F", "M"], place=list("aba"), time=[1, 2, 3])
    with pytest.raises(DataError, match=r"long\.csv, rows 1 and 3: who 1 has two values in column 'sex'; keep only"):
        gathered(changed, replace(VISITS, keep=("sex",)))


def test_windows_are_records_of_their_own() -> None:
    long = visits(
        ("u", "a", "2024-05-01T08:05"),
        ("v", "a", "2024-05-02T23:59"),
        ("u", "b", "2024-05-02T00:10"),
        ("u", "c", "2024-05-01T08:09"),
        ("u", "c", "2024-05-01T08:15"),
    )
    found = gathered(long, replace(VISITS, clock=Clock(step="10m", split="1d")))
    assert found.frame.rows() == [("u", ["a@48", "c@49"]), ("u", ["b@1"]), ("v", ["a@143"])]
    once = gathered(long, replace(VISITS, clock=Clock(step="1h", start="2024-05-01")))
    assert said(once) == {"u": ["a@8", "b@24"], "v": ["a@47"]}


def test_points_become_squares() -> None:
    long = table(who=["u", "u", "v"], x=["0.5", "3.2", "9"], y=["0.1", "2", "1"], time=["2", "1", "1"])
    with pytest.raises(DataError) as refusal:
        gathered(long, POINTS)
    assert str(refusal.value) == (
        "long.csv, row 3: the point (9.0, 1.0) lies outside the grid from (0, 0) to (4, 2); points like it: 1; "
        'widen the grid, or drop them with outside = "drop"'
    )
    assert said(gathered(long, replace(POINTS, outside="drop"))) == {"u": ["r1c3@1", "r0c0@2"], "v": []}


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ([("u", "a", 1), (None, "a", 2)], "long.csv, column 'who', row 2: there is no value; fill it in, or remove"),
        ([("u", None, 1)], "column 'place', row 1: there is no value"),
        ([("u", " ", 1)], "column 'place', row 1: there is no value"),
        ([("u", "a", 1), ("u", "a", None)], "column 'time', row 2: there is no value"),
        ([("u", "a", 1), ("u", "a", "x")], "column 'time', row 2, 'x': the time cannot be read; times are numbers"),
        ([("u", "a", 1), ("u", "a", 2), ("u", "a", "8:00")], "row 3, '8:00': the time is a clock time, but other"),
        ([("u", "a", 1), ("v", "a", 1), ("u", "b", 1)], "rows 1 and 3: who u is at two places at the time 1; correct"),
    ],
)
def test_readings_are_refused_by_row(readings: list[tuple[object, str, object]], message: str) -> None:
    with pytest.raises(DataError) as refusal:
        gathered(visits(*readings), VISITS)
    assert message in str(refusal.value)


def test_more_refusals_by_row() -> None:
    with pytest.raises(DataError, match="column 'item', row 2: there is no value"):
        gathered(table(who=["u", "u"], item=["a", "?"], missing=("?",)), GOODS)
    with pytest.raises(DataError, match="column 'y', row 1, 'north': is no finite number"):
        gathered(table(who=["u"], x=[1.0], y=["north"], time=[1]), POINTS)
    with pytest.raises(DataError, match=r"column 'x', row 1, 'nan': is no finite number"):
        gathered(table(who=["u"], x=[nan], y=[1], time=[1]), POINTS)
    with pytest.raises(DataError, match="column 'time', row 2, '3': the time lies before the start of the clock, 5"):
        gathered(visits(("u", "a", 7), ("u", "a", 3)), replace(VISITS, clock=Clock(step=1, start=5)))
    with pytest.raises(UnknownColumn):
        gathered(visits(), replace(VISITS, place="plce"))
    with pytest.raises(UnknownColumn):
        gathered(visits(), replace(VISITS, keep=("sex",)))


def test_empty_long_tables() -> None:
    assert gathered(visits(), VISITS).frame.schema == {"who": pl.String, "path": pl.List(pl.String)}
    assert gathered(visits(), replace(VISITS, clock=Clock(step="1h", split="1d"))).rows == 0
    assert gathered(table(who=pl.Series([], dtype=pl.Int64), item=pl.Series([], dtype=pl.String)), GOODS).rows == 0


def test_people_and_their_points() -> None:
    people = table("people.csv", who=["v", "u", "w"], age=[1, 2, 3])
    paths = gathered(
        visits(("u", "a", 1), ("u", "b", 12), ("v", "c", 1)), replace(VISITS, clock=Clock(step=1, split=10))
    )
    both = joined(people, paths, ("who",), "path")
    assert both.frame.rows() == [("v", 1, ["c@1"]), ("u", 2, ["a@1"]), ("u", 2, ["b@2"]), ("w", 3, [])]
    assert both.source == "people.csv"
    numbered = joined(table(who=["7"]), gathered(table(who=[7], place=["a"], time=[1]), VISITS), ("who",), "path")
    assert numbered.frame.rows() == [("7", ["a@1"])]


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (["v"], "long.csv: who u has points, but is not in people.csv; add the person, or remove the points"),
        (["u", "v", "u"], "people.csv, row 3: who u is there already; one row per person is needed"),
        (["u", None], "people.csv, column 'who', row 2: there is no value"),
    ],
)
def test_people_that_do_not_fit_are_refused(people: list[object], message: str) -> None:
    with pytest.raises(DataError) as refusal:
        joined(table("people.csv", who=people), gathered(visits(("u", "a", 1)), VISITS), ("who",), "path")
    assert message in str(refusal.value)
    with pytest.raises(DataError, match="there is a column 'path' already"):
        joined(table(who=["u"], path=["x"]), gathered(visits(("u", "a", 1)), VISITS), ("who",), "path")


@pytest.mark.parametrize(
    ("base", "change", "message"),
    [
        (VISITS, {"name": ""}, "name must be a non-empty text"),
        (VISITS, {"kind": "path"}, "kind must be one of set, trajectory"),
        (VISITS, {"outside": "keep"}, "outside must be one of refuse, drop"),
        (VISITS, {"ties": "last"}, "ties must be one of refuse, first"),
        (VISITS, {"mark": "-"}, "mark must contain a character that no time contains"),
        (VISITS, {"id": "who"}, "id must be a list of column names"),
        (VISITS, {"id": ()}, "id must name at least one column"),
        (VISITS, {"keep": ("who",)}, "id, keep and name must be different columns"),
        (VISITS, {"time": None}, "kind 'trajectory' needs place, time or grid, time, x, y, not place"),
        (VISITS, {"x": "x"}, "kind 'trajectory' needs"),
        (VISITS, {"item": "item"}, "kind 'trajectory' needs"),
        (POINTS, {"grid": None}, "kind 'trajectory' needs"),
        (GOODS, {"item": None}, "kind 'set' needs item, not nothing"),
        (GOODS, {"clock": Clock(step=1)}, "kind 'set' needs item, not clock, item"),
    ],
)
def test_wrong_records_are_refused(base: Long, change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(base, **change)  # type: ignore[arg-type]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 1205), st.integers(-5, 305)), max_size=20), st.sampled_from([0.1, 0.3, 1.0, 2.5])
)
def test_squares_hold_their_points(points: list[tuple[int, int]], step: float) -> None:
    grid = Grid(low=(0, 0), high=(12, 3), step=step)
    x, y = (np.array([one[axis] / 100 for one in points], np.float64) for axis in (0, 1))
    names = grid.cells(x, y).to_list()
    for (a, b), name in zip(points, names, strict=True):
        if not (0 <= a <= 1200 and 0 <= b <= 300):
            assert name is None
            continue
        row, column = map(int, name[1:].split("c"))
        exact = [floor(Fraction(v, 100) / Fraction(str(step))) for v in (b, a)]
        assert [row, column] == [min(exact[0], grid.rows - 1), min(exact[1], grid.columns - 1)]
        assert len(name) == 2 + len(str(grid.rows - 1)) + len(str(grid.columns - 1))
    assert grid.outside(x, y).tolist() == [i for i, name in enumerate(names) if name is None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": (0,)}, "grid low must be a pair of numbers"),
        ({"low": (0, inf)}, "grid low y must be a finite number"),
        ({"high": (0, 1)}, "grid high x must be above low x = 0, not 0"),
        ({"step": 0}, "grid step must be above 0"),
        ({"step": 1e-300}, "grid step must make at most"),
    ],
)
def test_wrong_grids_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Grid(**{"low": (0, 0), "high": (1, 1), "step": 0.5, **change})  # type: ignore[arg-type]


def test_geolife() -> None:
    long = read(shared("trajectories", "geolife_10min.csv.gz"))
    spec = Long(
        name="path",
        kind="trajectory",
        id=("user",),
        x="lon",
        y="lat",
        time="time_gmt",
        grid=Grid(low=(116.2, 39.8), high=(116.6, 40.1), step=0.02),
        outside="drop",
        clock=Clock(step="1h", split="1d"),
    )
    days = gathered(long, spec)
    column = trajectory_column(days, "path")
    assert days.frame["user"].n_unique() == 182
    assert set(column.times) <= set(map(str, range(24)))
    whole = gathered(long, replace(spec, clock=None))
    assert whole.rows == 182
    lengths = np.diff(trajectory_column(whole, "path").starts)
    assert lengths.tolist() == whole.frame["path"].list.len().to_list()
