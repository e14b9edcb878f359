"""Line charts as SVG files for the docs, as the reports draw them: names beside the lines, logarithmic unless said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from sfumato.reports.plots import Line, line_chart
from sfumato.reports.plots import Panel as Chart

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
TONES = tuple(range(6))
"""Colours of lines."""
GREY = -1
_COLOURS = (
    "--ink: #2a2622; --muted: #665e56; --track: #ece6dc; --series1: #2f6690; --series2: #b5651d; --series3: #3f7d58; "
    "--series4: #8a4f7d; --series5: #6b6f2a; --series6: #a63d40"
)
_TITLE = 30
"""The room of a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel(Chart):
    """A chart with logarithmic axes unless it says otherwise."""

    log_x: bool = True
    log_y: bool = True


def save(rows: Sequence[Sequence[Chart]], name: str, *, width: int = 396, height: int = 230) -> Path:
    """Write charts into the docs' folder, in rows."""
    parts = []
    for down, row in enumerate(rows):
        for right, panel in enumerate(row):
            x, y = right * width, down * (height + _TITLE)
            title = f'<text x="{x + 4}" y="{y + 16}" font-size="13" font-weight="600">{escape(panel.title)}</text>'
            drawn = line_chart(panel, width=width, height=height).svg
            parts += [title, drawn.replace("<svg ", f'<svg x="{x}" y="{y + _TITLE - 4}" ', 1)]
    size = f'width="{width * max(map(len, rows))}" height="{(height + _TITLE) * len(rows)}"'
    box = size.replace('width="', 'viewBox="0 0 ').replace('" height="', " ")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="system-ui, sans-serif" '
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head}style="{_COLOURS}; background: #ffffff">{"".join(parts)}</svg>\n', encoding="utf-8")
    return path


def in_rows(panels: Sequence[Chart], many: int = 3) -> list[Sequence[Chart]]:
    """Charts in rows of so many."""
    return [panels[first : first + many] for first in range(0, len(panels), many)]


def joined(lines: Sequence[Line], *, digits: int = 3) -> list[Line]:
    """Lines that cannot be told apart become one with all their names."""
    found: dict[tuple[tuple[float, float], ...], Line] = {}
    for line in lines:
        key = tuple((x, round(y, digits)) for x, y in line.points)
        had = found.get(key)
        found[key] = line if had is None else replace(had, name=f"{had.name}, {line.name}")
    return list(found.values())
