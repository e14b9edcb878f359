"""Columns of trajectories, and the clock that turns their times into ticks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import number, text
from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.item_sets import ItemColumn, Tokens, encoded, ranked, tokens
from sfumato.tables.table import Codes, Table, as_text
from sfumato.tables.times import CHARACTERS, KNOWN, NAMES, Moment, Timeline, moment, time_text, timeline

# A clock for trajectories: times become whole ticks since a start, and long ones can be cut into windows.


Ints = NDArray[np.int64]
_DURATION = re.compile(r"([1-9][0-9]*)([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Times in whole steps since a start; with ``split`` every window of that length is a record of its own.

    Steps and windows are numbers where times are numbers, else durations. Windows begin at ``start``; without
    one at 0, at midnight, or on Monday where they last weeks, and ticks count from the window's own start.
    Date-times with an offset are counted in UTC.
    """

    step: str | float
    """The length of a tick: "10m", "1h", "1d" (s, m, h, d, w), or a number."""
    start: str | float | None = None
    """The time of tick 0. Dates need one unless they are split; numbers begin at 0, clock times at midnight."""
    split: str | float | None = None
    """The length of a window: "1d", "1w" ..., or a number; None: one window without an end."""

    def __post_init__(self) -> None:
        step = _length("clock step", self.step)
        if self.split is not None:
            split = _length("clock split", self.split)
            if isinstance(self.step, str) != isinstance(self.split, str):
                raise ParameterError(
                    f"clock step {self.step!r} and split {self.split!r} must both be numbers or both durations"
                )
            if split < step:
                raise ParameterError(f"clock split must be at least one step of {self.step!r}, not {self.split!r}")
        if isinstance(self.start, str):
            if moment(self.start) is None:
                raise ParameterError(f"clock start must be a time, not {self.start!r}; times are {KNOWN}")
        elif self.start is not None:
            number("clock start", self.start)

    def ticks(self, line: Timeline) -> tuple[Ints, Ints]:
        """For each time: its window's number (0 without split), and the ticks from the start (below 0 before it)."""
        if not line.moments:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        self._fits(line.kind)
        start, step = self._start(line.kind), _length("clock step", self.step)
        length = None if self.split is None else _length("clock split", self.split)
        if line.kind == "number":
            ticks = [_exact(Fraction(time), start, step, length) for time in line.moments]
            try:
                return np.array([w for w, _ in ticks], np.int64), np.array([t for _, t in ticks], np.int64)
            except OverflowError:
                raise DataError(f"clock step {self.step!r}: times are too many steps away from the start") from None
        since = np.array(line.moments, np.int64) - int(start)
        window = np.zeros_like(since) if length is None else since // int(length)
        return window, (since - window * int(length or 0)) // int(step)

    def _fits(self, kind: str) -> None:
        if (kind == "number") == isinstance(self.step, str):
            needed = "a number" if kind == "number" else 'a duration such as "10m"'
            raise DataError(
                f"clock step {self.step!r}: a time of the table is {NAMES[kind]}; the step must be {needed}"
            )

    def _start(self, kind: str) -> Fraction:
        """The start as a number, or as microseconds."""
        if self.start is None:
            if self.split is None and kind not in ("number", "clock"):
                raise DataError(
                    f"clock: a time of the table is {NAMES[kind]}, which needs a start to count from; "
                    "name the start, or split the time into windows"
                )
            return Fraction(0)
        kind_and_value = moment(self.start) if isinstance(self.start, str) else ("number", _decimal(self.start))
        if kind_and_value is None or not (
            kind_and_value[0] == kind or (kind_and_value[0], kind) in (("date", "datetime"), ("datetime", "date"))
        ):
            raise DataError(
                f"clock start {self.start!r}: a time of the table is {NAMES[kind]}; the start must be one too"
            )
        return Fraction(kind_and_value[1])


def _exact(at: Fraction, start: Fraction, step: Fraction, length: Fraction | None) -> tuple[int, int]:
    window = 0 if length is None else floor((at - start) / length)
    return window, floor((at - start - window * (length or 0)) / step)


def _length(name: str, value: str | float) -> Fraction:
    """A duration in microseconds, or a number."""
    if not isinstance(value, str):
        if number(name, value) <= 0:
            raise ParameterError(f"{name} must be above 0, not {value}")
        return Fraction(_decimal(value))
    match = _DURATION.fullmatch(value)
    if match is None:
        raise ParameterError(f'{name} must be a number or a duration such as "10m", "1h" or "1d", not {value!r}')
    return Fraction(int(match[1]) * _UNITS[match[2]] * 1_000_000)


def _decimal(value: float) -> Moment:
    """A number as it is written: 0.1 is one tenth."""
    return Decimal(str(value))


# Columns whose cells are trajectories: places at increasing times, written ``b@2|d@3``.


__all__ = ["checked_mark", "trajectory_column"]

Mask = NDArray[np.bool_]


def trajectory_column(
    table: Table, name: str, *, separator: str = "|", mark: str = "@", compress: bool = True
) -> ItemColumn:
    """The column as sets of pairs of a place and a time.

    A cell is a text of pairs split by the separator, a list of such texts, or a list of structs with the fields
    place and time; each pair is split at its last mark. A time is the entry time to a place: a person is assumed
    to stay until the next place is read, so of the same place read several times in a row the first reading is
    kept. ``compress=False`` keeps them all (a released table may have lost the place in between).

    Source: Mohammed (2011), section 4.2.1.
    """
    tokens = _tokens(table, name, separator, checked_mark(mark, separator))
    places, place, line = _pairs(tokens, mark)
    keep = _kept(tokens, place[tokens.codes], line.rank[tokens.codes], compress=compress)
    keys, items = np.unique(line.rank.astype(np.int64) * len(places) + place, return_inverse=True)
    starts = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))[tokens.starts]
    codes, times = items.astype(np.int32)[tokens.codes[keep]], pl.Series(line.writings, dtype=pl.String)
    return _column(name, mark, starts, codes, keys, places, times)


def checked_mark(mark: str, separator: str = "") -> str:
    """The mark between place and time; it needs a character that no time contains, to be found again."""
    if not set(text("mark", mark)) - CHARACTERS:
        raise ParameterError(f"mark must contain a character that no time contains, such as '@', not {mark!r}")
    if separator and separator in mark:
        raise ParameterError(f"mark must not contain the separator {separator!r}, but is {mark!r}")
    return mark


def _tokens(table: Table, name: str, separator: str, mark: str) -> Tokens:
    """The pairs of all cells as texts."""
    cells = table.require(name)
    inner = cells.dtype.inner if isinstance(cells.dtype, pl.List | pl.Array) else None
    if not isinstance(inner, pl.Struct):
        return tokens(table, name, separator)
    if sorted(field.name for field in inner.fields) != ["place", "time"]:
        raise DataError(
            f"{table.source}, column {name!r}: structs with the fields place and time are needed, not {inner}"
        )
    return encoded(table, name, _joined_pairs(table, name, cells.cast(pl.List(inner)), mark), separator)


def _joined_pairs(table: Table, name: str, cells: pl.Series, mark: str) -> pl.Series:
    """Lists of structs as lists of texts; a null within a pair makes the pair empty."""
    lengths = cells.list.len().fill_null(0)
    pairs = cells.filter(lengths > 0).explode().struct.unnest()
    times = time_text(pairs["time"])
    rows = np.repeat(np.arange(table.rows), lengths.to_numpy())
    bad = np.flatnonzero(times.str.contains(mark, literal=True).fill_null(value=False).to_numpy())
    if len(bad):
        raise DataError(
            f"{table.source}, column {name!r}, row {rows[bad[0]] + 1}: the time {times[int(bad[0])]!r} contains "
            f"the mark {mark!r}; it belongs between place and time"
        )
    texts = (as_text(pairs["place"]).str.strip_chars() + mark + times).fill_null("")
    lists = pl.DataFrame({"row": rows, "pair": texts}).group_by("row", maintain_order=True).agg("pair")
    every = pl.DataFrame({"row": np.arange(table.rows)}, schema={"row": lists["row"].dtype})
    return every.join(lists, on="row", how="left", maintain_order="left")["pair"]


def _pairs(tokens: Tokens, mark: str) -> tuple[pl.Series, Codes, Timeline]:
    """The places in order, each distinct pair's place among them, and the times."""
    parts = tokens.texts.str.extract_groups(rf"(?s)^(?<place>.*){pl.escape_regex(mark)}(?<time>.*)$").struct.unnest()
    place, time = parts["place"].str.strip_chars(), parts["time"].str.strip_chars()
    form = f"write place{mark}time, such as 'b{mark}2'"
    _refuse(tokens, place.is_null().to_numpy(), f"has no mark {mark!r} between place and time; {form}")
    _refuse(tokens, (place == "").to_numpy(), f"has no place before the mark {mark!r}; {form}")
    places, where = ranked(place)
    texts, when = ranked(time)
    line = timeline(texts.to_list(), lambda bad: tokens.where(tokens.first(bad[when]) or 0))
    return places, where, Timeline(kind=line.kind, writings=line.writings, moments=line.moments, rank=line.rank[when])


def _kept(tokens: Tokens, place: Codes, time: Codes, *, compress: bool) -> Mask:
    """Which readings stay; those that go back in time or are elsewhere at the same time are refused."""
    inside = np.ones(len(place), np.bool_)
    inside[tokens.starts[:-1][np.diff(tokens.starts) > 0]] = False
    later, here = time[1:] > time[:-1], place[1:] == place[:-1]
    bad = inside[1:] & ~later & ((time[1:] < time[:-1]) | ~here)
    if bad.any():
        at = int(np.argmax(bad)) + 1
        if time[at] < time[at - 1]:
            why = f"goes back in time after {tokens.text(at - 1)!r}; sort the pairs of the cell by time"
        else:
            why = f"is a second place at the time of {tokens.text(at - 1)!r}; keep one place per time"
        raise DataError(f"{tokens.where(at)}: {why}")
    repeated = here if compress else here & ~later
    inside[1:] &= repeated
    return ~inside


def _column(
    name: str,
    mark: str,
    starts: NDArray[np.int64],
    codes: Codes,
    keys: NDArray[np.int64],
    places: pl.Series,
    times: pl.Series,
) -> ItemColumn:
    """The column over the items that occur; an item's key is its time's index, then its place's."""
    used = np.bincount(codes, minlength=len(keys)) > 0
    items = keys[used]
    when, time = np.unique(items // max(len(places), 1), return_inverse=True)
    where, place = np.unique(items % max(len(places), 1), return_inverse=True)
    seen_places, seen_times = places.gather(where), times.gather(when)
    return ItemColumn(
        name=name,
        kind="trajectory",
        starts=starts,
        codes=(np.cumsum(used) - 1).astype(np.int32)[codes],
        labels=tuple((seen_places.gather(place) + mark + seen_times.gather(time)).to_list()),
        places=tuple(seen_places.to_list()),
        times=tuple(seen_times.to_list()),
        place=place.astype(np.int32),
        time=time.astype(np.int32),
    )


def _refuse(tokens: Tokens, bad: Mask, why: str) -> None:
    position = tokens.first(bad)
    if position is not None:
        raise DataError(f"{tokens.where(position)}: {why}")
