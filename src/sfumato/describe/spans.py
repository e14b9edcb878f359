"""Intervals of numbers, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The limits of the whole range, and whether the publisher said them."""

    low: float
    high: float
    low_known: bool
    high_known: bool

    def label(self, span: Span) -> str:
        """The name of an interval; an end that was read off the data is not told, for it may be a suppressed row's."""
        first, last = span[0] <= self.low and not self.low_known, span[1] >= self.high and not self.high_known
        if first and last:
            return "any"
        if first:
            return f"<{_plain(span[1])}"
        if last:
            return f">={_plain(span[0])}"
        mark = "-" if span[0] >= 0 else " to "
        return f"[{_plain(span[0])}{mark}{_plain(span[1])}{']' if span[1] >= self.high else ')'}"


def _plain(x: float) -> str:
    return str(int(x)) if float(x).is_integer() else repr(float(x))
