"""The synthetic citizens and passengers: paths that ascend in time, of the sizes asked for, shared as in a city."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.tables.datasets.synthetic_city import DIAGNOSES, block_names, city
from sfumato.tables.datasets.synthetic_metro import STATUSES, metro, metro_map, station_names
from tests.weights import examples

CITY = city(80_000, seed=1)
METRO = metro(100_000, seed=1)
BOTH = pytest.mark.parametrize("make", [city, metro])


def readings(frame: pl.DataFrame) -> pl.DataFrame:
    """One line per reading: the row, the place, the time."""
    parts = pl.col("path").str.split("|")
    lines = frame.with_row_index("row").select("row", parts).explode("path")
    halves = pl.col("path").str.split("@")
    return lines.with_columns(place=halves.list.get(0), time=halves.list.get(1).cast(pl.Int64))


def check_paths(frame: pl.DataFrame, places: list[str], times: int) -> None:
    lines = readings(frame)
    assert lines["row"].n_unique() == frame.height
    assert lines["place"].is_in(places).all()
    assert lines["time"].is_between(0, times - 1).all()
    after = lines.with_columns(
        later=(pl.col("time") > pl.col("time").shift().over("row")).fill_null(value=True),
        elsewhere=(pl.col("place") != pl.col("place").shift().over("row")).fill_null(value=True),
    )
    assert after["later"].all()
    assert after["elsewhere"].all()


@pytest.mark.parametrize(("frame", "rows", "last"), [(CITY, 80_000, "diagnosis"), (METRO, 100_000, "status")])
def test_columns_types_and_rows(frame: pl.DataFrame, rows: int, last: str) -> None:
    assert dict(frame.schema) == {"id": pl.Int64(), "path": pl.String(), last: pl.String()}
    assert frame.height == rows
    assert frame["id"].n_unique() == rows
    assert sum(frame.null_count().row(0)) == 0


@BOTH
def test_no_rows_have_the_same_columns(make: Callable[..., pl.DataFrame]) -> None:
    assert make(0, seed=1).height == 0
    assert make(0, seed=1).schema == make(3, seed=1).schema


@BOTH
def test_equal_seeds_give_equal_rows(make: Callable[..., pl.DataFrame]) -> None:
    assert make(300, seed=1).equals(make(300, seed=1))
    assert not make(300, seed=1).equals(make(300, seed=2))


def test_citizens_are_in_blocks_at_hours() -> None:
    check_paths(CITY, block_names(26), 24)
    lines = readings(CITY)
    assert 7.5 < lines.height / CITY.height < 8.5
    assert 590 <= lines["path"].n_unique() <= 624


def test_passengers_are_at_stations_at_minutes() -> None:
    check_paths(METRO, station_names(65), 60)
    lines = readings(METRO)
    assert 7.5 < lines.height / METRO.height < 8.5
    assert 3_800 <= lines["path"].n_unique() <= 3_900


@pytest.mark.parametrize(
    ("values", "expected"), [(CITY["diagnosis"], DIAGNOSES), (METRO["status"], STATUSES)], ids=["city", "metro"]
)
def test_the_five_values_have_a_fifth_each(values: pl.Series, expected: tuple[str, ...]) -> None:
    counts = dict(values.value_counts().iter_rows())
    assert set(counts) == set(expected)
    assert all(0.19 < count / values.len() < 0.21 for count in counts.values())


def test_two_readings_of_a_citizen_are_shared_and_three_often_are_not() -> None:
    lines = readings(CITY).select("row", "path", "time")
    pairs = lines.join(lines, on="row", suffix="2").filter(pl.col("time") < pl.col("time2"))
    shared = pairs.group_by("path", "path2").len()
    assert (shared["len"] >= 30).mean() > 0.97  # type: ignore[operator]
    some = pairs.filter(pl.col("time") == 7).join(lines, on="row", suffix="3").filter(pl.col("time2") < pl.col("time3"))
    assert (some.group_by("path", "path2", "path3").len()["len"] < 30).mean() > 0.3  # type: ignore[operator]


def test_a_fifth_of_the_stations_has_most_of_the_passengers() -> None:
    counts = readings(METRO).group_by("place").len()["len"].sort(descending=True)
    assert counts.head(13).sum() > 0.35 * counts.sum()
    minutes = readings(METRO).group_by("time").len().sort("time")["len"]
    assert minutes.arg_max() in range(20, 45)


@examples(25)
@given(st.integers(2, 60), st.integers(2, 30), st.integers(0, 5))
def test_other_cities(blocks: int, hours: int, seed: int) -> None:
    check_paths(city(200, blocks=blocks, hours=hours, seed=seed), block_names(blocks), hours)


@examples(25)
@given(st.integers(4, 120), st.integers(8, 90), st.integers(0, 5))
def test_other_metros(stations: int, minutes: int, seed: int) -> None:
    check_paths(metro(200, stations=stations, minutes=minutes, seed=seed), station_names(stations), minutes)


def test_small_ones_use_all_they_have() -> None:
    small = readings(city(2_000, blocks=5, hours=6, seed=3))
    assert small["path"].n_unique() == 30
    assert readings(metro(2_000, stations=8, minutes=20, seed=3))["path"].n_unique() > 150


@pytest.mark.parametrize("stations", [4, 5, 8, 30, 65, 100])
def test_the_map_has_every_station_and_a_way_between_any_two(stations: int) -> None:
    plan = metro_map(stations)
    assert {station for line in plan.lines for station in line} == set(range(stations))
    assert all(len(set(line)) == len(line) for line in plan.lines)
    tracks = {frozenset(edge) for line in plan.lines for edge in pairwise(line)}
    for way, (begin, end) in enumerate(pairwise(plan.starts.tolist())):
        passed = plan.station[begin:end].tolist()
        assert (passed[0], passed[-1]) == divmod(way, stations)
        assert all(frozenset(edge) in tracks for edge in pairwise(passed))
        assert all(a < b for a, b in pairwise(plan.minute[begin:end].tolist()))


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ParameterError, match="rows must be at least 0, not -1"):
        city(-1, seed=1)
    with pytest.raises(ParameterError, match="blocks must be at least 2, not 1"):
        city(1, blocks=1, seed=1)
    with pytest.raises(ParameterError, match="hours must be at least 2, not 1"):
        city(1, hours=1, seed=1)
    with pytest.raises(ParameterError, match="rows must be at least 0, not -1"):
        metro(-1, seed=1)
    with pytest.raises(ParameterError, match="stations must be at least 4, not 3"):
        metro(1, stations=3, seed=1)
    with pytest.raises(ParameterError, match="minutes must be at least 8, not 3"):
        metro(1, minutes=3, seed=1)
    with pytest.raises(ParameterError, match="seed must be at least 0, not -1"):
        metro(1, seed=-1)
