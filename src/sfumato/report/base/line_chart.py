"""Line charts as plain SVG: axes with given ticks, lines with their names at the right end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, log10

from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import SERIES
from sfumato.report.base.svg import drawing, fitted, line, plain, words

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


def line_chart(one: Panel, *, width: float = 396, height: float = 230) -> Picture:
    """A panel as a picture; its words tell every line's first and last value."""
    wide, tall = width - _LEFT - _NAMES, height - _TOP - _BOTTOM
    across, along = _scale(one.ticks, one.log_x), _scale(one.y, one.log_y)

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * across(x), _TOP + tall * (1 - along(y))

    parts = []
    for value in one.y:
        level = at(one.ticks[0], value)[1]
        parts += [line(_LEFT, level, _LEFT + wide, level)]
        parts += [words(f"{short(value)}{one.unit}", _LEFT - 7, level + 4, anchor="end")]
    for value in one.ticks:
        parts.append(words(short(value), at(value, one.y[0])[0], _TOP + tall + 17, anchor="middle"))
    parts.append(words(one.x, _LEFT + wide / 2, _TOP + tall + 33, anchor="middle"))
    drawn = [replaced for each in one.lines if (replaced := _within(each)) is not None]
    parts += [part for each in drawn for part in _drawn(each, at)]
    parts += _named(drawn, at, _LEFT + wide + 8, (_TOP, _TOP + tall))
    told = "; ".join(f"{each.name} from {_said(each, 0, one)} to {_said(each, -1, one)}" for each in drawn)
    return Picture(svg=drawing(parts, width, height), words=f"{one.title} by {one.x}: {told}.", caption=one.title)


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


def _within(one: Line) -> Line | None:
    """The line with the points that there are; None without any."""
    known = [(x, y) for x, y in one.points if isfinite(y)]
    return Line(name=one.name, points=known, tone=one.tone, dashed=one.dashed) if known else None


def _drawn(one: Line, at: Callable[[float, float], tuple[float, float]]) -> list[str]:
    tone = _tone(one)
    places = [at(x, y) for x, y in one.points]
    path = "M" + "L".join(f"{plain(x)} {plain(y)}" for x, y in places)
    dash = ' stroke-dasharray="4 3"' if one.dashed else ""
    parts = [f'<path d="{path}" fill="none" stroke="var(--{tone})" stroke-width="1.8"{dash}/>']
    if not one.dashed:
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


def _tone(one: Line) -> str:
    return "muted" if one.tone < 0 else f"series{one.tone % SERIES + 1}"


def _said(one: Line, place: int, panel: Panel) -> str:
    return f"{one.points[place][1]:.4g}{panel.unit}"
