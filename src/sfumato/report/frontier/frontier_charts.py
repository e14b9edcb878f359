"""The charts of a frontier: one per pair of a privacy and a utility axis, always with the better ends up and right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from sfumato.report.base.drawing import svg
from sfumato.report.base.figures import GAP, count, number, odds
from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import INK, MUTED
from sfumato.report.frontier.frontier_facts import AxisFacts, FrontierFacts, How, PointFacts
from sfumato.report.frontier.scales import Label, Scale, placed
from sfumato.report.frontier.scatter import FRAME, HOLE, NAMES, SHAPES, TONES, scatter

LARGE = (936, 450)
SMALL = (452, 310)
_AREA = {"circle": 62, "square": 62, "diamond": 84, "triangle-up": 70}

Drawn = Sequence[tuple[PointFacts, float, float]]


def chart(facts: FrontierFacts, pair: tuple[int, int], size: tuple[int, int]) -> Picture | None:
    """The points of one pair of axes; none where no point has both values."""
    x, y = facts.privacy[pair[0]], facts.utility[pair[1]]
    drawn = [
        (point, a, b)
        for point in facts.ended("verified")
        if (a := point.privacy[pair[0]]) is not None and (b := point.utility[pair[1]]) is not None
    ]
    if not drawn:
        return None
    across = Scale.of(x, [a for _, a, _ in drawn])
    along = Scale.of(y, [*(b for _, _, b in drawn), *(value for _, value in y.lines)])
    front = facts.fronts.get(pair, ())
    sides = ("right", "left", "left")
    lines = [
        {"y": value, "name": f"{name}: {written(value, y.how)}", "side": side}
        for (name, value), side in zip(y.lines, sides, strict=False)
    ]
    tables: dict[str, list[dict[str, Any]]] = {
        "lines": lines,
        "steps": _steps([(a, b) for point, a, b in drawn if point.number in front], across, along),
        "rings": [{"x": a, "y": b} for point, a, b in drawn if point.number in front],
        "points": [_mark(point, a, b, strong=point.number in front) for point, a, b in drawn],
        "labels": _labels(drawn, front, (across, along), size, lines),
    }
    words = f"{y.name} against {x.name}: {_words(drawn, front, x, y)}"
    return Picture(
        svg=_linked(svg(scatter((x, across), (y, along), size), **tables), facts, drawn, (x, y)), words=words
    )


def symbol(series: int) -> str:
    """The mark of a series, for the key of the page."""
    size = 12
    drawn = {
        "circle": '<circle cx="6" cy="6" r="4.6"/>',
        "square": '<rect x="2" y="2" width="8" height="8"/>',
        "diamond": '<path d="M6 0.6 10.4 6 6 11.4 1.6 6Z"/>',
        "triangle-up": '<path d="M6 1.4 11 10.2H1Z"/>',
        "cross": '<path d="M4.3 1.2h3.4v3.1h3.1v3.4H7.7v3.1H4.3V7.7H1.2V4.3h3.1Z"/>',
        "triangle-down": '<path d="M6 10.6 11 1.8H1Z"/>',
        "stroke": '<rect x="1" y="4.8" width="10" height="2.4"/>',
    }[SHAPES[series % len(SHAPES)]]
    tone = series % len(TONES) + 1
    return f'<svg width="{size}" height="{size}" fill="var(--series{tone})" aria-hidden="true">{drawn}</svg>'


def written(value: float, how: How) -> str:
    """A value as its axis writes it."""
    return {"share": percent, "odds": odds, "count": count, "number": number}[how](value)


def percent(value: float) -> str:
    """A share in three digits, so that near ones can be told apart.

    >>> [percent(each).replace(GAP, " ") for each in (0.8312, 0.81, 0.000547, 1.0, 0.0)]
    ['83.1 %', '81.0 %', '0.0547 %', '100 %', '0 %']
    """
    return (f"{value * 100:#.3g}".rstrip(".") if value else "0") + f"{GAP}%"


def _mark(point: PointFacts, x: float, y: float, *, strong: bool) -> dict[str, Any]:
    return {
        "x": x,
        "y": y,
        "shape": SHAPES[point.series % len(SHAPES)],
        "tone": TONES[point.series % len(TONES)],
        "size": _AREA.get(SHAPES[point.series % len(SHAPES)], 70),
        "seen": 1.0 if strong else 0.62,
        "href": f"#point-{point.number}",
    }


def _steps(found: Sequence[tuple[float, float]], across: Scale, along: Scale) -> list[dict[str, float]]:
    """The edge of what the front beats: from each of its points down, then right to the next."""
    places = sorted({(across.at(a), along.at(b)): (a, b) for a, b in found}.items())
    steps = []
    for (_, (a, b)), (_, (c, d)) in pairwise(places):
        steps += [{"x": a, "x2": a, "y": b, "y2": d}, {"x": a, "x2": c, "y": d, "y2": d}]
    return steps


def _labels(
    drawn: Drawn,
    front: Sequence[int],
    scales: tuple[Scale, Scale],
    size: tuple[int, int],
    lines: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The numbers of points, beside them where there is room; points in one place share a label."""
    wide, tall = size[0] - FRAME[0], size[1] - FRAME[1]
    places: dict[tuple[int, int], list[PointFacts]] = {}
    for point, a, b in drawn:
        spot = (round(scales[0].at(a) * wide), round((1 - scales[1].at(b)) * tall))
        places.setdefault(spot, []).append(point)
    marks = [
        (_numbers([point.number for point in here]), float(x), float(y), any(point.number in front for point in here))
        for (x, y), here in places.items()
    ]
    return [
        {
            "x": scales[0].back(label.x / wide),
            "y": scales[1].back(1 - label.y / tall),
            "text": label.text,
            "ink": INK if label.strong else MUTED,
        }
        for label in placed(
            marks, taken=[_name(line, scales[1], wide, tall) for line in lines], width=wide, height=tall
        )
    ]


def _name(line: Mapping[str, Any], scale: Scale, wide: int, tall: int) -> Label:
    """Where the name of a line stands."""
    half = len(line["name"]) * NAMES * 0.28
    x = wide - 4 - half if line["side"] == "right" else 4 + half
    text = "0" * int(half / 3.1)
    return Label(text=text, x=x, y=(1 - scale.at(line["y"])) * tall - 7, strong=False)


def _numbers(found: Sequence[int]) -> str:
    """Some numbers in a short label.

    >>> _numbers([3]), _numbers([3, 9]), _numbers([3, 9, 12, 15])
    ('3', '3, 9', '3, 9, …')
    """
    return ", ".join(map(str, found)) if len(found) < 3 else f"{found[0]}, {found[1]}, …"


def _words(drawn: Drawn, front: Sequence[int], x: AxisFacts, y: AxisFacts) -> str:
    best = [
        f"point {point.number} ({written(a, x.how)}; {written(b, y.how)})"
        for point, a, b in drawn
        if point.number in front
    ]
    return f"{len(drawn)} points; beaten by no other: {', '.join(best)}."


def _linked(drawing: str, facts: FrontierFacts, drawn: Drawn, axes: tuple[AxisFacts, AxisFacts]) -> str:
    """The drawing in the series' colours; each point is a link to its line of the table and says what it is."""
    drawing = drawing.replace(f'"{HOLE}"', '"none"')
    for place, tone in enumerate(TONES):
        drawing = drawing.replace(f'"{tone}"', f'"var(--series{place + 1})"')
    told = {point.number: _title(facts, point, (a, b), axes) for point, a, b in drawn}

    def link(found: re.Match[str]) -> str:
        return f'<a href="#point-{found[1]}" tabindex="-1"><title>{escape(told[int(found[1])])}</title>'

    return re.sub(r'<a [^>]*#point-(\d+)"[^>]*>', link, drawing)


def _title(
    facts: FrontierFacts, point: PointFacts, values: tuple[float, float], axes: tuple[AxisFacts, AxisFacts]
) -> str:
    chosen = [f"{key} = {value}" for key, value in zip(facts.keys, point.parameters, strict=True)]
    figures = [f"{axis.name} {written(value, axis.how)}" for axis, value in zip(axes, values, strict=True)]
    return f"{point.number}: {', '.join([facts.series[point.series], *chosen])}\n{', '.join(figures)}"
