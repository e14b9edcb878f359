"""Scales of charts: where a value lies, which values are written at the axis, and where labels have room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_WIDE = 8.0
"""A range of more than so many times its least value is drawn by magnitude."""
_ROOM = 0.07
"""The part of a scale that stays empty at each end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From values to places; the better end is right or up."""

    low: float
    """The least value that has a place."""
    high: float
    """The largest."""
    log: bool
    """Whether equal distances mean equal ratios."""
    falling: bool
    """Whether lower is better, so that the scale runs backwards."""

    @classmethod
    def of(cls, values: Sequence[float], *, falling: bool = False) -> Scale:
        """A scale over some values, with room at both ends."""
        low, high = min(values), max(values)
        log = low > 0 and high / low > _WIDE
        if log:
            room = max((high / low) ** _ROOM, 1.05)
            return cls(low=low / room, high=high * room, log=True, falling=falling)
        room = (high - low) * _ROOM or abs(high) * 0.1 or 1.0
        return cls(low=low - room, high=high + room, log=False, falling=falling)

    def at(self, value: float) -> float:
        """Where a value lies: 0 is the worse end, 1 the better one."""
        if self.log:
            part = log10(value / self.low) / log10(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return 1.0 - part if self.falling else part

    def back(self, part: float) -> float:
        """The value at a place."""
        part = 1.0 - part if self.falling else part
        if self.log:
            return float(self.low * (self.high / self.low) ** part)
        return self.low + part * (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Round values within the scale, not more than so many if that can be."""
        if not self.log:
            return _even(self.low, self.high, most)
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**decade for decade in decades for step in steps]
            found = [value for value in found if self.low <= value <= self.high]
            if len(found) <= most:
                return found
        return found[:: ceil(len(found) / most)]


def _even(low: float, high: float, most: int) -> list[float]:
    """Evenly spaced round values.

    >>> _even(0.0, 1.0, 5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    size = 10.0 ** floor(log10((high - low) / most))
    step = next(size * many for many in (1, 2, 2.5, 5, 10) if (high - low) / (size * many) < most)
    return [round(n * step, 12) for n in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text beside a mark, by its middle."""

    text: str
    """What it says."""
    x: float
    """From the left."""
    y: float
    """From the top."""
    strong: bool
    """Whether it belongs to the Pareto set."""

    @property
    def half(self) -> float:
        """Half its width."""
        return 3.1 * len(self.text) + 1

    def meets(self, other: Label) -> bool:
        """Whether two labels overlap."""
        return abs(self.x - other.x) < self.half + other.half + 2 and abs(self.y - other.y) < 11


def placed(
    marks: Sequence[tuple[str, float, float, bool]],
    *,
    taken: Sequence[Label] = (),
    width: float,
    height: float,
    reach: float = 13.0,
) -> list[Label]:
    """A label beside each mark (text, place, strong) where there is room; strong ones come first and always get one."""
    found = list(taken)
    for text, x, y, strong in sorted(marks, key=lambda mark: not mark[3]):
        choices = [_beside(text, x, y, strong, way, reach) for way in _WAYS]
        inside = [one for one in choices if one.half <= one.x <= width - one.half and 5 <= one.y <= height - 4]
        free = [one for one in inside if not any(map(one.meets, found)) and not any(_hits(one, mark) for mark in marks)]
        if free:
            found.append(free[0])
        elif strong and inside:
            found.append(
                min(inside, key=lambda one: sum(map(one.meets, found)) * 9 + sum(_hits(one, m) for m in marks))
            )
    return found[len(taken) :]


_WAYS = ((0.75, -0.75), (0, -1.05), (1, 0), (-0.75, -0.75), (0.75, 0.75), (0, 1.05), (-1, 0), (-0.75, 0.75))


def _beside(text: str, x: float, y: float, strong: bool, way: tuple[float, float], reach: float) -> Label:
    label = Label(text=text, x=x, y=y, strong=strong)
    wide = reach - 4 + label.half
    return Label(text=text, x=x + way[0] * wide, y=y + way[1] * reach, strong=strong)


def _hits(label: Label, mark: tuple[str, float, float, bool]) -> bool:
    return abs(label.x - mark[1]) < label.half + 4 and abs(label.y - mark[2]) < 8
