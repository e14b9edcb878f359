"""Rules as points: how many records have them, how sure they are, and how much more often than by chance."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.base.figures import count, share
from sfumato.report.base.language import figured, said
from sfumato.report.base.picture import Picture
from sfumato.report.base.plot import Plot
from sfumato.report.base.scales import Scale
from sfumato.report.base.shapes import AFTER, BEFORE, MUTED
from sfumato.report.base.svg import WIDE, plain, words

Point = tuple[float, float, float]
"""Support, confidence and lift of a rule."""
_TALL = 340
_MOST = 3_000
"""At most so many points are drawn: those with the highest lift."""
_COLOURS = "--ink: #2a2622; --muted: #665e56; --track: #ece6dc; --before: #b9aa94; --after: #2f6690; --alarm: #a63d40"
"""The page's colours on white, for a drawing that stands alone."""


def rules_picture(points: Sequence[Point]) -> Picture:
    """Support across, confidence along; strong points are above chance (lift over 1), pale ones are not."""
    if not points:
        return Picture(svg="", words=said("No rule was found."))
    drawn = sorted(points, key=lambda one: -one[2])[:_MOST]
    plot = Plot(
        across=Scale.of([one[0] for one in drawn]), along=Scale.of([one[1] for one in drawn]), size=(WIDE, _TALL)
    )
    dots = [
        f'<circle cx="{plain(plot.x(x))}" cy="{plain(plot.y(y))}" r="{plain(_size(lift))}" '
        f'fill="var(--{AFTER if lift > 1 else BEFORE})" fill-opacity="0.55"/>'
        for x, y, lift in drawn
    ]
    heads = [
        words(said("confidence"), 4, 10, tone=MUTED),
        words(said("support"), WIDE - 8, _TALL - 2, anchor="end", tone=MUTED),
    ]
    sides = list(zip(*points, strict=True))[:2]
    support, confidence = (said("{low} to {high}", low=share(min(side)), high=share(max(side))) for side in sides)
    told = said("{n} rules: support {support}, confidence {confidence}, lift up to {lift}.", n=count(len(points)),
                support=support, confidence=confidence, lift=figured(f"{drawn[0][2]:.3g}"))  # fmt: skip
    return Picture(svg=plot.drawn([*plot.axes(("share", "share")), *heads, *dots]), words=told)


def standing_alone(picture: Picture) -> str:
    """The drawing as a file of its own; an empty one says so in words."""
    svg = picture.svg or f'<svg width="{WIDE}" height="24">{words(picture.words, 4, 16)}</svg>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
    return svg.replace("<svg ", f'{head}style="{_COLOURS}; background: #ffffff" ', 1) + "\n"


def _size(lift: float) -> float:
    """The radius of a point: larger where the lift is."""
    return 2.2 + min(max(lift, 0.0), 8.0) * 0.4
