"""Long tables, one row per reading or item, become tables with one row per person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import one_of, text
from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.tables.item_sets import as_lists, in_order, ranked
from sfumato.tables.map_squares import Grid
from sfumato.tables.table import TEXTS, Codes, Table, as_text
from sfumato.tables.times import Timeline, time_text, timeline
from sfumato.tables.trajectories import Clock, checked_mark

__all__ = ["Long", "gathered", "joined"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Long:
    """How a long table is to be read: whose row it is, and what it says."""

    name: str
    """The name of the column of lists."""
    kind: Literal["set", "trajectory"]
    """Whether a row holds an item, or a place and a time."""
    id: tuple[str, ...]
    """The columns that say whose row it is."""
    place: str | None = None
    """The column of places; or else x, y and a grid."""
    time: str | None = None
    """The column of times."""
    x: str | None = None
    """The column of the first coordinate (a longitude)."""
    y: str | None = None
    """The column of the second coordinate (a latitude)."""
    item: str | None = None
    """The column of items, for sets."""
    grid: Grid | None = None
    """The squares that coordinates fall into."""
    clock: Clock | None = None
    """What turns times into ticks, and long records into windows."""
    outside: Literal["refuse", "drop"] = "refuse"
    """What happens to points outside the grid."""
    keep: tuple[str, ...] = ()
    """More columns to keep; each must say one thing per id."""
    ties: Literal["refuse", "first"] = "refuse"
    """What happens to two places at one time: refused, or the first row counts."""
    repeats: Literal["first", "keep"] = "first"
    """Of the same place read several times in a row: the first reading counts, or all are kept."""
    mark: str = "@"
    """What stands between place and time."""

    def __post_init__(self) -> None:
        text("name", self.name)
        one_of("kind", self.kind, ("set", "trajectory"))
        one_of("outside", self.outside, ("refuse", "drop"))
        one_of("ties", self.ties, ("refuse", "first"))
        one_of("repeats", self.repeats, ("first", "keep"))
        checked_mark(self.mark)
        for name, columns in (("id", self.id), ("keep", self.keep)):
            if not isinstance(columns, tuple) or not all(isinstance(column, str) and column for column in columns):
                raise ParameterError(f"{name} must be a list of column names, not {columns!r}")
        if not self.id:
            raise ParameterError("id must name at least one column")
        every = (*self.id, *self.keep, self.name)
        if len(set(every)) < len(every):
            raise ParameterError(f"id, keep and name must be different columns, not {listed(every)}")
        self._check_parts()

    def _check_parts(self) -> None:
        """The parts are those of a set, of places, or of points on a grid."""
        parts = ("place", "time", "x", "y", "item", "grid", "clock")
        given = {part for part in parts if getattr(self, part) is not None}
        if self.kind == "set":
            ways: tuple[set[str], ...] = ({"item"},)
        else:
            ways = ({"place", "time"}, {"x", "y", "time", "grid"})
        if given - {"clock"} not in ways or (self.kind == "set" and self.clock is not None):
            needed = " or ".join(", ".join(sorted(way)) for way in ways)
            raise ParameterError(f"kind {self.kind!r} needs {needed}, not {', '.join(sorted(given)) or 'nothing'}")


def gathered(table: Table, spec: Long) -> Table:
    """One row per id (and window), in order of first appearance: the ids, what is kept, and a list of texts.

    Items are distinct and in order. Readings are sorted by time; of the same place read several times in a row the
    first reading is kept. With a clock, the first reading of a tick stands for the tick. Readings of two places at
    one time are refused, unless the first row shall count. A person whose points all lie outside the grid has an
    empty list.
    """
    ids = _ids(table, spec)
    if spec.kind == "set":
        owner, texts = _items(table, spec, ids)
        firsts = np.unique(ids, return_index=True)[1]
    else:
        owner, texts, firsts = _trajectories(table, spec, ids)
    starts = np.searchsorted(owner, np.arange(len(firsts) + 1)).astype(np.int64)
    lists = as_lists(starts, texts.alias(spec.name))
    frame = table.frame.select(*spec.id, *spec.keep)[firsts].with_columns(lists)
    return Table(frame=frame, source=table.source, missing=table.missing)


def joined(people: Table, gathered: Table, id: tuple[str, ...], name: str) -> Table:  # noqa: A002  as in Long
    """The table of people with the gathered column added; who has no points has an empty list.

    A person with several windows stands in as many rows.
    """
    if name in people.names:
        raise DataError(f"{people.source}: there is a column {name!r} already; give the gathered column another name")
    keys = [f"{id_name}\0" for id_name in id]
    left, right = (_keyed(table, id, keys) for table in (people, gathered))
    _refuse_repeated(people, left, id, keys)
    right = right.select(*keys, pl.col(name))
    stray = right.join(left, on=keys, how="anti", maintain_order="left")
    if stray.height:
        raise DataError(
            f"{gathered.source}: {_person(id, stray.select(keys).row(0))} has points, but is not in {people.source}; "
            "add the person, or remove the points"
        )
    frame = left.join(right, on=keys, how="left", maintain_order="left_right")
    column = pl.col(name).fill_null(pl.lit([], dtype=pl.List(pl.String)))
    return Table(frame=frame.with_columns(column).drop(keys), source=people.source, missing=people.missing)


def _keyed(table: Table, id: tuple[str, ...], keys: list[str]) -> pl.DataFrame:  # noqa: A002  as in Long
    """The frame with its ids as texts beside it."""
    for column in id:
        _refuse_missing(table, column)
    return table.frame.with_columns(
        as_text(table.frame[column]).alias(key) for column, key in zip(id, keys, strict=True)
    )


def _refuse_repeated(people: Table, frame: pl.DataFrame, id: tuple[str, ...], keys: list[str]) -> None:  # noqa: A002
    twice = np.flatnonzero(~frame.select(pl.struct(keys).is_first_distinct()).to_series().to_numpy())
    if len(twice):
        who = frame.select(keys).row(int(twice[0]))
        raise DataError(
            f"{people.source}, row {twice[0] + 1}: {_person(id, who)} is there already; one row per person is needed"
        )


def _ids(table: Table, spec: Long) -> Ints:
    """Whose row each is: a number per id, in order of first appearance."""
    for name in spec.id:
        _refuse_missing(table, name)
    for name in spec.keep:
        table.require(name)
    rows = table.frame.select(spec.id)
    people = rows.unique(maintain_order=True).with_row_index("\0")
    ids = rows.join(people, on=spec.id, how="left", maintain_order="left")["\0"].to_numpy().astype(np.int64)
    first = np.unique(ids, return_index=True)[1][ids]
    for name in spec.keep:
        cells = table.frame[name]
        other = np.flatnonzero(~cells.eq_missing(cells.gather(first)).to_numpy())
        if len(other):
            row = int(other[0])
            raise DataError(
                f"{table.source}, rows {first[row] + 1} and {row + 1}: {_person(spec.id, rows.row(row))} has two "
                f"values in column {name!r}; keep only columns with one value per person"
            )
    return ids


def _items(table: Table, spec: Long, ids: Ints) -> tuple[Ints, pl.Series]:
    """Whose each item is, and the items: distinct, in order."""
    labels, codes = in_order(_texts(table, str(spec.item)))
    count = max(len(labels), 1)
    keys = np.unique(ids * count + codes)
    return keys // count, pl.Series(labels, dtype=pl.String).gather(keys % count)


def _trajectories(table: Table, spec: Long, ids: Ints) -> tuple[Ints, pl.Series, Ints]:
    """Whose each pair is, the pairs, and the first row of each record."""
    line, times = _times(table, str(spec.time))
    window, tick, writings = _ticked(table, spec, line, times)
    _, firsts, owner = np.unique(_pair(ids, window[times]), return_index=True, return_inverse=True)
    places = _squares(table, spec) if spec.place is None else _texts(table, spec.place)
    order = np.lexsort((times, owner))
    order = order[places.is_not_null().to_numpy()[order]]
    where = ranked(places.fill_null(""))[1]
    if spec.ties == "refuse":
        _refuse_ties(table, spec, order, where, _new(owner[order], times[order]))
    order = order[_new(owner[order], tick[times[order]])]
    if spec.repeats == "first":
        order = order[_new(owner[order], where[order])]
    return owner[order], places.gather(order) + spec.mark + writings.gather(times[order]), firsts


def _pair(left: Ints, right: Ints) -> Ints:
    """One number for two, in their order."""
    distinct, rank = np.unique(right, return_inverse=True)
    return left * len(distinct) + rank


def _new(*columns: NDArray[np.generic]) -> Mask:
    """Which rows differ from the row before."""
    differs = np.ones(len(columns[0]), np.bool_)
    differs[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return differs


def _refuse_ties(table: Table, spec: Long, order: Ints, where: Codes, new: Mask) -> None:
    """Rows stand in the order of owner and time; those that are not new must be at the place of the row before."""
    ties = np.flatnonzero(~new & _new(where[order]))
    if len(ties):
        first, second = int(order[ties[0] - 1]), int(order[ties[0]])
        who = _person(spec.id, table.frame.select(spec.id).row(second))
        raise DataError(
            f"{table.source}, rows {first + 1} and {second + 1}: {who} is at two places at the time "
            f"{table.frame[str(spec.time)][second]!s}; correct the rows, or let the first count "
            f'with columns.{spec.name}.ties = "first"'
        )


def _times(table: Table, name: str) -> tuple[Timeline, Codes]:
    """The times of a column, and each row's index among them."""
    _refuse_missing(table, name)
    texts, codes = ranked(time_text(table.frame[name]))
    line = timeline(texts.to_list(), lambda bad: _at(table, name, int(np.argmax(bad[codes]))))
    return line, line.rank[codes]


def _ticked(table: Table, spec: Long, line: Timeline, times: Codes) -> tuple[Ints, Ints, pl.Series]:
    """The window, the tick and the writing of each time."""
    count = len(line.moments)
    if spec.clock is None:
        return np.zeros(count, np.int64), np.arange(count), pl.Series(line.writings, dtype=pl.String)
    window, tick = spec.clock.ticks(line)
    early = (tick < 0)[times]
    if early.any():
        where = _at(table, str(spec.time), int(np.argmax(early)))
        raise DataError(f"{where}: the time lies before the start of the clock, {spec.clock.start}; start it earlier")
    return window, tick, pl.Series(tick).cast(pl.String)


def _squares(table: Table, spec: Long) -> pl.Series:
    """The square of each row's point; outside the grid null, where that is not refused."""
    if spec.grid is None:
        raise ParameterError("coordinates need a grid")
    x, y = _numbers(table, str(spec.x)), _numbers(table, str(spec.y))
    far = spec.grid.outside(x, y)
    if len(far) and spec.outside == "refuse":
        row = int(far[0])
        raise DataError(
            f"{table.source}, row {row + 1}: the point ({x[row]}, {y[row]}) lies outside the grid from {spec.grid.low} "
            f'to {spec.grid.high}; points like it: {len(far)}; widen the grid, or drop them with outside = "drop"'
        )
    return spec.grid.cells(x, y)


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    _refuse_missing(table, name)
    values = table.frame[name].cast(pl.String).cast(pl.Float64, strict=False)
    bad = ~(values.is_finite().fill_null(value=False).to_numpy())
    if bad.any():
        raise DataError(f"{_at(table, name, int(np.argmax(bad)))}: is no finite number, which a coordinate must be")
    return values.to_numpy()


def _texts(table: Table, name: str) -> pl.Series:
    _refuse_missing(table, name)
    return as_text(table.frame[name]).str.strip_chars()


def _refuse_missing(table: Table, name: str) -> None:
    absent = table.is_missing(name)
    if table.frame[name].dtype in TEXTS:
        absent = absent | (table.frame[name].cast(pl.String).str.strip_chars() == "").fill_null(value=True)
    if bool(absent.any()):
        row = int(np.argmax(absent.to_numpy()))
        raise DataError(
            f"{table.source}, column {name!r}, row {row + 1}: there is no value; fill it in, or remove the row"
        )


def _at(table: Table, name: str, row: int) -> str:
    return f"{table.source}, column {name!r}, row {row + 1}, {str(table.frame[name][row])!r}"


def _person(id: tuple[str, ...], values: tuple[object, ...]) -> str:  # noqa: A002  as in Long
    return ", ".join(f"{name} {value!s}" for name, value in zip(id, values, strict=True))
