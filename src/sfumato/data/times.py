"""Times as they are written: numbers, clock times, dates and date-times; read, ordered, one writing for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from sfumato.data.table import Codes, as_text, has_times
from sfumato.ground.errors import DataError

__all__ = ["Moment", "Timeline", "moment", "time_text", "timeline"]

Moment = Decimal | int
"""A number as it is; clock times as microseconds of the day; dates as microseconds since Monday 0001-01-01."""

CHARACTERS = frozenset("0123456789.:-+TZ ")
"""Every character that a time can contain."""
KNOWN = "numbers (2, 2.5), clock times (08:00, 08:00:30), dates (2024-05-01) or date-times (2024-05-01T08:00)"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_HOUR = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_TIME = re.compile(
    r"(?P<number>-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
    r"|(?P<clock>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)"
    rf"|(?P<date>{_DAY})|(?P<datetime>{_DAY}{_HOUR})|(?P<zoned>{_DAY}{_HOUR}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}}))"
)
_MICROSECOND = timedelta(microseconds=1)
NAMES = {
    "number": "a number",
    "clock": "a clock time",
    "date": "a date",
    "datetime": "a date-time",
    "zoned": "a date-time with an offset",
}
"""What messages call each kind of time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """The distinct times of a column in their order; ``rank`` finds each given text among them."""

    kind: str
    """number, clock, date, datetime or zoned; of no times: number."""
    writings: tuple[str, ...]
    """One writing per time."""
    moments: tuple[Moment, ...]
    """The times as comparable values."""
    rank: Codes
    """For each text that was given: the index of its time."""


def timeline(texts: Sequence[str], where: Callable[[NDArray[np.bool_]], str]) -> Timeline:
    """The times that the texts say, all of one kind; ``where`` names the first place of the texts that are refused.

    Of several writings of one time the first one as text stands for all, of a number the shortest; whole numbers
    lose their point.

    >>> timeline(["10", "2.0", "02"], lambda bad: "t.csv").writings
    ('2', '10')
    """
    read = [moment(text) for text in texts]
    kinds = [one[0] if one else "" for one in read]
    if "" in kinds:
        raise DataError(f"{where(_among(kinds, ''))}: the time cannot be read; times are {KNOWN}")
    (kind, _), *others = Counter(kinds).most_common() or [("number", 0)]
    if others:
        other = others[0][0]
        raise DataError(
            f"{where(_among(kinds, other))}: the time is {NAMES[other]}, but other times of the column are written as "
            f"{NAMES[kind]} ({texts[kinds.index(kind)]!r}); write all times in one way"
        )
    values = [one[1] for one in read if one]
    moments = tuple(sorted(set(values)))
    index = {value: i for i, value in enumerate(moments)}
    rank = np.fromiter(map(index.__getitem__, values), np.int32, len(values))
    return Timeline(kind=kind, writings=_writings(texts, values, moments), moments=moments, rank=rank)


def moment(text: str) -> tuple[str, Moment] | None:
    """The kind of a time and its value, or None for a text that is no time.

    >>> moment("08:30"), moment("2.50"), moment("25:00")
    (('clock', 30600000000), ('number', Decimal('2.50')), None)
    """
    found = _TIME.fullmatch(text)
    if found is None or found.lastgroup is None:
        return None
    try:
        return found.lastgroup, _READ[found.lastgroup](text)
    except ValueError:
        return None


def time_text(cells: pl.Series) -> pl.Series:
    """Times as texts that ``moment`` reads, without blanks around them; typed times in their ISO writing."""
    if isinstance(cells.dtype, pl.Datetime) and has_times(cells):
        return cells.dt.strftime("%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if cells.dtype.time_zone else ""))
    if cells.dtype == pl.Time:
        return cells.dt.strftime("%H:%M:%S%.f")
    try:
        return as_text(cells).str.strip_chars()
    except PolarsError:
        raise DataError(f"column {cells.name!r}: cells of type {cells.dtype} are no times; times are {KNOWN}") from None


def _among(kinds: list[str], kind: str) -> NDArray[np.bool_]:
    return np.array([one == kind for one in kinds], np.bool_)


def _writings(texts: Sequence[str], values: list[Moment], moments: tuple[Moment, ...]) -> tuple[str, ...]:
    best: dict[Moment, str] = {}
    for text, value in zip(texts, values, strict=True):
        writing = _pointless(text) if isinstance(value, Decimal) else text
        if value not in best or _simpler(writing, value) < _simpler(best[value], value):
            best[value] = writing
    return tuple(best[value] for value in moments)


def _simpler(text: str, value: Moment) -> tuple[int, str]:
    """Of two writings of a number the shorter one is simpler; of other times the first as text."""
    return (len(text) if isinstance(value, Decimal) else 0, text)


def _pointless(text: str) -> str:
    """A whole number without its point, any other as it is."""
    whole, _, rest = text.partition(".")
    if rest.strip("0"):
        return text
    return whole if whole.strip("-") else f"{whole}0"


def _clock(text: str) -> int:
    hour, minute, second = (*map(int, text.split(":")), 0)[:3]
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(text)
    return (hour * 3600 + minute * 60 + second) * 1_000_000


def _datetime(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime.min) // _MICROSECOND


def _zoned(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime.min.replace(tzinfo=UTC)) // _MICROSECOND


def _date(text: str) -> int:
    return (date.fromisoformat(text).toordinal() - 1) * 86_400_000_000


_READ: dict[str, Callable[[str], Moment]] = {
    "number": Decimal,
    "clock": _clock,
    "date": _date,
    "datetime": _datetime,
    "zoned": _zoned,
}
