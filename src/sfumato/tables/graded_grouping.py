"""Graded grouping of numbers, and the terms that sites agree on before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import Any

from sfumato.core.errors import ParameterError, listed, nearest

# Graded grouping: a number becomes the value of its category plus how far it lies within it.
#
# This is pseudonymization. Order and spacing stay, so whoever knows a few people reads the others off a straight line
# (``attacks.pseudonyms``). What it makes is never anonymous.


LEAST_DIGITS = 3
"""Codes have at least so many digits after the point, as in the document's table."""
MOST_DECIMALS = 18
"""Numbers have at most so many digits after the point."""
_ROOM = 4
"""The codes of neighbours on the grid lie at least so many units of the last digit apart, before rounding."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_PLAIN = re.compile(r"([0-9]{1,18})(?:\.([0-9]+))?", re.ASCII)
"""The numbers that most tables have: digits, and perhaps some after a point."""

Number = Decimal | Fraction | int | str


def decimal_of(text: object) -> Decimal:
    """A decimal number, exactly as it is written; anything else is refused.

    >>> decimal_of("0.10"), decimal_of(3)
    (Decimal('0.10'), Decimal('3'))
    """
    number_text = str(text)
    if not _NUMBER.fullmatch(number_text):
        raise ParameterError(f"{number_text[:40]!r} is no decimal number")
    return Decimal(number_text)


@dataclass(frozen=True, kw_only=True)
class GradedGrouping:
    """Categories of decimal numbers and their values: [L, U) goes to [V, V + 1) in a straight line.

    Claim: larger numbers get larger codes, and every number with at most so many decimals comes back to the last digit.
        Codes have as many digits as that needs, and are exact where they end within twice as many. Only the largest
        number of all is moved: to V + 0.999…
    Does not protect against: anybody who knows some numbers of the column, or how they are distributed. It is
        pseudonymization, and keeps order, spacing and correlations on purpose.
    Source: document 002, equation 2 and table 3. Its equation 1 has the inequality the wrong way round, and 0.999 for
        every upper limit collides with numbers above 99.9 % of a category; here only the largest of all is moved.
    Why it is exact: let all limits be whole multiples of a unit, the widest category W of them wide, and 10^D >= 4 W.
        Neighbours then lie at least 4 units of the last digit apart, so rounding keeps them apart, and a code that is
        off by half a unit of its last digit leads back to within 1/8 of the number's own unit.

    >>> ages = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))
    >>> [ages.code(age) for age in ("25", "30", "90")], ages.number("2.667")
    (['1.667', '2.000', '5.999'], '40')
    """

    limits: tuple[Fraction, ...]
    """Where categories begin, ascending, and the largest number of all."""
    values: tuple[int, ...]
    """The value of each category, a whole number, each at least 1 above the one before."""
    decimals: int = 0
    """How many digits after the point numbers may have."""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "limits", tuple(map(Fraction, self.limits)))
        except (ValueError, OverflowError, TypeError):
            raise ParameterError(f"limits must be finite numbers, not {self.limits}") from None
        if len(self.values) < 1 or len(self.limits) != len(self.values) + 1:
            raise ParameterError(
                f"limits must be one more than values, at least two, not {len(self.limits)} and {len(self.values)}"
            )
        if any(type(value) is not int for value in self.values):
            raise ParameterError(f"values must be whole numbers, not {self.values}")
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ParameterError(f"decimals must be between 0 and {MOST_DECIMALS}, not {self.decimals}")
        if any(low >= high for low, high in pairwise(self.limits)):
            raise ParameterError(f"limits must ascend, not {', '.join(map(_plain, self.limits))}")
        if any(high < low + 1 for low, high in pairwise(self.values)):
            raise ParameterError(f"values must ascend by 1 or more, not {self.values}")

    @cached_property
    def digits(self) -> int:
        """How many digits after the point codes have: all of them where they end soon, else enough to be read back."""
        widths = [high - low for low, high in pairwise(self._marks)]
        enough = max(len(str(_ROOM * max(widths) - 1)), LEAST_DIGITS)
        whole = (many for many in range(enough, 2 * enough + 1) if all(10**many % width == 0 for width in widths))
        return next(whole, enough)

    @cached_property
    def _scale(self) -> int:
        """How many units make 1: every limit and every number that is accepted is a whole multiple of a unit."""
        return lcm(10**self.decimals, *(limit.denominator for limit in self.limits))

    @cached_property
    def _step(self) -> int:
        """How many units lie between neighbours among the numbers that are accepted."""
        return self._scale // int(10**self.decimals)

    @cached_property
    def _marks(self) -> tuple[int, ...]:
        """The limits, in units."""
        return tuple(int(limit * self._scale) for limit in self.limits)

    def code(self, number: Number) -> str:
        """The code of a number, as a decimal; one outside the limits or with more decimals is refused."""
        plain = _PLAIN.fullmatch(number) if isinstance(number, str) else None
        if plain is not None and len(plain[2] or "") <= self.decimals:
            units = int(plain[1] + (plain[2] or "").ljust(self.decimals, "0")) * self._step
            if self._marks[0] <= units <= self._marks[-1]:
                return pointed(self._forward(units), self.digits)
        return self._code_of_any(number)

    def _code_of_any(self, number: Number) -> str:
        value = number if isinstance(number, int | Fraction) else decimal_of(number)
        if not self.limits[0] <= value <= self.limits[-1]:
            ends = f"{_plain(self.limits[0])} and {_plain(self.limits[-1])}"
            raise ParameterError(f"numbers must lie between {ends}, not {number}")
        if (Fraction(value) * 10**self.decimals).denominator != 1:
            raise ParameterError(f"numbers must have at most {self.decimals} digits after the point, not {number}")
        return pointed(self._forward(int(Fraction(value) * self._scale)), self.digits)

    def number(self, code: Number) -> str:
        """The number whose code this is, to the last digit; what is the code of no number is refused."""
        number = self.nearest(code)
        if Decimal(self.code(number)) != (code if isinstance(code, Decimal) else decimal_of(code)):
            raise ParameterError(f"{code} is the code of no number with {self.decimals} digits after the point")
        return number

    def nearest(self, code: Number) -> str:
        """The accepted number that is nearest to what a code stands for."""
        steps = self.behind(code) * 10**self.decimals
        whole = (2 * steps.numerator + steps.denominator) // (2 * steps.denominator)
        return pointed(whole, self.decimals)

    def behind(self, code: Number) -> Fraction:
        """What a number on the scale of codes stands for, such as a mean of codes; between two categories their limit.

        The largest code of all stands for the largest number. What lies below or above all codes is refused.
        """
        given = Fraction(code if isinstance(code, int | Fraction) else decimal_of(code))
        if not self.values[0] <= given <= self.values[-1] + 1:
            ends = f"{self.values[0]} and {self.values[-1] + 1}"
            raise ParameterError(f"codes lie between {ends}, not {code}")
        place = bisect_right(self.values, given) - 1
        low, high = self.limits[place], self.limits[place + 1]
        last = place == len(self.values) - 1
        if last and given >= self.values[-1] + 1 - Fraction(1, 10**self.digits):
            return high
        return low + min(given - self.values[place], Fraction(1)) * (high - low)

    def codes(self, numbers: Iterable[Number]) -> list[str]:
        """The code of every number; each distinct one is computed once."""
        given = list(numbers)
        code_of = {number: self.code(number) for number in dict.fromkeys(given)}
        return [code_of[number] for number in given]

    def numbers(self, codes: Iterable[Number]) -> list[str]:
        """The number behind every code; each distinct one is computed once."""
        given = list(codes)
        number_of = {code: self.number(code) for code in dict.fromkeys(given)}
        return [number_of[code] for code in given]

    def _forward(self, units: int) -> int:
        """The code in units of its last digit."""
        whole: int = 10**self.digits
        if units == self._marks[-1]:
            return (self.values[-1] + 1) * whole - 1
        place = bisect_right(self._marks, units) - 1
        low, width = self._marks[place], self._marks[place + 1] - self._marks[place]
        return self.values[place] * whole + (2 * (units - low) * whole + width) // (2 * width)


def pointed(units: int, digits: int) -> str:
    """A whole number of units of the last digit, as a decimal.

    >>> pointed(-5, 1), pointed(1667, 3), pointed(40, 0)
    ('-0.5', '1.667', '40')
    """
    whole, part = divmod(abs(units), 10**digits)
    return f"{'-' if units < 0 else ''}{whole}" + (f".{part:0{digits}d}" if digits else "")


def _plain(number: Fraction) -> str:
    """A limit for a message.

    >>> _plain(Fraction(15)), _plain(Fraction(1, 4))
    ('15', '0.25')
    """
    return f"{float(number):.12g}"


# What sites agree on before graded grouping: columns with their ranges or values, which nobody takes from a table.


MOST_CATEGORIES = 1000
"""A numeric column is cut into at most so many ranges."""
MOST_GAP = 1000
"""Values of neighbouring ranges lie at most so much further apart than 1."""
MOST_FIRST = 1_000_000
"""The value of the first range is at most so large."""
_UNIFORM = ("low", "high", "categories")
_KEYS = (*_UNIFORM, "ranges", "decimals", "first", "gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTerm:
    """A numeric column: where its ranges begin, and how their values are chosen."""

    limits: tuple[Fraction, ...]
    """Where ranges begin, ascending, and the largest number of all."""
    decimals: int = 0
    """How many digits after the point numbers may have."""
    first: int | None = None
    """The value of the first range; None: drawn from the secret."""
    gap: int = 0
    """Values of neighbouring ranges are 1 to 1 + gap apart, drawn from the secret; with 0 they follow each other."""

    def to_json(self) -> dict[str, Any]:
        """In one spelling; ``read_terms`` reads it back."""
        ranges = [[str(low), str(high)] for low, high in pairwise(self.limits)]
        document = {"ranges": ranges, "decimals": self.decimals, "gap": self.gap}
        return document if self.first is None else {**document, "first": self.first}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryTerm:
    """A column of categories."""

    values: tuple[str, ...]
    """Every value that it may have."""

    def to_json(self) -> list[str]:
        """As a session file says it."""
        return list(self.values)


Term = NumberTerm | CategoryTerm
Terms = Mapping[str, Term]


def read_terms(settings: Any, where: str = "columns") -> Terms:
    """The terms from nested tables: a list of texts, or a range with its number of categories, or ranges one by one.

    >>> read_terms({"age": {"low": 15, "high": 90, "categories": 5}})["age"].limits[1]
    Fraction(30, 1)
    """
    if not isinstance(settings, Mapping) or not settings:
        raise ParameterError(
            f'{where} must name columns, such as ward = ["A", "B"], or age = {{ low = 0, high = 100, categories = 5 }}'
        )
    return {str(name): _term(term, f"{where}.{name}") for name, term in settings.items()}


def terms_json(terms: Terms) -> dict[str, Any]:
    """The terms in one spelling, columns by name."""
    return {name: terms[name].to_json() for name in sorted(terms)}


def _term(value: Any, where: str) -> Term:
    if isinstance(value, Mapping):
        return _numbers(value, where)
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise ParameterError(f"{where} must list texts, or be a range with low, high and categories, not {value!r}")
    if len(set(value)) < len(value):
        raise ParameterError(f"{where} names a value twice")
    return CategoryTerm(values=tuple(value))


def _numbers(settings: Mapping[str, Any], where: str) -> NumberTerm:
    for key in settings:
        if key not in _KEYS:
            raise ParameterError(f"{where}.{key} is not known{nearest(key, _KEYS)} Known are {listed(_KEYS)}")
    term = NumberTerm(
        limits=_chosen(settings, where) if "ranges" in settings else _uniform(settings, where),
        decimals=_whole(settings, "decimals", where, 0, MOST_DECIMALS, 0),
        first=_whole(settings, "first", where, -MOST_FIRST, MOST_FIRST, 0) if "first" in settings else None,
        gap=_whole(settings, "gap", where, 0, MOST_GAP, 0),
    )
    try:
        GradedGrouping(limits=term.limits, values=tuple(range(len(term.limits) - 1)), decimals=term.decimals)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    for end in (term.limits[0], term.limits[-1]):
        if (end * 10**term.decimals).denominator != 1:
            raise ParameterError(f"{where}: {end} has more than decimals = {term.decimals} digits after the point")
    return term


def _uniform(settings: Mapping[str, Any], where: str) -> tuple[Fraction, ...]:
    low, high = (_number(settings.get(key), f"{where}.{key}") for key in ("low", "high"))
    count = _whole(settings, "categories", where, 1, MOST_CATEGORIES, None)
    if low >= high:
        raise ParameterError(f"{where}.low must be below {where}.high, not {low} and {high}")
    return tuple(low + (high - low) * Fraction(step, count) for step in range(count + 1))


def _chosen(settings: Mapping[str, Any], where: str) -> tuple[Fraction, ...]:
    ranges = settings["ranges"]
    for key in _UNIFORM:
        if key in settings:
            raise ParameterError(f"{where} has ranges and {key}; ranges say all, so leave {key} out")
    if not isinstance(ranges, list) or not 1 <= len(ranges) <= MOST_CATEGORIES:
        raise ParameterError(f"{where}.ranges must list 1 to {MOST_CATEGORIES} pairs, such as [[0, 20], [20, 100]]")
    limits: list[Fraction] = []
    for pair in ranges:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ParameterError(f"{where}.ranges must list pairs of a lower and an upper end, not {pair!r}")
        low, high = (_number(end, f"{where}.ranges") for end in pair)
        if low >= high:
            raise ParameterError(f"{where}.ranges: the range from {low} to {high} is empty")
        if limits and low != limits[-1]:
            fault = "overlaps" if low < limits[-1] else "leaves a gap above"
            raise ParameterError(
                f"{where}.ranges: the range that begins at {low} {fault} the one before, which ends at {limits[-1]}; "
                "each must begin where the one before ends"
            )
        limits = [*(limits or [low]), high]
    return tuple(limits)


def _number(value: Any, where: str) -> Fraction:
    """A number of a TOML or JSON file, or a fraction in one spelling."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ParameterError(f"{where} must be a number, not {value!r}")
    top, mark, bottom = str(value).partition("/")
    if isinstance(value, str) and mark and bottom.isascii() and bottom.isdigit() and int(bottom):
        return Fraction(decimal_of(top)) / int(bottom)
    try:
        return Fraction(decimal_of(value))
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _whole(settings: Mapping[str, Any], key: str, where: str, low: int, high: int, default: int | None) -> int:
    value = settings.get(key, default)
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(f"{where}.{key} must be a whole number between {low} and {high}, not {value!r}")
    return value
