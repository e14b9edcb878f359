"""Labels that stand for several values: intervals with round edges, sets and distributions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from sfumato.core.fractions import exact
from sfumato.core.strict_parsing import read_json

# Intervals of numbers, and what they are called.


Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The limits of the whole range, and whether the publisher said them."""

    low: float
    high: float
    low_known: bool
    high_known: bool

    def label(self, span: Span) -> str:
        """The name of an interval of which only one can touch each limit."""
        return self.named(span, first=span[0] <= self.low, last=span[1] >= self.high)

    def named(self, span: Span, *, first: bool, last: bool) -> str:
        """The name of an interval; an end that was read off the data is not told, for it may be a suppressed row's."""
        below, above = first and not self.low_known, last and not self.high_known
        if below and above:
            return "any"
        if below:
            return f"<{_plain(span[1])}"
        if above:
            return f">={_plain(span[0])}"
        mark = "-" if span[0] >= 0 else " to "
        return f"[{_plain(span[0])}{mark}{_plain(span[1])}{']' if last else ')'}"


def _plain(x: float) -> str:
    return str(int(x)) if float(x).is_integer() else repr(float(x))


_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_BETWEEN = re.compile(rf"\[{_NUMBER}(?:-| to ){_NUMBER}([\])])")
_BELOW = re.compile(rf"<{_NUMBER}")
_ABOVE = re.compile(rf">={_NUMBER}")
_POINT = re.compile(_NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The numbers from ``low`` up to ``high``, which itself belongs to it only if it is closed."""

    low: float
    high: float
    closed: bool

    def holds(self, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which numbers lie in it."""
        below = numbers <= self.high if self.closed else numbers < self.high
        return np.asarray((numbers >= self.low) & below)


def read_interval(label: str) -> Interval | None:
    """The interval that a label names, or None if it names none.

    >>> read_interval("[20-40)")
    Interval(low=20.0, high=40.0, closed=False)
    >>> read_interval(">=80"), read_interval("39")
    (Interval(low=80.0, high=inf, closed=True), Interval(low=39.0, high=39.0, closed=True))
    """
    if label == "any":
        return Interval(low=-inf, high=inf, closed=True)
    if match := _BETWEEN.fullmatch(label):
        return Interval(low=float(match[1]), high=float(match[2]), closed=match[3] == "]")
    if match := _BELOW.fullmatch(label):
        return Interval(low=-inf, high=float(match[1]), closed=False)
    if match := _ABOVE.fullmatch(label):
        return Interval(low=float(match[1]), high=inf, closed=True)
    if match := _POINT.fullmatch(label):
        return Interval(low=float(match[1]), high=float(match[1]), closed=True)
    return None


# Round numbers: where an edge between two values is put.


def roundest(a: float, b: float) -> float:
    """The roundest number above ``a`` and not above ``b``: a multiple of the largest power of ten that has one there.

    Of several multiples of that power the one closest to the middle, of two equally close the smaller. Zero is a
    multiple of every power. Numbers are read as the decimals that they are written as. ``a`` lies below ``b``.

    >>> roundest(37, 42), roundest(17, 64), roundest(0.12, 0.14), roundest(-3, 5), roundest(8, 9), roundest(-260, -90)
    (40.0, 40.0, 0.13, 0.0, 9.0, -200.0)
    """
    low, high = exact(float(a)), exact(float(b))
    if low < 0 <= high:
        return 0.0
    step = _above(max(abs(low), abs(high)))
    while (first := low // step + 1) > (last := high // step):
        step /= 10
    middle = (low + high) / 2
    multiple = float(min((n * step for n in range(first, last + 1)), key=lambda x: (abs(x - middle), x)))
    return multiple if multiple > a else float(b)


def roundness(x: float) -> int:
    """The largest power of ten that a number is a multiple of, as its exponent; that of 0 is large.

    >>> roundness(1200), roundness(7), roundness(0.25), roundness(0) > 300
    (2, 0, -2, True)
    """
    value = exact(float(x))
    power = 0
    while value and value.denominator > 1:
        value, power = value * 10, power - 1
    while value and value % 10 == 0:
        value, power = value / 10, power + 1
    return power if value else 400


def _above(size: Fraction) -> Fraction:
    """A power of ten above a positive number."""
    power = Fraction(10) ** (len(str(size.numerator)) - len(str(size.denominator)))
    while power <= size:
        power *= 10
    return power


# Labels that list the values of a set, written so that the list can be read back.


_PLAIN = re.compile(r'[^{}",]+(,[^ {}",][^{}",]*)*')
"""A value that needs no quotes: it has none, no brace, and no comma before a blank."""
_ENTRY = re.compile(r'("(?:[^"\\]|\\.)*"|(?:(?!, )[^{}"])+)(?:, |$)')


def written_set(values: Sequence[str]) -> str:
    r"""The label of a set of values; values that could be taken for several are quoted as in JSON.

    >>> written_set(["flu", "cold, mild"])
    '{flu, "cold, mild"}'
    """
    return "{" + ", ".join(v if _PLAIN.fullmatch(v) else json.dumps(v, ensure_ascii=False) for v in values) + "}"


def read_set(label: str) -> list[str] | None:
    """The values that a label lists; None where it lists none.

    >>> read_set('{flu, "cold, mild"}'), read_set("flu")
    (['flu', 'cold, mild'], None)
    """
    if not (label.startswith("{") and label.endswith("}")):
        return None
    values, position, text = list[str](), 0, label[1:-1]
    while position < len(text):
        entry = _ENTRY.match(text, position)
        if entry is None:
            return None
        values.append(json.loads(entry[1]) if entry[1].startswith('"') else entry[1])
        position = entry.end()
    return values


# A released cell that is a distribution: how often each value occurs among the records that it stands for.


MAX_LABEL = 900
"""A label has at most so many characters: a manifest holds no longer ones, and nobody would read them."""


def written_distribution(counts: Mapping[str, int]) -> str:
    """Counts as one cell: a JSON object, which people and programs read; the most frequent value first.

    >>> written_distribution({"cold": 2, "flu": 3})
    '{"flu": 3, "cold": 2}'
    """
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return json.dumps(dict(ordered), ensure_ascii=False)


def read_distribution(label: str) -> dict[str, int] | None:
    """The counts that a label names, two values at least; None where it is no distribution.

    >>> read_distribution('{"flu": 3, "cold": 2}'), read_distribution("{flu, cold}")
    ({'flu': 3, 'cold': 2}, None)
    """
    if not label.startswith('{"') or len(label) > 10 * MAX_LABEL:
        return None
    try:
        counts = read_json(label, depth=1)
    except ValueError:
        return None
    whole = all(type(many) is int and many > 0 for many in counts.values())
    return counts if whole and len(counts) > 1 else None
