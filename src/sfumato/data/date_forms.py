"""Dates as people write them: in which order day, month and year stand, and which century two digits mean.

The mark between the parts is free (3.2.1980, 3/2/80, 03-Feb-1980, 19800203), a month may be a word, and a time of day
may follow; it is left out. Only the order has to be said, and for years of two digits the first year they can mean.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Literal, cast, get_args

import polars as pl

from sfumato.data.table import TEXTS, Table, has_times
from sfumato.ground.errors import DataError, ParameterError

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
        said = dict(zip("ymd" if _leads_with_year(parts[0]) else self.order, parts, strict=True))
        year, month, day = self._year(said["y"]), _month(said["m"]), said["d"]
        try:
            return None if year is None or month is None or len(day) > 2 else date(year, month, int(day))
        except ValueError:
            return None

    def _parts(self, text: str) -> tuple[str, str, str] | None:
        """The three parts in the order in which they stand."""
        if _COMPACT.fullmatch(text):
            ends = (0, *((4, 6, 8) if self.order == "ymd" else (2, 4, 8)))
            return cast("tuple[str, str, str]", tuple(text[a:b] for a, b in pairwise(ends)))
        found = _PARTED.fullmatch(text)
        return None if found is None else (found["a"], found["b"], found["c"])

    def _year(self, text: str) -> int | None:
        if not text.isdecimal() or len(text) not in (2, 4):
            return None
        return int(text) if len(text) == 4 else self.pivot + (int(text) - self.pivot) % 100


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text) if len(text) <= 2 else None
    plain = unicodedata.normalize("NFKD", text.lower().rstrip("."))
    return _NUMBER_OF.get("".join(one for one in plain if not unicodedata.combining(one)))


def fitting_orders(texts: Sequence[str], *, pivot: int = PIVOT) -> tuple[Order, ...]:
    """Every order in which all texts are dates; one that begins with a whole year excludes the others.

    >>> fitting_orders(["3/5/94", "6/25/90"]), fitting_orders(["03.02.1980", "04.05.1981"])
    (('mdy',), ('dmy', 'mdy'))
    """
    forms = [DateForm(order=order, pivot=pivot) for order in get_args(Order)]
    found = [one for one in forms if texts and all(one.day(text) is not None for text in texts)]
    whole = [one for one in found if one.order != "ymd" or all(_leads_with_year(text) for text in texts)]
    kept = [one.order for one in (whole or found)]
    return tuple(kept[:1]) if kept[:1] == ["ymd"] else tuple(kept)


def _leads_with_year(text: str) -> bool:
    """Whether a date, or its first part, begins with four digits."""
    return text.strip()[:4].isdecimal() and len(text.strip()) >= 4


def has_short_year(text: str) -> bool:
    """Whether the year of a date has two digits.

    >>> has_short_year("3/5/94"), has_short_year("1994-03-05 10:00"), has_short_year("19940305")
    (True, False, False)
    """
    found = _PARTED.fullmatch(text.strip())
    return found is not None and max(len(found["a"]) if found["a"].isdecimal() else 0, len(found["c"])) < 4


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
