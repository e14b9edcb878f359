"""The picture of a trail: what is lost, and how small the smallest class is, after every step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sfumato.publish.trail import Trail
from sfumato.report.base.figures import count, number
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.plot import LEFT, TOP, How, Plot
from sfumato.report.base.scales import Scale
from sfumato.report.base.shapes import AFTER, ALARM, MUTED
from sfumato.report.base.svg import dashed

SIZE = (452, 190)
MOST = 60
"""How many steps are listed one by one."""


def trail_pictures(trail: Trail, metric: str, limit: int | None) -> list[Picture]:
    """Loss by step, where it may be told, and smallest class by step; a limit on class sizes is drawn as a line."""
    losses = [loss for loss in (trail.loss, *(step.loss for step in trail.steps)) if loss is not None]
    sizes = [float(trail.anonymity), *(float(step.anonymity) for step in trail.steps)]
    if len(sizes) < 2:
        return []
    drawn = [_picture(said("lost ({metric})", metric=metric), "number", losses, None, trail)] if losses else []
    return [*drawn, _picture(said("smallest class"), "count", sizes, limit, trail)]


def _picture(name: str, how: How, values: Sequence[float], limit: int | None, trail: Trail) -> Picture:
    plot = Plot(
        across=Scale(low=-0.5, high=len(values) - 0.5, log=False, falling=False),
        along=Scale.of([*values, *([] if limit is None else [float(limit)])]),
        size=SIZE,
    )
    parts = plot.axes(("count", how), (8, 5))
    parts += [plot.segment(n - 0.5, value, n + 0.5, value, AFTER, width=1.6) for n, value in enumerate(values)]
    parts += [plot.segment(n + 0.5, a, n + 0.5, b, AFTER, width=1.6) for n, (a, b) in enumerate(pairwise(values))]
    if limit is not None:
        parts.append(dashed(LEFT, plot.y(limit), LEFT + plot.wide, plot.y(limit), ALARM))
    if trail.enough is not None:
        parts.append(dashed(plot.x(trail.enough), TOP, plot.x(trail.enough), TOP + plot.tall, MUTED))
    first, last = (number(v) if how == "number" else count(v) for v in (values[0], values[-1]))
    steps = len(values) - 1
    words = said("{name} after each of {steps} steps: from {first} to {last}.", name=name, steps=steps, first=first,
                 last=last)  # fmt: skip
    return Picture(svg=plot.drawn(parts), words=words, caption=said("{name}, by step", name=name))
