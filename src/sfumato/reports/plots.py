"""Charts with two axes: scales, placed labels, frames, and line charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal

from sfumato.reports.language import GAP, figured, one_in
from sfumato.reports.svg import MUTED, SERIES, SIZE, Picture, drawing, fitted, line, plain, words

# Scales of charts: where a value lies, which values are written at the axis, and where labels have room.


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
            ticks = [step * 10.0**decade for decade in decades for step in steps]
            ticks = [value for value in ticks if self.low <= value <= self.high]
            if len(ticks) <= most:
                return ticks
        return ticks[:: ceil(len(ticks) / most)]


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
    labels = list(taken)
    for text, x, y, strong in sorted(marks, key=lambda mark: not mark[3]):
        choices = [_beside(text, x, y, strong, way, reach) for way in _WAYS]
        inside = [
            label for label in choices if label.half <= label.x <= width - label.half and 5 <= label.y <= height - 4
        ]
        free = [
            label
            for label in inside
            if not any(map(label.meets, labels)) and not any(_hits(label, mark) for mark in marks)
        ]
        if free:
            labels.append(free[0])
        elif strong and inside:
            labels.append(
                min(inside, key=lambda label: sum(map(label.meets, labels)) * 9 + sum(_hits(label, m) for m in marks))
            )
    return labels[len(taken) :]


_WAYS = ((0.75, -0.75), (0, -1.05), (1, 0), (-0.75, -0.75), (0.75, 0.75), (0, 1.05), (-1, 0), (-0.75, 0.75))


def _beside(text: str, x: float, y: float, strong: bool, way: tuple[float, float], reach: float) -> Label:
    label = Label(text=text, x=x, y=y, strong=strong)
    wide = reach - 4 + label.half
    return Label(text=text, x=x + way[0] * wide, y=y + way[1] * reach, strong=strong)


def _hits(label: Label, mark: tuple[str, float, float, bool]) -> bool:
    return abs(label.x - mark[1]) < label.half + 4 and abs(label.y - mark[2]) < 8


# The frame of a chart with two axes: where values lie, and which are written beside it.


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


# Line charts as plain SVG: axes with given ticks, lines with their names at the right end.


_LEFT, _TOP, _BOTTOM, _NAMES = 46, 10, 38, 112
_APART = 13
"""The least distance of two names, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a chart."""

    name: str
    """Written at its right end."""
    points: Sequence[tuple[float, float]]
    """Places along both axes; a value that is not a number leaves a gap."""
    tone: int = 0
    """Which of the colours, from 0; -1 is grey."""
    dashed: bool = False
    """Whether it is a line to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart: its lines and its axes."""

    title: str
    """A line above it."""
    lines: Sequence[Line]
    """What is drawn."""
    x: str
    """What the axis across means."""
    ticks: Sequence[float]
    """Values written on it; the first and the last are its ends."""
    y: Sequence[float]
    """Values written on the other axis; the first and the last are its ends."""
    unit: str = ""
    """Written behind these."""
    log_x: bool = False
    """Whether equal distances mean equal ratios."""
    log_y: bool = False
    """The same for the other axis."""


def line_chart(panel: Panel, *, width: float = 396, height: float = 230) -> Picture:
    """A panel as a picture; its words tell every line's first and last value."""
    wide, tall = width - _LEFT - _NAMES, height - _TOP - _BOTTOM
    across, along = _scale(panel.ticks, panel.log_x), _scale(panel.y, panel.log_y)

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * across(x), _TOP + tall * (1 - along(y))

    parts = []
    for value in panel.y:
        level = at(panel.ticks[0], value)[1]
        parts += [line(_LEFT, level, _LEFT + wide, level)]
        parts += [words(f"{short(value)}{panel.unit}", _LEFT - 7, level + 4, anchor="end")]
    for value in panel.ticks:
        parts.append(words(short(value), at(value, panel.y[0])[0], _TOP + tall + 17, anchor="middle"))
    parts.append(words(panel.x, _LEFT + wide / 2, _TOP + tall + 33, anchor="middle"))
    drawn = [replaced for each in panel.lines if (replaced := _within(each)) is not None]
    parts += [part for each in drawn for part in _drawn(each, at)]
    parts += _named(drawn, at, _LEFT + wide + 8, (_TOP, _TOP + tall))
    summary = "; ".join(f"{each.name} from {_said(each, 0, panel)} to {_said(each, -1, panel)}" for each in drawn)
    return Picture(
        svg=drawing(parts, width, height), words=f"{panel.title} by {panel.x}: {summary}.", caption=panel.title
    )


def ticks_over(values: Sequence[float], most: int = 6) -> tuple[float, ...]:
    """Round values from below the least to above the largest, about so many.

    >>> ticks_over([0.3, 4.2]), ticks_over([81.2, 84.9])
    ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0), (81.0, 82.0, 83.0, 84.0, 85.0))
    """
    known = [value for value in values if isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** int(f"{span / most:e}".split("e")[1])
    step = next(size * part for part in (1, 2, 5, 10) if span / (size * part) <= most)
    first, last = int(low // step), -int(-high // step)
    return tuple(round(n * step, 10) for n in range(first, max(last, first + 1) + 1))


def short(value: float) -> str:
    """A tick in few letters.

    >>> short(0.5), short(25000), short(1_000_000), short(30)
    ('0.5', '25 k', '1 M', '30')
    """
    for size, name in ((1_000_000, " M"), (10_000, " k")):
        if abs(value) >= size:
            return f"{value / (1_000 if name == ' k' else size):g}{name}"
    return f"{value:g}"


def _scale(ticks: Sequence[float], log: bool) -> Callable[[float], float]:
    low, high = ticks[0], ticks[-1]
    if log:
        return lambda value: log10(max(value, low) / low) / log10(high / low)
    return lambda value: (min(max(value, low), high) - low) / (high - low)


def _within(curve: Line) -> Line | None:
    """The line with the points that there are; None without any."""
    known = [(x, y) for x, y in curve.points if isfinite(y)]
    return Line(name=curve.name, points=known, tone=curve.tone, dashed=curve.dashed) if known else None


def _drawn(curve: Line, at: Callable[[float, float], tuple[float, float]]) -> list[str]:
    tone = _tone(curve)
    places = [at(x, y) for x, y in curve.points]
    path = "M" + "L".join(f"{plain(x)} {plain(y)}" for x, y in places)
    dash = ' stroke-dasharray="4 3"' if curve.dashed else ""
    parts = [f'<path d="{path}" fill="none" stroke="var(--{tone})" stroke-width="1.8"{dash}/>']
    if not curve.dashed:
        parts += [f'<circle cx="{plain(x)}" cy="{plain(y)}" r="2.6" fill="var(--{tone})"/>' for x, y in places]
    return parts


def _named(
    lines: Sequence[Line], at: Callable[[float, float], tuple[float, float]], left: float, ends: tuple[float, float]
) -> list[str]:
    """Names beside the right ends, moved apart where they would touch."""
    wanted = sorted((at(*each.points[-1])[1], n) for n, each in enumerate(lines) if each.name)
    places = apart([place for place, _ in wanted], low=ends[0], high=ends[1])
    return [
        words(fitted(lines[n].name, _NAMES - 10), left, place + 4, tone=_tone(lines[n]))
        for place, (_, n) in zip(places, wanted, strict=True)
    ]


def apart(wanted: Sequence[float], *, low: float, high: float) -> list[float]:
    """Ascending places moved apart as little as possible: names that would touch stand around their common middle.

    >>> apart([10, 12, 60], low=0, high=100)
    [4.5, 17.5, 60.0]
    >>> apart([1, 1, 2], low=0, high=100)
    [0, 13, 26]
    """
    blocks: list[list[float]] = []
    for place in wanted:
        blocks.append([place])
        while len(blocks) > 1 and _first(blocks[-2]) + _APART * len(blocks[-2]) > _first(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    places = [_first(block) + _APART * i for block in blocks for i in range(len(block))]
    over = max(places[-1] - high, 0.0) if places else 0.0
    return [max(place - over, low + _APART * i) for i, place in enumerate(places)]


def _first(block: Sequence[float]) -> float:
    """Where the first of some names stands if they stand together, each near the place that it wants."""
    return sum(place - _APART * i for i, place in enumerate(block)) / len(block)


def _tone(curve: Line) -> str:
    return "muted" if curve.tone < 0 else f"series{curve.tone % SERIES + 1}"


def _said(curve: Line, place: int, panel: Panel) -> str:
    return f"{curve.points[place][1]:.4g}{panel.unit}"
