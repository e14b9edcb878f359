"""A metro of four lines, its shortest ways and its timetable: what the synthetic passengers ride on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.draws import Codes, Reals

HEADWAY = 4
"""A train every so many minutes, on every line and in both directions."""

_INTERCHANGES = 4
_LINES: tuple[tuple[int, ...], ...] = ((6, 3, 6, 5, 5), (7, 6, 11), (0, 7, 3), (0, 2))
"""Stations of each line before, between and behind its interchanges, in a metro of 65 stations."""
_CROSSINGS = ((0, 1, 2, 3), (1, 2), (0, 3), (2,))
"""The interchanges of each line, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetroMap:
    """The ways of a metro from every station to every other, each with the minutes since the start.

    The way from station a to station b is number ``a * stations + b``.
    """

    stations: int
    lines: tuple[tuple[int, ...], ...]
    """The stations of each line, from end to end."""
    phase: Codes
    """By way: the minute, in every headway, at which its train leaves."""
    starts: NDArray[np.int64]
    """Where each way begins among the readings, and where the last ends."""
    station: Codes
    """By reading: the station."""
    minute: Codes
    """By reading: the minutes since the train left the first station of the way."""

    @property
    def lengths(self) -> Codes:
        """How many stations each way has."""
        return np.diff(self.starts)


@lru_cache(maxsize=4)
def metro_map(stations: int) -> MetroMap:
    """A map of that many stations, at least four, with the shape of a city's: 29, 26, 12 and 3 of 65 stations.

    The second line crosses the first twice, the third joins two stations of the first, the fourth begins where the
    first two meet. From one station to the next a train takes a minute or two. Ways are the shortest by these
    minutes; who changes the line waits for the next train.

    >>> [len(line) for line in metro_map(65).lines]
    [29, 26, 12, 3]
    """
    lines = _lines(stations)
    minutes, leaves = _tracks(stations, lines)
    after = _next_stops(minutes)
    at = np.repeat(np.arange(stations), stations)
    goal = np.tile(np.arange(stations), stations)
    phase = leaves[at, after[at, goal]]
    clock = phase.copy()
    seen: list[Codes] = [np.stack([np.arange(at.size), at, clock - phase])]
    while (riding := np.flatnonzero(at != goal)).size:
        here = at[riding]
        there = after[here, goal[riding]]
        wait = (leaves[here, there] - clock[riding]) % HEADWAY
        clock[riding] += wait + minutes[here, there].astype(np.int64)
        at[riding] = there
        seen.append(np.stack([riding, there, (clock - phase)[riding]]))
    way, station, minute = np.concatenate(seen, axis=1)
    order = np.argsort(way, kind="stable")
    starts = np.searchsorted(way[order], np.arange(at.size + 1))
    return MetroMap(
        stations=stations,
        lines=lines,
        phase=phase,
        starts=starts,
        station=station[order],
        minute=minute[order],
    )


def _lines(stations: int) -> tuple[tuple[int, ...], ...]:
    """The stations of each line; the interchanges are spread over the numbers as the stations are met."""
    pieces = [count for line in _LINES for count in line]
    counts = iter(_apportioned(stations - _INTERCHANGES, pieces))
    names: dict[int, int] = {}
    lines, fresh = [], 0
    for shape, crossings in zip(_LINES, _CROSSINGS, strict=True):
        line: list[int] = []
        for piece in range(len(shape)):
            many = next(counts)
            line += range(fresh, fresh + many)
            fresh += many
            if piece < len(crossings):
                if crossings[piece] not in names:
                    names[crossings[piece]] = fresh
                    fresh += 1
                line.append(names[crossings[piece]])
        lines.append(tuple(line))
    return tuple(lines)


def _apportioned(total: int, shares: list[int]) -> list[int]:
    """The total in whole parts that follow the shares, by largest remainders."""
    exact = np.array(shares) * total / sum(shares)
    parts = np.floor(exact).astype(np.int64)
    parts[np.argsort(parts - exact, kind="stable")[: total - int(parts.sum())]] += 1
    return [int(part) for part in parts]


def _tracks(stations: int, lines: tuple[tuple[int, ...], ...]) -> tuple[Reals, Codes]:
    """The minutes from station to neighbour (endless between others), and when its trains leave for it."""
    minutes = np.full((stations, stations), np.inf)
    leaves = np.zeros((stations, stations), np.int64)
    for number, line in enumerate(lines):
        for step in (1, -1):
            clock = number
            for a, b in zip(line[::step], line[::step][1:], strict=False):
                ride = 1 + (a + b) % 5 // 3
                if not np.isfinite(minutes[a, b]):
                    minutes[a, b], leaves[a, b] = ride, clock % HEADWAY
                clock += ride
    return minutes, leaves


def _next_stops(minutes: Reals) -> Codes:
    """The next station on the shortest way from row to column (Floyd and Warshall)."""
    best = minutes.copy()
    np.fill_diagonal(best, 0)
    after = np.where(np.isfinite(best), np.arange(len(best)), -1)
    for middle in range(len(best)):
        through = best[:, middle, None] + best[middle]
        shorter = through < best
        after = np.where(shorter, after[:, middle, None], after)
        best = np.minimum(best, through)
    return after
