"""Synthetic citizens and the blocks of a city they are in, hour by hour: trajectories in the spirit of City80K."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.draws import Codes, Reals, choose_any, labels

DIAGNOSES = ("Asthma", "Diabetes", "Fever", "Flu", "HIV")
"""The five values of the attribute; HIV is the sensitive one."""

_HOME, _WORK, _ERRAND, _LEISURE, _DETOUR = range(5)
_DAY = (
    (_HOME, 0, False),
    (_HOME, 1, True),
    (_WORK, 2, False),
    (_ERRAND, 5, False),
    (_ERRAND, 6, True),
    (_WORK, 8, False),
    (_LEISURE, 11, False),
    (_LEISURE, 12, True),
    (_HOME, 14, True),
)
"""The readings of a day: the habit behind each, the hours since the first, and whether it is at a block near by."""

_CROWDS = 12
_CUSTOM = (0.64, 0.18, 0.18)
"""How the citizens of a crowd spread over the customary places of a habit."""
_RARE = (0.055,) * 2
"""How many of a crowd go to one of its rare places instead, for each habit."""
_DETOURS = (0.055,) * 6
"""How many of a crowd make each of its detours."""
_LEFT_OUT = 0.12
"""How often a reading is missing."""
_OPTIONS = max(len(_CUSTOM) + len(_RARE), 1 + len(_DETOURS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Town:
    """The habits: for every crowd its readings in order of time, each with a block and an hour per option."""

    blocks: int
    shares: Reals
    habit: Codes
    """By crowd and reading: the habit that decides it."""
    first: Codes
    """By crowd: the reading that nobody leaves out."""
    block: NDArray[np.int64]
    hour: NDArray[np.int64]
    """By crowd, reading and option."""


def city(rows: int, blocks: int = 26, hours: int = 24, *, seed: int) -> pl.DataFrame:
    """Citizens who do not exist, and the blocks where they were seen during a day; equal seeds give equal citizens.

    A path reads ``c@7|d@8``: blocks with the hours, which ascend; two readings in a row are at different blocks.
    The citizens belong to twelve crowds of unequal size that keep different hours. In a crowd, home, work, errand
    and leisure are chosen independently from three customary places each, and decide two or three readings each.
    Most citizens depart from the custom of their crowd in one thing: a rare place for one of the four, perhaps an
    hour later, or a detour. Any reading but the first at home is left out now and then. So nearly all pairs of
    readings are shared by many, three readings often by few, most of all with a rare one among them.
    The diagnosis has five values, each with one fifth of the citizens, whatever the path.

    >>> city(2, seed=1).columns
    ['id', 'path', 'diagnosis']
    """
    at_least("rows", rows, 0)
    at_least("blocks", blocks, 2)
    at_least("hours", hours, 2)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    columns = [
        pl.Series("id", rng.permutation(rows) + 10_000_000, pl.Int64),
        _paths(rng, rows, _town(blocks, hours), _readings(blocks, hours)).alias("path"),
        labels(DIAGNOSES, choose_any(rng, (1,) * len(DIAGNOSES), rows)).alias("diagnosis"),
    ]
    return pl.DataFrame(columns)


def block_names(blocks: int) -> list[str]:
    """The names of the blocks: a to z, then aa, ab and so on.

    >>> block_names(28)[-3:]
    ['z', 'aa', 'ab']
    """
    return [_letters(number) for number in range(blocks)]


def _letters(number: int) -> str:
    before, last = divmod(number, len(ascii_lowercase))
    return (_letters(before - 1) if before else "") + ascii_lowercase[last]


def _readings(blocks: int, hours: int) -> pl.Series:
    """The text of every block at every hour, hour by hour, and last the missing one."""
    names = block_names(blocks)
    return pl.Series([*(f"{name}@{hour}" for hour in range(hours) for name in names), None], dtype=pl.String)


def _paths(rng: np.random.Generator, rows: int, town: _Town, texts: pl.Series) -> pl.Series:
    """A path for every citizen; a reading that does not come later or elsewhere than the one before is dropped."""
    crowd = choose_any(rng, town.shares.tolist(), rows)
    chosen = _chosen(rng, rows)
    last_block, last_hour = np.full(rows, -1), np.full(rows, -1)
    columns, everyone = [], np.arange(rows)
    for reading in range(town.habit.shape[1]):
        habit = town.habit[crowd, reading]
        option = chosen[habit, everyone]
        block, hour = town.block[crowd, reading, option], town.hour[crowd, reading, option]
        there = (rng.random(rows) >= _LEFT_OUT) | (town.first[crowd] == reading) | (habit == _DETOUR)
        there &= (block >= 0) & (block != last_block) & (hour > last_hour)
        last_block, last_hour = np.where(there, block, last_block), np.where(there, hour, last_hour)
        code = np.where(there, hour * town.blocks + block, texts.len() - 1)
        columns.append(texts.gather(code).alias(str(reading)))
    return pl.DataFrame(columns).select(pl.concat_str(pl.all(), separator="|", ignore_nulls=True)).to_series()


def _chosen(rng: np.random.Generator, rows: int) -> Codes:
    """By habit and citizen: the place, by its number; nobody departs from the custom in more than one habit."""
    chosen = np.stack([choose_any(rng, _CUSTOM, rows) for _ in range(_DETOUR)] + [np.zeros(rows, np.int64)])
    odd = [(habit, len(_CUSTOM) + number, share) for habit in range(_DETOUR) for number, share in enumerate(_RARE)]
    odd += [(_DETOUR, 1 + number, share) for number, share in enumerate(_DETOURS)]
    habits, places, shares = (np.array(part) for part in zip(*odd, strict=True))
    drawn = choose_any(rng, [*shares, 1 - shares.sum()], rows)
    who = np.flatnonzero(drawn < shares.size)
    chosen[habits[drawn[who]], who] = places[drawn[who]]
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Reading:
    """One reading of a crowd's day: which habit decides it, and block and hour for each option."""

    habit: int
    first: bool = False
    block: Codes
    hour: Codes


@lru_cache(maxsize=8)
def _town(blocks: int, hours: int) -> _Town:
    """The town of that many blocks and hours; the places are spread so that nearly all readings occur."""
    shares = 1 / (np.arange(_CROWDS) + 30)
    shares /= shares.sum()
    visits = np.zeros((hours, blocks))
    days = [_day(visits, crowd, shares[crowd] * np.array([*_CUSTOM, *_RARE])) for crowd in range(_CROWDS)]
    days = [[*day, *_detours(visits, day)] for day in days]
    days = [sorted(day, key=lambda reading: int(reading.hour[0])) for day in days]
    return _Town(
        blocks=blocks,
        shares=shares,
        habit=np.array([[reading.habit for reading in day] for day in days]),
        first=np.array([[reading.first for reading in day].index(True) for day in days]),
        block=np.array([[reading.block for reading in day] for day in days]),
        hour=np.array([[reading.hour for reading in day] for day in days]),
    )


def _day(visits: Reals, crowd: int, shares: Reals) -> list[_Reading]:
    """The readings of a crowd; the first begins its day at seven o'clock, the next ones seven hours earlier each."""
    hours, start = len(visits), 7 * (1 - crowd)
    day, owner_of = [], np.full(visits.shape[1], -1)
    for habit in range(_DETOUR):
        parts = [(offset, near) for owner, offset, near in _DAY if owner == habit]
        times = [(start + offset) % 24 * hours // 24 for offset, _ in parts]
        shifts = habit in (_WORK, _LEISURE) and max(times) < hours - 1
        late = (np.arange(_OPTIONS) * 2 > shares.size) & shifts
        clock = [time + late.astype(np.int64) for time in times]
        nears = [near for _, near in parts]
        places = _places(visits, clock, nears, shares, (owner_of, habit, 5 * crowd + 7 * habit))
        first = [habit == _HOME and not number for number in range(len(parts))]
        day += [_Reading(habit=habit, first=f, block=b, hour=t) for f, b, t in zip(first, places, clock, strict=True)]
    return day


def _places(
    visits: Reals, times: list[Codes], nears: list[bool], shares: Reals, owned: tuple[Codes, int, int]
) -> list[Codes]:
    """For every option a block that is new at these hours, near a centre, and blocks near it that are new too.

    Blocks that other habits of the crowd own are avoided: one would hide the other in a path.
    """
    owner, habit, centre = owned
    far = _distances(visits.shape[1])
    places = np.full((len(times), _OPTIONS), -1)
    for option, share in enumerate(shares.tolist()):
        hours = [int(time[option]) for time in times]
        known = sum(visits[hour] > 0 for hour, near in zip(hours, nears, strict=True) if not near)
        block = int(np.argmin(known + far[centre % len(far)] / 1000 + 0.5 * (owner >= 0)))
        owner[block] = habit
        for part, (hour, near) in enumerate(zip(hours, nears, strict=True)):
            foreign = (owner >= 0) & (owner != habit)
            cost = (visits[hour] > 0) + foreign / 10 + far[block] / 1000 + 10 * (far[block] == 0)
            at = int(np.argmin(cost)) if near else block
            owner[at] = habit
            places[part, option] = at
            visits[hour, at] += share
    return list(places)


def _distances(blocks: int) -> Reals:
    """How many steps it is from block to block; the blocks lie row by row in a square."""
    row, column = np.divmod(np.arange(blocks), int(np.ceil(np.sqrt(blocks))))
    return np.asarray(np.abs(row[:, None] - row) + np.abs(column[:, None] - column), np.float64)


def _detours(visits: Reals, day: list[_Reading]) -> list[_Reading]:
    """Readings that the fewest have, at hours that the crowd has free."""
    busy = np.unique([reading.hour for reading in day])
    readings = []
    for number, share in enumerate(_DETOURS):
        free = visits.copy()
        free[busy] += 1
        hour, at = np.unravel_index(np.argmin(free), free.shape)
        visits[hour, at] += share / _CROWDS
        block = np.where(np.arange(_OPTIONS) == 1 + number, at, -1)
        readings.append(_Reading(habit=_DETOUR, block=block, hour=np.full(_OPTIONS, hour)))
    return readings
