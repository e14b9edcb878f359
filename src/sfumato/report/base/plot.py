"""The frame of a chart with two axes: where values lie, and which are written beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.report.base.figures import GAP, one_in
from sfumato.report.base.language import figured
from sfumato.report.base.scales import Scale
from sfumato.report.base.shapes import MUTED, SIZE
from sfumato.report.base.svg import drawing, line, plain, words

How = Literal["share", "odds", "count", "number"]
LEFT, RIGHT, TOP, BOTTOM = 58, 8, 14, 30
"""What the axes take of a chart's width and height."""
_LETTERS = SIZE - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Two scales on a piece of paper."""

    across: Scale
    """From left to right."""
    along: Scale
    """From bottom to top."""
    size: tuple[int, int]
    """Of the whole picture."""

    @property
    def wide(self) -> float:
        """The room between the axes, across."""
        return self.size[0] - LEFT - RIGHT

    @property
    def tall(self) -> float:
        """The room between the axes, along."""
        return self.size[1] - TOP - BOTTOM

    def x(self, value: float) -> float:
        """Where a value lies across."""
        return LEFT + self.wide * self.across.at(value)

    def y(self, value: float) -> float:
        """Where a value lies along."""
        return TOP + self.tall * (1 - self.along.at(value))

    def axes(self, how: tuple[How, How], most: tuple[int, int] = (7, 7)) -> list[str]:
        """A line for each round value, with the value beside it; not more than so many on each axis."""
        parts = []
        for value in self.across.ticks(most[0]):
            x, bottom = self.x(value), TOP + self.tall
            parts.append(line(x, TOP, x, bottom))
            parts.append(words(tick(value, how[0]), x, bottom + 7 + 0.8 * _LETTERS, anchor="middle", size=_LETTERS))
        for value in self.along.ticks(most[1]):
            y = self.y(value)
            parts.append(line(LEFT, y, LEFT + self.wide, y))
            parts.append(words(tick(value, how[1]), LEFT - 7, y + 0.34 * _LETTERS, anchor="end", size=_LETTERS))
        parts.append(line(LEFT, TOP + self.tall, LEFT + self.wide, TOP + self.tall, MUTED, width=0.5))
        parts.append(line(LEFT, TOP, LEFT, TOP + self.tall, MUTED, width=0.5))
        return parts

    def segment(self, x: float, y: float, x2: float, y2: float, tone: str, *, width: float, seen: float = 1.0) -> str:
        """A straight line between two points, by their values."""
        drawn = line(self.x(x), self.y(y), self.x(x2), self.y(y2), tone, width=width)
        return drawn if seen >= 1 else drawn.replace("/>", f' opacity="{plain(seen)}"/>')

    def drawn(self, parts: list[str]) -> str:
        """The picture."""
        return drawing(parts, *self.size)


def tick(value: float, how: How) -> str:
    """A round value as an axis writes it.

    >>> [tick(*one).replace(GAP, " ") for one in ((0.25, "share"), (0.002, "odds"), (25000.0, "count"))]
    ['25 %', '1 in 500', '25,000']
    """
    if how == "share":
        return f"{_short(value * 100)}{GAP}%"
    if how == "odds":
        return one_in(_short(1 / value)) if value > 0 else "0"
    return _short(value)


def _short(value: float) -> str:
    """Three digits at most, without zeros at the end, thousands apart."""
    rounded = float(f"{value:.3g}")
    whole = abs(rounded) >= 1000 or rounded == int(rounded)
    return figured(f"{rounded:,.0f}" if whole else f"{rounded:.10f}".rstrip("0"))
