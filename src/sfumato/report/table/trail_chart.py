"""The picture of a trail: what is lost, and how small the smallest class is, after every step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sfumato.publish.trail import Trail
from sfumato.report.base.drawing import svg
from sfumato.report.base.figures import count, number
from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import AFTER, ALARM, MUTED, Shape
from sfumato.report.frontier.frontier_facts import AxisFacts, How
from sfumato.report.frontier.scales import Scale
from sfumato.report.frontier.scatter import axis_of, scale_of

if TYPE_CHECKING:
    import altair as alt

SIZE = (452, 190)
MOST = 60
"""How many steps are listed one by one."""


def trail_pictures(trail: Trail, metric: str, limit: int | None) -> list[Picture]:
    """Loss by step, where it may be told, and smallest class by step; a limit on class sizes is drawn as a line."""
    losses = [loss for loss in (trail.loss, *(step.loss for step in trail.steps)) if loss is not None]
    sizes = [float(trail.anonymity), *(float(step.anonymity) for step in trail.steps)]
    if len(sizes) < 2:
        return []
    lost = AxisFacts(name=f"lost ({metric})", meaning="", better="higher", how="number")
    least = AxisFacts(name="smallest class", meaning="", better="higher", how="count")
    drawn = [_picture(lost, losses, None, trail)] if losses else []
    return [*drawn, _picture(least, sizes, limit, trail)]


def _picture(axis: AxisFacts, values: Sequence[float], limit: int | None, trail: Trail) -> Picture:
    scale = Scale.of(axis, [*values, *([] if limit is None else [float(limit)])])
    flat = [{"x": n - 0.5, "x2": n + 0.5, "y": value, "y2": value} for n, value in enumerate(values)]
    risers = [{"x": n + 0.5, "x2": n + 0.5, "y": a, "y2": b} for n, (a, b) in enumerate(pairwise(values))]
    tables: dict[str, list[dict[str, Any]]] = {
        "steps": flat + risers,
        "limits": [] if limit is None else [{"y": float(limit)}],
        "enough": [] if trail.enough is None else [{"x": float(trail.enough)}],
    }
    written = [number(v) if axis.how == "number" else count(v) for v in (values[0], values[-1])]
    words = f"{axis.name} after each of {len(values) - 1} steps: from {written[0]} to {written[1]}."
    return Picture(
        svg=svg(_shape(axis.how, scale, len(values)), **tables), words=words, caption=f"{axis.name}, by step"
    )


@cache
def _shape(how: How, scale: Scale, points: int) -> Shape:
    import altair as alt

    axis = AxisFacts(name="", meaning="", better="higher", how=how)
    steps = AxisFacts(name="", meaning="", better="higher", how="count")
    ground = Scale(low=-0.5, high=points - 0.5, log=False, falling=False)
    wide, tall = SIZE[0] - 66, SIZE[1] - 44
    across = alt.X("x:Q", scale=scale_of(ground), axis=axis_of(steps, ground, most=8, side="bottom"))
    along = alt.Y("y:Q", scale=scale_of(scale), axis=axis_of(axis, scale, most=5, side="left"))
    drawn = alt.Chart(alt.NamedData("steps")).mark_rule(color=AFTER, strokeWidth=1.6)
    limit = alt.Chart(alt.NamedData("limits")).mark_rule(color=ALARM, strokeDash=[3, 3])
    enough = alt.Chart(alt.NamedData("enough")).mark_rule(color=MUTED, strokeDash=[4, 3])
    layers: list[alt.Chart] = [
        drawn.encode(x=across, x2="x2:Q", y=along, y2="y2:Q"),
        limit.encode(y=along, x=alt.value(0), x2=alt.value(wide)),
        enough.encode(x=across, y=alt.value(0), y2=alt.value(tall)),
    ]
    room = {"left": 58, "right": 8, "top": 10, "bottom": 30}
    sizes = {"width": wide, "height": tall, "padding": room, "autosize": "none", "background": "transparent"}
    config = {"aria": False, "view": {"stroke": None}}
    return {**alt.layer(*layers).to_dict(validate=False), **sizes, "config": config}
