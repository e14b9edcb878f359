"""Synthetic metro passengers and the stations they pass, in the spirit of Metro100K."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.draws import Codes, Reals, choose_any, labels

# A metro of four lines, its shortest ways and its timetable: what the synthetic passengers ride on.


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


# Synthetic passengers and the stations they pass, minute by minute: trajectories in the spirit of Metro100K.


STATUSES = ("Regular", "Senior", "Staff", "Student", "Unemployed")
"""The five values of the attribute; Unemployed is the sensitive one."""

_SHIFTS = {0: 0.8, -1: 0.1, 1: 0.1}
"""How many minutes off the timetable passengers begin, and how often."""
_DELAYS = {0: 0.85, 1: 0.11, 2: 0.04}
"""How many minutes they lose half way, and how often."""
_DECAY = 0.06
"""How much rarer a ride is for each station more."""


def metro(rows: int, stations: int = 65, minutes: int = 60, *, seed: int) -> pl.DataFrame:
    """Passengers who do not exist, and the stations they passed in an hour; equal seeds give equal passengers.

    A path reads ``S07@12|S08@13``: stations with the minutes, which ascend. Passengers ride the shortest way of a
    map of four lines by trains that keep a timetable, and wait where they change. Most want to the middle of the
    map, some stations are busier than others, and the trains are fullest shortly before the middle of the time.
    One passenger in five begins a minute early or late, and some lose a minute or two half way. A ride that begins
    before the first minute or ends after the last is cut there. The status has five values, each with one fifth of
    the passengers, whatever the path.

    >>> metro(2, seed=1).columns
    ['id', 'path', 'status']
    """
    at_least("rows", rows, 0)
    at_least("stations", stations, 4)
    at_least("minutes", minutes, 2 * HEADWAY)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    plan = metro_map(stations)
    way = choose_any(rng, _flows(plan).tolist(), rows)
    departure, delay = _departures(rng, plan, way, minutes), _drawn(rng, _DELAYS, rows)
    columns = [
        pl.Series("id", rng.permutation(rows) + 10_000_000, pl.Int64),
        _paths(plan, (way, departure, delay), _readings(stations, minutes)).alias("path"),
        labels(STATUSES, choose_any(rng, (1,) * len(STATUSES), rows)).alias("status"),
    ]
    return pl.DataFrame(columns)


def station_names(stations: int) -> list[str]:
    """The names of the stations, line by line.

    >>> station_names(65)[::32]
    ['S01', 'S33', 'S65']
    """
    width = max(2, len(str(stations)))
    return [f"S{number:0{width}d}" for number in range(1, stations + 1)]


def _readings(stations: int, minutes: int) -> pl.Series:
    """The text of every station at every minute, minute by minute."""
    names = station_names(stations)
    return pl.Series([f"{name}@{minute}" for minute in range(minutes) for name in names], dtype=pl.String)


def _drawn(rng: np.random.Generator, chances: dict[int, float], rows: int) -> Codes:
    """A number for every row, with the chances given."""
    return np.array(list(chances))[choose_any(rng, list(chances.values()), rows)]


def _flows(plan: MetroMap) -> Reals:
    """The weight of every way: from busy stations, to central ones, rather short than long, never to where one is."""
    lengths = plan.lengths.reshape(plan.stations, plan.stations)
    central = np.argsort(np.argsort(lengths.mean(axis=1), kind="stable"))
    busy = np.argsort(np.argsort(np.arange(plan.stations) * 0.618 % 1))
    weights = (1 / (busy + 8))[:, None] / (central + 4) * np.exp(-_DECAY * lengths)
    return np.asarray(np.where(lengths > 1, weights, 0).ravel())


def _departures(rng: np.random.Generator, plan: MetroMap, way: Codes, minutes: int) -> Codes:
    """The minute at which each passenger is at the first station; some of the ride lies within the time."""
    ride = plan.minute[plan.starts[1:] - 1][way]
    longest = int(plan.minute.max())
    clock = np.arange(-longest, minutes)
    rush = np.cumsum(1 + 4 * np.exp(-(((clock / minutes - 0.4) / 0.15) ** 2)))
    before = np.concatenate(([0.0], rush))[np.minimum(longest - ride + HEADWAY - 1, longest + minutes - 1)]
    entry = clock[np.searchsorted(rush, before + rng.random(way.size) * (rush[-1] - before), side="right")]
    train = entry - (entry - plan.phase[way]) % HEADWAY
    return np.asarray(np.clip(train + _drawn(rng, _SHIFTS, way.size), -ride, minutes - 1))


def _paths(plan: MetroMap, draws: tuple[Codes, Codes, Codes], texts: pl.Series) -> pl.Series:
    """The paths by way, departure and delay; each different ride is written once."""
    way, departure, delay = draws
    early, delays = int(plan.minute.max()), len(_DELAYS)
    span = (early + int(departure.max(initial=0)) + 1) * delays
    rides, ride = np.unique(way * span + (departure + early) * delays + delay, return_inverse=True)
    ways, leaves, lost = rides // span, rides % span // delays - early, rides % delays
    many = plan.lengths[ways]
    number = np.repeat(np.arange(ways.size), many)
    passed = np.arange(number.size) - np.repeat(np.cumsum(many) - many, many)
    reading = passed + plan.starts[ways][number]
    minute = plan.minute[reading] + leaves[number] + lost[number] * (2 * passed >= many[number])
    code = minute * plan.stations + plan.station[reading]
    within = (code >= 0) & (code < texts.len())
    written = pl.DataFrame({"ride": number[within], "text": texts.gather(code[within])})
    return written.group_by("ride", maintain_order=True).agg(pl.col("text").str.join("|"))["text"].gather(ride)
