"""Intervals of numbers, and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

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
    if found := _BETWEEN.fullmatch(label):
        return Interval(low=float(found[1]), high=float(found[2]), closed=found[3] == "]")
    if found := _BELOW.fullmatch(label):
        return Interval(low=-inf, high=float(found[1]), closed=False)
    if found := _ABOVE.fullmatch(label):
        return Interval(low=float(found[1]), high=inf, closed=True)
    if found := _POINT.fullmatch(label):
        return Interval(low=float(found[1]), high=float(found[1]), closed=True)
    return None
