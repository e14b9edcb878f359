"""The two shapes that pictures have, made by Altair without their tables: rows of bars, and a histogram."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

INK, MUTED, BEFORE, AFTER, TRACK, ALARM = (f"#0{n}0{n}0{n}" for n in range(1, 7))
"""Markers that become the page's colours."""

LABELS = 136
"""The room that labels have."""
BARS = 122
"""The room that bars have beside two figures."""
FIGURE = 59
"""The room that a figure has."""
STEP = 22
"""The height of a row."""
SIZE = 12.5
"""The size of letters."""
TALL = 56
"""The height of a histogram."""

Shape = Mapping[str, Any]
"""Vega-Lite without its tables."""


@cache
def bars_shape(heads: tuple[str, ...], back: str, ruled: bool) -> Shape:
    """Rows with a label, a wide and a narrow bar on each other, figures under heads, and limits as dashed lines."""
    import altair as alt

    wide = BARS + (2 - len(heads)) * FIGURE
    y = alt.Y("i:O", axis=None, sort=None)
    parts = [_labels(y), *_lengths(y, back), *_figures(y, heads, wide), *([_rule(y, heads, wide)] if ruled else [])]
    room = {"left": LABELS, "right": len(heads) * FIGURE + 4, "top": 22, "bottom": 4}
    chart = alt.layer(*parts, data=alt.NamedData("rows"))
    return _shape(chart, width=wide, height={"step": STEP}, padding=room)


@cache
def columns_shape() -> Shape:
    """Columns on a line, with what the line's ends stand for."""
    import altair as alt

    unit, wide = alt.Scale(domain=[0, 1]), LABELS + BARS + 2 * FIGURE
    x, y = alt.X("x:Q", axis=None, scale=unit), alt.Y("y:Q", axis=None, scale=unit)
    drawn = alt.Chart(alt.NamedData("rows")).mark_rect(color=BEFORE).encode(x=x, x2="x2:Q", y=y, y2=alt.datum(0))
    line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=MUTED, strokeWidth=0.5)
    ground = line.encode(x=alt.value(0), x2=alt.value(wide), y=alt.value(TALL))
    room = {"left": 0, "right": 4, "top": 6, "bottom": 24}
    return _shape(alt.layer(drawn, ground, *_ends(x)), width=wide, height=TALL, padding=room)


def _labels(y: alt.Y) -> alt.Chart:
    """The labels, cut where they would run into the bars; browsers' letters may be wider than those measured here."""
    import altair as alt

    drawn = alt.Chart().mark_text(align="left", limit=LABELS - 26, fontSize=SIZE)
    ink = alt.Color("ink:N", scale=None)
    made: alt.Chart = drawn.encode(text="label:N", y=y, x=alt.value(-LABELS), color=ink)
    return made


def _lengths(y: alt.Y, back: str) -> list[alt.Chart]:
    import altair as alt

    x = alt.X("back:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    pale = alt.Chart().mark_bar(size=13, color=back).encode(x=x, y=y)
    strong = alt.Chart().mark_bar(size=7).encode(x=alt.X("front:Q"), y=y, color=alt.Color("tone:N", scale=None))
    return [pale, strong]


def _figures(y: alt.Y, heads: tuple[str, ...], wide: int) -> list[alt.Chart]:
    """A column of figures under each head; the last one is strong."""
    import altair as alt

    found = []
    for n, head in enumerate(heads):
        place: dict[str, Any] = {"align": "right", "x": wide + (n + 1) * FIGURE}
        tone = INK if n == len(heads) - 1 else MUTED
        found.append(alt.Chart().mark_text(fontSize=SIZE, color=tone, **place).encode(text=f"figure{n}:N", y=y))
        above = alt.Chart(alt.InlineData(values=[{"head": head}]))
        found.append(above.mark_text(fontSize=SIZE - 1, color=MUTED, y=-9, **place).encode(text="head:N"))
    return found


def _rule(y: alt.Y, heads: tuple[str, ...], wide: int) -> alt.Chart:
    import altair as alt

    dashed = alt.Chart().mark_rule(strokeDash=[3, 3], color=ALARM).transform_filter("datum.rule")
    made: alt.Chart = dashed.encode(y=y, x=alt.value(0), x2=alt.value(wide + len(heads) * FIGURE))
    return made


def _ends(x: alt.X) -> list[alt.Chart]:
    import altair as alt

    place: dict[str, Any] = {"baseline": "top", "fontSize": SIZE, "y": TALL + 6, "color": INK}
    every = [(side, alt.Chart(alt.NamedData("ends")).mark_text(align=side, **place)) for side in ("left", "right")]
    return [one.transform_filter(f"datum.align == '{side}'").encode(x=x, text="text:N") for side, one in every]


def _shape(chart: alt.LayerChart | alt.FacetChart, *, width: int, height: Any, padding: Mapping[str, int]) -> Shape:
    """A chart without frames, and of exactly this size whatever the fonts are."""
    sizes = {"width": width, "height": height, "padding": padding, "autosize": "none", "background": "transparent"}
    config = {"aria": False, "view": {"stroke": None}, "scale": {"bandPaddingInner": 0, "bandPaddingOuter": 0}}
    return {**chart.to_dict(validate=False), **sizes, "config": config}
