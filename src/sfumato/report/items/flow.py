"""Frequent sequences drawn as lines from place to place over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from sfumato.report.base.language import said
from sfumato.report.base.svg import NARROW, drawing, fitted, line, named, plain, room, words
from sfumato.report.items.item_facts import Spot

_TOP = 20
_LEAST = 24
"""The height of a place that one line passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One line of the picture."""

    spots: tuple[Spot, ...]
    """Where it stops, in order of time."""
    support: int
    """How many records have it."""
    tone: str
    """Its colour."""
    dashed: bool
    """Whether it is drawn dashed."""
    title: str
    """What it is, for those who point at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lanes:
    """Where everything is."""

    x: dict[str, float]
    """By time."""
    y: dict[str, float]
    """The middle of a place."""
    left: float
    bottom: float
    offsets: dict[tuple[int, Spot], float]
    """By line and stop, so that lines at one stop lie beside each other."""


def merged(*orders: Sequence[str]) -> list[str]:
    """All names of some orders in one: new ones stand behind the one they follow in their own.

    >>> merged(["1", "2", "3"], ["1", "[2-3)", "3"])
    ['1', '[2-3)', '2', '3']
    """
    found: list[str] = []
    for order in orders:
        known = {name: i for i, name in enumerate(found)}
        new: list[list[str]] = [[] for _ in range(len(found) + 1)]
        here = 0
        for name in dict.fromkeys(order):
            if name in known:
                here = known[name] + 1
            else:
                new[here].append(name)
        found = [*new[0], *(name for i, old in enumerate(found) for name in (old, *new[i + 1]))]
    return found


def flow(paths: Sequence[Path], places: Sequence[str], times: Sequence[str], width: int = NARROW) -> str:
    """The lines over the places and times that they touch, in this order; wider lines have more records."""
    used = {spot for path in paths for spot in path.spots}
    rows = [place for place in places if any(place == at for at, _ in used)]
    columns = [time for time in times if any(time == when for _, when in used)]
    most = max(path.support for path in paths)
    widths = [1.5 + 5 * path.support / max(most, 1) for path in paths]
    lanes = _lanes(paths, widths, rows, columns, width)
    parts = [*_axes(lanes, rows, columns, width)]
    order = sorted(range(len(paths)), key=lambda n: (not paths[n].dashed, -widths[n]))
    parts += [_drawn(n, paths[n], widths[n], lanes) for n in order]
    return drawing(parts, width, lanes.bottom + 40)


def _lanes(
    paths: Sequence[Path], widths: Sequence[float], rows: Sequence[str], columns: Sequence[str], width: int
) -> _Lanes:
    stacks: dict[Spot, list[int]] = {}
    for n, path in enumerate(paths):
        for spot in dict.fromkeys(path.spots):
            stacks.setdefault(spot, []).append(n)
    offsets: dict[tuple[int, Spot], float] = {}
    high = dict.fromkeys(rows, 0.0)
    for spot, found in stacks.items():
        whole = sum(widths[n] + 2 for n in found)
        at = -whole / 2
        for n in found:
            offsets[n, spot] = at + widths[n] / 2 + 1
            at += widths[n] + 2
        high[spot[0]] = max(high[spot[0]], whole)
    y, at = {}, float(_TOP)
    for place in rows:
        tall = max(_LEAST, high[place] + 10)
        y[place], at = at + tall / 2, at + tall
    left = min(max(map(room, [*rows, said("place"), said("time")])), 0.26 * width if width <= NARROW else 170) + 22
    step = (width - left - 22) / max(len(columns) - 1, 1)
    x = {time: left + step * i for i, time in enumerate(columns)}
    return _Lanes(x=x, y=y, left=left, bottom=at, offsets=offsets)


def _axes(lanes: _Lanes, rows: Sequence[str], columns: Sequence[str], width: int) -> list[str]:
    parts = [words(said("place"), lanes.left - 18, _TOP - 8, anchor="end")]
    for place in rows:
        name = fitted(place, lanes.left - 20)
        parts.append(words(name, lanes.left - 18, lanes.y[place] + 4, anchor="end", tone="ink"))
        parts.append(line(lanes.left - 10, lanes.y[place], width, lanes.y[place]))
    parts += [line(lanes.x[time], _TOP, lanes.x[time], lanes.bottom) for time in columns]
    spots = [(time, lanes.x[time]) for time in columns]
    parts += named(spots, lanes.bottom + 14, width=width)
    return [*parts, words(said("time"), lanes.left - 18, lanes.bottom + 29, anchor="end")]


def _drawn(n: int, path: Path, wide: float, lanes: _Lanes) -> str:
    """A line with a dot at every stop."""
    stops = [(lanes.x[spot[1]], lanes.y[spot[0]] + lanes.offsets[n, spot]) for spot in path.spots]
    curve = "".join(_bend(a, b) for a, b in pairwise(stops))
    style = f'fill="none" stroke="var(--{path.tone})" stroke-width="{plain(wide)}" stroke-opacity="0.75"'
    dash = ' stroke-dasharray="6 4"' if path.dashed else ""
    drawn = f'<path d="M{plain(stops[0][0])} {plain(stops[0][1])}{curve}" {style}{dash}/>' if curve else ""
    size = plain(max(2.5, wide / 2 + 0.8))
    dots = "".join(f'<circle cx="{plain(x)}" cy="{plain(y)}" r="{size}"/>' for x, y in stops)
    return f'<g fill="var(--{path.tone})"><title>{escape(path.title)}</title>{drawn}{dots}</g>'


def _bend(a: tuple[float, float], b: tuple[float, float]) -> str:
    middle = plain((a[0] + b[0]) / 2)
    return f"C{middle} {plain(a[1])} {middle} {plain(b[1])} {plain(b[0])} {plain(b[1])}"
