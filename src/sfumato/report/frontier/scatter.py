"""The scatter chart's shape, made by Altair: lines to compare with, the front as steps, rings, points, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.report.base.shapes import INK, MUTED, SIZE, TRACK, Shape
from sfumato.report.frontier.frontier_facts import AxisFacts, How
from sfumato.report.frontier.scales import Scale

if TYPE_CHECKING:
    import altair as alt

TONES = tuple(f"#0a0b0{n}" for n in range(1, 7))
"""Markers that become the colours of the series."""
HOLE = "#0a0b00"
"""A marker that becomes no colour at all."""
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "stroke")
"""The symbols of the series."""
FRAME = (66, 44)
"""What the axes take of a chart's width and height."""
NAMES = SIZE - 1.5
"""The size of the names of lines."""
_WORDS: Mapping[How, str] = {
    "share": "format(datum.value * 100, '.3~r') + ' %'",
    "odds": "'1 in ' + format(1 / datum.value, ',.3~r')",
    "count": "format(datum.value, ',.3~r')",
    "number": "format(datum.value, ',.3~r')",
}


def scatter(x: tuple[AxisFacts, Scale], y: tuple[AxisFacts, Scale], size: tuple[int, int]) -> Shape:
    """A chart for the tables lines, steps, rings, points and labels."""
    import altair as alt

    across = alt.X("x:Q", scale=scale_of(x[1]), axis=axis_of(*x, most=7, side="bottom"))
    along = alt.Y("y:Q", scale=scale_of(y[1]), axis=axis_of(*y, most=7, side="left"))
    layers: list[Any] = [
        _compared(along, size[0] - FRAME[0]),
        _steps(across, along),
        *_points(across, along),
        _labels(across, along),
    ]
    room = {"left": 58, "right": 8, "top": 14, "bottom": 30}
    made = alt.layer(*layers).to_dict(validate=False)
    sizes = {"width": size[0] - FRAME[0], "height": size[1] - FRAME[1], "padding": room, "autosize": "none"}
    config = {"aria": False, "view": {"stroke": None}}
    return {**made, **sizes, "background": "transparent", "config": config}


def scale_of(scale: Scale) -> alt.Scale:
    """A scale as Altair has it."""
    import altair as alt

    kind: Any = "log" if scale.log else "linear"
    return alt.Scale(type=kind, domain=[scale.low, scale.high], reverse=scale.falling, nice=False, zero=False)


def axis_of(axis: AxisFacts, scale: Scale, *, most: int, side: str) -> alt.Axis:
    """An axis with round values, in the page's colours."""
    import altair as alt

    orient: Any = side
    return alt.Axis(
        values=scale.ticks(most),
        labelExpr=_WORDS[axis.how],
        orient=orient,
        title=None,
        domainColor=MUTED,
        domainWidth=0.5,
        gridColor=TRACK,
        ticks=False,
        labelColor=MUTED,
        labelFontSize=SIZE - 1,
        labelPadding=7,
        labelFlush=False,
        labelOverlap=False,
    )


def _compared(along: alt.Y, width: int) -> Any:
    """Values to compare with, as dashed lines with their names."""
    import altair as alt

    drawn = alt.Chart(alt.NamedData("lines"))
    line = drawn.mark_rule(strokeDash=[4, 3], color=MUTED).encode(y=along, x=alt.value(0), x2=alt.value(width))
    names: list[Any] = [
        drawn.mark_text(align=side, dy=-7, fontSize=NAMES, color=MUTED)
        .transform_filter(f"datum.side == '{side}'")
        .encode(y=along, x=alt.value(4 if side == "left" else width - 4), text="name:N")
        for side in ("left", "right")
    ]
    return alt.layer(line, *names)


def _steps(across: alt.X, along: alt.Y) -> alt.Chart:
    """The front: whatever lies below and left of it is beaten by one of its points."""
    import altair as alt

    drawn = alt.Chart(alt.NamedData("steps")).mark_rule(color=INK, strokeWidth=1, opacity=0.55)
    made: alt.Chart = drawn.encode(x=across, x2="x2:Q", y=along, y2="y2:Q")
    return made


def _points(across: alt.X, along: alt.Y) -> list[alt.Chart]:
    import altair as alt

    ring = alt.Chart(alt.NamedData("rings")).mark_point(
        size=190, filled=True, fill=HOLE, stroke=INK, strokeWidth=1.2, opacity=1
    )
    mark = alt.Chart(alt.NamedData("points")).mark_point(filled=True, strokeWidth=0)
    how = {
        "shape": alt.Shape("shape:N", scale=None),
        "fill": alt.Fill("tone:N", scale=None),
        "opacity": alt.Opacity("seen:Q", scale=None),
        "size": alt.Size("size:Q", scale=None),
    }
    return [ring.encode(x=across, y=along), mark.encode(x=across, y=along, href="href:N", **how)]


def _labels(across: alt.X, along: alt.Y) -> alt.Chart:
    import altair as alt

    drawn = alt.Chart(alt.NamedData("labels")).mark_text(fontSize=10.5, baseline="middle")
    made: alt.Chart = drawn.encode(x=across, y=along, text="text:N", color=alt.Color("ink:N", scale=None))
    return made
