"""Line charts as SVG files for the docs, drawn by Altair and vl-convert: logarithmic axes, names beside the lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
INK, MUTED, GRID = "#1f2933", "#5f6b76", "#e3e7eb"
TONES = ("#2f6690", "#b5651d", "#3f7d58", "#8a4f7d", "#6b6f2a", "#a63d40", "#14808c")
SIZE = 12
APART = 14
"""The least distance of two names, in pixels."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart."""

    name: str
    points: Sequence[tuple[float, float]]
    tone: str = TONES[0]
    dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One chart: its lines and its axes."""

    title: str
    lines: Sequence[Line]
    x: str
    ticks: Sequence[float]
    y: Sequence[float]
    """The ticks of the other axis; the first and the last are its ends."""
    unit: str = ""
    log_x: bool = True
    log_y: bool = True


def panel(one: Panel, *, width: int, height: int, named: bool) -> Any:
    """A chart; with the names of its lines at their right ends where they are wanted."""
    across = alt.X("x:Q", scale=_scale(one.ticks, log=one.log_x), axis=_axis(one.ticks, one.x))
    along = alt.Y("y:Q", scale=_scale(one.y, log=one.log_y), axis=_axis(one.y, None, one.unit))
    layers = []
    for line in one.lines:
        data = alt.InlineData(values=[{"x": x, "y": max(y, one.y[0])} for x, y in line.points])
        dash = [4, 3] if line.dashed else [1, 0]
        drawn = alt.Chart(data).mark_line(color=line.tone, strokeWidth=1.8, strokeDash=dash, clip=True)
        dots = alt.Chart(data).mark_point(color=line.tone, filled=True, size=26, opacity=1)
        layers += [drawn.encode(x=across, y=along), dots.encode(x=across, y=along)]
    if named:
        layers += _names(one, width, height)
    head = alt.TitleParams(one.title, anchor="start", fontSize=SIZE + 1, color=INK, fontWeight="bold", offset=8)
    return alt.layer(*layers).properties(width=width, height=height, title=head)


def legend(lines: Sequence[Line], width: int) -> Any:
    """The names of lines that several charts share."""
    step = width / max(len(lines), 1)
    values = [{"x": i * step, "name": line.name, "tone": line.tone} for i, line in enumerate(lines)]
    base = alt.Chart(alt.InlineData(values=values))
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    tone = alt.Color("tone:N", scale=None)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, color=tone)
    names = base.mark_text(align="left", dx=9, fontSize=SIZE, color=INK).encode(x=x, text="name:N")
    return alt.layer(dots, names).properties(width=width, height=18)


def save(chart: Any, name: str) -> Path:
    """Write the picture into the docs' folder."""
    config = {
        "view": {"stroke": None},
        "aria": False,
        "font": "system-ui, sans-serif",
        "padding": 12,
        "background": "#ffffff",
    }
    spec = {**chart.to_dict(validate=False), "config": config}
    drawn = re.sub(r"<[^>]+>", _shorter, vl_convert.vegalite_to_svg(spec))
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / name
    path.write_text(drawn + "\n", encoding="utf-8")
    return path


def _shorter(tag: re.Match[str]) -> str:
    """A tag with two decimals; what is written between tags stays."""
    return re.sub(r"(\d+\.\d{2})\d+", r"\1", tag[0])


def joined(lines: Sequence[Line], *, digits: int = 3) -> list[Line]:
    """Lines that cannot be told apart become one with all their names."""
    found: dict[tuple[Any, ...], Line] = {}
    for line in lines:
        key = tuple((x, round(y, digits)) for x, y in line.points)
        had = found.get(key)
        found[key] = line if had is None else Line(**{**vars(had), "name": f"{had.name}, {line.name}"})
    return list(found.values())


def _names(one: Panel, width: int, height: int) -> list[Any]:
    along = log10 if one.log_y else float
    low, high = along(one.y[0]), along(one.y[-1])
    ends = [(line, max(line.points[-1][1], one.y[0])) for line in one.lines if line.points]
    ends.sort(key=lambda end: -end[1])
    wanted = [height * (1 - (along(y) - low) / (high - low)) for _, y in ends]
    places = spread(wanted, low=0, high=height)
    found = []
    for (line, _), y in zip(ends, places, strict=True):
        text = alt.Chart(alt.InlineData(values=[{"name": line.name}])).mark_text(
            align="left", baseline="middle", fontSize=SIZE, color=line.tone, x=width + 8, y=y
        )
        found.append(text.encode(text="name:N"))
    return found


def spread(wanted: Sequence[float], *, low: float, high: float) -> list[float]:
    """Ascending places moved apart as little as possible: names that would touch stand around their common middle.

    >>> spread([10, 12, 60], low=0, high=100)
    [4.0, 18.0, 60.0]
    """
    blocks: list[list[float]] = []
    for place in wanted:
        blocks.append([place])
        while len(blocks) > 1 and _first(blocks[-2]) + APART * len(blocks[-2]) > _first(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    places = [_first(block) + APART * i for block in blocks for i in range(len(block))]
    over = max(places[-1] - high, 0.0) if places else 0.0
    return [max(place - over, low) for place in places]


def _first(block: Sequence[float]) -> float:
    """Where the first of some names stands if they stand together, each near the place that it wants."""
    return sum(place - APART * i for i, place in enumerate(block)) / len(block)


def _scale(ticks: Sequence[float], *, log: bool) -> alt.Scale:
    return alt.Scale(type="log" if log else "linear", domain=[ticks[0], ticks[-1]], nice=False, zero=False)


def _axis(ticks: Sequence[float], title: str | None, unit: str = "") -> alt.Axis:
    look: Mapping[str, Any] = {
        "domainColor": MUTED,
        "domainWidth": 0.5,
        "gridColor": GRID,
        "ticks": False,
        "labelColor": MUTED,
        "labelFontSize": SIZE - 1,
        "labelPadding": 6,
        "titleColor": MUTED,
        "titleFontSize": SIZE - 1,
        "titleFontWeight": "normal",
        "labelOverlap": False,
    }
    words = "datum.value >= 1000000 ? format(datum.value / 1000000, '~r') + ' M' : datum.value >= 10000 ? "
    words += "format(datum.value / 1000, '~r') + ' k' : format(datum.value, '~r')"
    return alt.Axis(values=list(ticks), title=title, labelExpr=f"{words} + '{unit}'", **look)
