"""Read dates and times as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Literal, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from sfumato.core.errors import DataError, ParameterError
from sfumato.tables.table import TEXTS, Codes, Table, as_text, has_times

# Times as they are written: numbers, clock times, dates and date-times; read, ordered, one writing for each.


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
    kinds = [entry[0] if entry else "" for entry in read]
    if "" in kinds:
        raise DataError(f"{where(_among(kinds, ''))}: the time cannot be read; times are {KNOWN}")
    (kind, _), *others = Counter(kinds).most_common() or [("number", 0)]
    if others:
        other = others[0][0]
        raise DataError(
            f"{where(_among(kinds, other))}: the time is {NAMES[other]}, but other times of the column are written as "
            f"{NAMES[kind]} ({texts[kinds.index(kind)]!r}); write all times in one way"
        )
    values = [entry[1] for entry in read if entry]
    moments = tuple(sorted(set(values)))
    index = {value: i for i, value in enumerate(moments)}
    rank = np.fromiter(map(index.__getitem__, values), np.int32, len(values))
    return Timeline(kind=kind, writings=_writings(texts, values, moments), moments=moments, rank=rank)


def moment(text: str) -> tuple[str, Moment] | None:
    """The kind of a time and its value, or None for a text that is no time.

    >>> moment("08:30"), moment("2.50"), moment("25:00")
    (('clock', 30600000000), ('number', Decimal('2.50')), None)
    """
    match = _TIME.fullmatch(text)
    if match is None or match.lastgroup is None:
        return None
    try:
        return match.lastgroup, _READ[match.lastgroup](text)
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
    return np.array([text_kind == kind for text_kind in kinds], np.bool_)


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


# Dates as people write them: in which order day, month and year stand, and which century two digits mean.
#
# The mark between the parts is free (3.2.1980, 3/2/80, 03-Feb-1980, 19800203), a month may be a word, and a time of
# day may follow; it is left out. Only the order has to be said, and for years of two digits the first year they can
# mean.


Order = Literal["ymd", "dmy", "mdy"]
"""Which part of a date comes first, second and third."""
ORDERS: tuple[str, ...] = get_args(Order)
SPOKEN = {"ymd": "year, month, day", "dmy": "day, month, year", "mdy": "month, day, year"}
"""The orders in words."""
PIVOT = 1930
"""The first year that two digits mean where a plan does not say: 94 is 1994, and 29 is 2029."""
_LEAST_PIVOT, _MOST_PIVOT = 1, 9900
_COMPACT = re.compile(r"\d{8}")
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?"
_PARTED = re.compile(
    rf"(?P<a>\d{{1,4}}|[^\W\d_]{{3,13}})(?P<mark>[-/. ]|\. |, | de )(?P<b>\d{{1,2}}|[^\W\d_]{{3,13}}\.?)"
    rf"(?:(?P=mark)|[, ] ?| de )(?P<c>\d{{1,4}})(?:[T ,]+{_CLOCK})?"
)
_MONTHS = (
    "jan january januar janvier janv enero ene gennaio gen janeiro januari stycznia styczen sty",
    "feb february februar fevrier fevr fev febrero febbraio fevereiro februari lutego luty lut",
    "mar march marz maerz mrz mars marzo marco maart mrt marca marzec",
    "apr april avril avr abril abr aprile kwietnia kwiecien kwi",
    "may mai mayo maggio mag maio mei maja maj",
    "jun june juni juin junio giugno giu junho czerwca czerwiec cze",
    "jul july juli juillet juil julio luglio lug julho lipca lipiec lip",
    "aug august aout agosto ago augustus sierpnia sierpien sie",
    "sep sept september septembre septiembre settembre set setembro wrzesnia wrzesien wrz",
    "oct october oktober okt octobre octubre ottobre ott outubro out pazdziernika pazdziernik paz",
    "nov november novembre noviembre novembro listopada listopad lis",
    "dec december dezember dez decembre diciembre dic dicembre dezembro grudnia grudzien gru",
)
_NUMBER_OF = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DateForm:
    """How the dates of a column are written."""

    order: Order
    """Which part comes first, second and third."""
    pivot: int = PIVOT
    """The first of the hundred years that two digits can mean."""

    def __post_init__(self) -> None:
        """Refuse orders and pivots that cannot be."""
        if self.order not in ORDERS:
            raise ParameterError(f"format must be one of {', '.join(ORDERS)}, not {self.order!r}")
        if not _LEAST_PIVOT <= self.pivot <= _MOST_PIVOT:
            raise ParameterError(
                f"pivot must be a year from {_LEAST_PIVOT} to {_MOST_PIVOT} such as {PIVOT}, not {self.pivot}"
            )

    def day(self, text: str) -> date | None:
        """The day that a text says; None for a text that is no date of this form.

        A year of four digits that comes first is never anything else: 1980-02-03 is read in every form.

        >>> DateForm(order="dmy").day("03.02.1980"), DateForm(order="mdy").day("3/5/94 0:00")
        (datetime.date(1980, 2, 3), datetime.date(1994, 3, 5))
        """
        parts = self._parts(text.strip())
        if parts is None:
            return None
        fields = dict(zip("ymd" if _leads_with_year(parts[0]) else self.order, parts, strict=True))
        year, month, day = self._year(fields["y"]), _month(fields["m"]), fields["d"]
        try:
            return None if year is None or month is None or len(day) > 2 else date(year, month, int(day))
        except ValueError:
            return None

    def _parts(self, text: str) -> tuple[str, str, str] | None:
        """The three parts in the order in which they stand."""
        if _COMPACT.fullmatch(text):
            ends = (0, *((4, 6, 8) if self.order == "ymd" else (2, 4, 8)))
            return cast("tuple[str, str, str]", tuple(text[a:b] for a, b in pairwise(ends)))
        match = _PARTED.fullmatch(text)
        return None if match is None else (match["a"], match["b"], match["c"])

    def _year(self, text: str) -> int | None:
        if not text.isdecimal() or len(text) not in (2, 4):
            return None
        return int(text) if len(text) == 4 else self.pivot + (int(text) - self.pivot) % 100


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text) if len(text) <= 2 else None
    plain = unicodedata.normalize("NFKD", text.lower().rstrip("."))
    return _NUMBER_OF.get("".join(letter for letter in plain if not unicodedata.combining(letter)))


def fitting_orders(texts: Sequence[str], *, pivot: int = PIVOT) -> tuple[Order, ...]:
    """Every order in which all texts are dates; one that begins with a whole year excludes the others.

    >>> fitting_orders(["3/5/94", "6/25/90"]), fitting_orders(["03.02.1980", "04.05.1981"])
    (('mdy',), ('dmy', 'mdy'))
    """
    forms = [DateForm(order=order, pivot=pivot) for order in get_args(Order)]
    fitting_forms = [form for form in forms if texts and all(form.day(text) is not None for text in texts)]
    whole = [form for form in fitting_forms if form.order != "ymd" or all(_leads_with_year(text) for text in texts)]
    kept = [form.order for form in (whole or fitting_forms)]
    return tuple(kept[:1]) if kept[:1] == ["ymd"] else tuple(kept)


def _leads_with_year(text: str) -> bool:
    """Whether a date, or its first part, begins with four digits."""
    return text.strip()[:4].isdecimal() and len(text.strip()) >= 4


def has_short_year(text: str) -> bool:
    """Whether the year of a date has two digits.

    >>> has_short_year("3/5/94"), has_short_year("1994-03-05 10:00"), has_short_year("19940305")
    (True, False, False)
    """
    match = _PARTED.fullmatch(text.strip())
    return match is not None and max(len(match["a"]) if match["a"].isdecimal() else 0, len(match["c"])) < 4


def read_days(table: Table, name: str, form: DateForm | None) -> pl.Series:
    """The cells of a column of dates as days: written YYYY-MM-DD, or dates without a time of day.

    Only distinct cells are looked at. The first row whose text is no date is refused.
    """
    cells = table.frame[name]
    if has_times(cells):
        return cells.dt.date()
    if form is None or not (cells.dtype in TEXTS or cells.dtype.is_integer()):
        return cells
    texts = cells.cast(pl.String)
    distinct = [text for text in texts.drop_nulls().unique() if text not in table.missing]
    days = [form.day(text) for text in distinct]
    if None in days:
        raise _no_date(table, texts, form, distinct)
    marks = [mark for mark in table.missing if mark not in distinct]
    written = [*(day.isoformat() for day in days if day is not None), *marks]
    return texts.replace_strict([*distinct, *marks], written, default=None, return_dtype=pl.String).alias(name)


def _no_date(table: Table, texts: pl.Series, form: DateForm, distinct: Sequence[str]) -> DataError:
    """The refusal of the first row that has no date, with what would work."""
    bad = [text for text in distinct if form.day(text) is None]
    row = int(texts.is_in(bad).fill_null(value=False).arg_max() or 0)
    more = f"; {len(bad):,} different values are none" if len(bad) > 1 else ""
    others = fitting_orders(distinct, pivot=form.pivot)
    if others:
        would = f'every value is a date with format = "{others[0]}" ({SPOKEN[others[0]]})'
    else:
        would = "correct it, declare it in [input] missing, or read the column as text"
    return DataError(
        f"{table.source}, column {texts.name!r}, row {row + 1}: {texts[row]!r} is no date in the order "
        f'{SPOKEN[form.order]} (format = "{form.order}"){more}; {would}'
    )
