"""The page of a frontier: facts, privacy-utility charts, and the table of all points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Literal

from sfumato.reports.language import GAP, count, number, odds
from sfumato.reports.pages import page
from sfumato.reports.plots import LEFT, TOP, How, Label, Plot, Scale, placed
from sfumato.reports.svg import INK, MUTED, SERIES, SIZE, Picture, dashed, plain, words

# Everything the page of a frontier shows, as plain values.


Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisFacts:
    """One thing that is measured."""

    name: str
    """What it is called."""
    meaning: str
    """What it measures."""
    better: Literal["lower", "higher"]
    """Which side is better."""
    how: How
    """How its values are written."""
    lines: tuple[tuple[str, float], ...] = ()
    """Values to compare with, and their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFacts:
    """One release that was made, or could not be."""

    number: int
    """Its number."""
    series: int
    """Its algorithm, as a place among the series."""
    parameters: tuple[str, ...]
    """The grid's values, one per key."""
    status: str
    """How it ended: verified, refuted, infeasible, refused, failed, not run."""
    reason: str = ""
    """Why it gave no release, in the program's words."""
    privacy: Values = ()
    """One value per axis of privacy."""
    utility: Values = ()
    """One value per axis of utility."""
    suppressed: float | None = None
    """The share of rows that were suppressed."""
    classes: int | None = None
    """How many groups the release has."""
    seconds: float | None = None
    """How long making and verifying took."""
    note: str = ""
    """What a reader should know about the algorithm here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierFacts:
    """Many points, ready to be shown."""

    made: str
    """The day."""
    version: str
    """The version of sfumato."""
    rows: int
    """Rows of the original."""
    target: str | None
    """The column that the classifier tells."""
    risk: tuple[float, float] | None
    """The original's own highest and average risk; None where releases are differentially private."""
    series: tuple[str, ...]
    """The algorithms."""
    keys: tuple[str, ...]
    """The grid's keys."""
    privacy: tuple[AxisFacts, ...]
    """The axes of privacy."""
    utility: tuple[AxisFacts, ...]
    """The axes of utility."""
    points: tuple[PointFacts, ...]
    """All points by number."""
    fronts: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    """For each pair of axes (privacy, utility), the numbers of the points in its Pareto set."""

    def ended(self, *statuses: str) -> tuple[PointFacts, ...]:
        """The points that ended so."""
        return tuple(point for point in self.points if point.status in statuses)

    @property
    def front(self) -> tuple[int, ...]:
        """The Pareto set of the first pair."""
        return self.fronts.get((0, 0), ())

    def pairs_of(self, number: int) -> int:
        """In how many pairs of axes a point is in the Pareto set."""
        return sum(number in numbers for numbers in self.fronts.values())


# The charts of a frontier: one per pair of a privacy and a utility axis, always with the better ends up and right.


LARGE = (936, 450)
SMALL = (452, 310)
SYMBOLS = (
    '<circle cx="6" cy="6" r="4.6"/>',
    '<rect x="2" y="2" width="8" height="8"/>',
    '<path d="M6 0.6 10.4 6 6 11.4 1.6 6Z"/>',
    '<path d="M6 1.4 11 10.2H1Z"/>',
    '<path d="M4.3 1.2h3.4v3.1h3.1v3.4H7.7v3.1H4.3V7.7H1.2V4.3h3.1Z"/>',
    '<path d="M6 10.6 11 1.8H1Z"/>',
    '<rect x="1" y="4.8" width="10" height="2.4"/>',
)
"""The marks of the series, in a box of 12 by 12."""
_NAMES = SIZE - 1.5
"""The size of the names of lines."""

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
    plot = Plot(
        across=Scale.of([a for _, a, _ in drawn], falling=x.better == "lower"),
        along=Scale.of([*(b for _, _, b in drawn), *(value for _, value in y.lines)], falling=y.better == "lower"),
        size=size,
    )
    front = facts.fronts.get(pair, ())
    best = [(a, b) for point, a, b in drawn if point.number in front]
    named = [_compared(plot, y, place) for place in range(min(len(y.lines), 3))]
    parts = [
        *plot.axes((x.how, y.how)),
        *(part for line, _ in named for part in line),
        *_steps(best, plot),
        *(_ring(plot, a, b) for a, b in best),
        *(_mark(facts, plot, mark, (x, y), strong=mark[0].number in front) for mark in drawn),
        *_labels(drawn, front, plot, [label for _, label in named]),
    ]
    return Picture(svg=plot.drawn(parts), words=f"{y.name} against {x.name}: {_words(drawn, front, x, y)}")


def symbol(series: int) -> str:
    """The mark of a series, for the key of the page."""
    return f'<svg width="12" height="12" fill="var(--{_tone(series)})" aria-hidden="true">{_shape(series)}</svg>'


def _shape(series: int) -> str:
    return SYMBOLS[series % len(SYMBOLS)]


def _tone(series: int) -> str:
    return f"series{series % SERIES + 1}"


def written(value: float, how: How) -> str:
    """A value as its axis writes it."""
    return {"share": percent, "odds": odds, "count": count, "number": number}[how](value)


def percent(value: float) -> str:
    """A share in three digits, so that near ones can be told apart.

    >>> [percent(each).replace(GAP, " ") for each in (0.8312, 0.81, 0.000547, 1.0, 0.0)]
    ['83.1 %', '81.0 %', '0.0547 %', '100 %', '0 %']
    """
    return (f"{value * 100:#.3g}".rstrip(".") if value else "0") + f"{GAP}%"


def _compared(plot: Plot, axis: AxisFacts, place: int) -> tuple[list[str], Label]:
    """A value to compare with as a dashed line, and where its name stands: the first right, the others left."""
    name, value = axis.lines[place]
    text, y, right = f"{name}: {written(value, axis.how)}", plot.y(value), not place
    x = LEFT + plot.wide - 4 if right else LEFT + 4
    half = len(text) * _NAMES * 0.28
    label = Label(text="0" * int(half / 3.1), x=x - LEFT + (-half if right else half), y=y - TOP - 7, strong=False)
    parts = [
        dashed(LEFT, y, LEFT + plot.wide, y, MUTED),
        words(text, x, y - 7 + 0.34 * _NAMES, anchor="end" if right else "start", size=_NAMES),
    ]
    return parts, label


def _ring(plot: Plot, a: float, b: float) -> str:
    """A ring around a point that no other beats."""
    place = f'cx="{plain(plot.x(a))}" cy="{plain(plot.y(b))}"'
    return f'<circle {place} r="7.8" fill="none" stroke="var(--{INK})" stroke-width="1.2"/>'


def _mark(
    facts: FrontierFacts,
    plot: Plot,
    mark: tuple[PointFacts, float, float],
    axes: tuple[AxisFacts, AxisFacts],
    *,
    strong: bool,
) -> str:
    """A point as a link to its line of the table that says what it is."""
    point, a, b = mark
    place = f"translate({plain(plot.x(a) - 6)} {plain(plot.y(b) - 6)})"
    look = f'fill="var(--{_tone(point.series)})" opacity="{1 if strong else 0.62}"'
    title = escape(_title(facts, point, (a, b), axes))
    link = f'<a href="#point-{point.number}" tabindex="-1"><title>{title}</title>'
    return f'{link}<g transform="{place}" {look}>{_shape(point.series)}</g></a>'


def _steps(front: Sequence[tuple[float, float]], plot: Plot) -> list[str]:
    """The edge of what the front beats: from each of its points down, then right to the next."""
    places = sorted({(plot.across.at(a), plot.along.at(b)): (a, b) for a, b in front}.items())
    steps = []
    for (_, (a, b)), (_, (c, d)) in pairwise(places):
        steps += [plot.segment(a, b, a, d, INK, width=1, seen=0.55), plot.segment(a, d, c, d, INK, width=1, seen=0.55)]
    return steps


def _labels(drawn: Drawn, front: Sequence[int], plot: Plot, taken: Sequence[Label]) -> list[str]:
    """The numbers of points, beside them where there is room; points in one place share a label."""
    places: dict[tuple[int, int], list[PointFacts]] = {}
    for point, a, b in drawn:
        places.setdefault((round(plot.x(a) - LEFT), round(plot.y(b) - TOP)), []).append(point)
    marks = [
        (_numbers([point.number for point in here]), float(x), float(y), any(point.number in front for point in here))
        for (x, y), here in places.items()
    ]
    return [
        words(
            label.text,
            LEFT + label.x,
            TOP + label.y + 3.6,
            anchor="middle",
            tone=INK if label.strong else MUTED,
            size=10.5,
        )
        for label in placed(marks, taken=taken, width=plot.wide, height=plot.tall)
    ]


def _numbers(numbers: Sequence[int]) -> str:
    """Some numbers in a short label.

    >>> _numbers([3]), _numbers([3, 9]), _numbers([3, 9, 12, 15])
    ('3', '3, 9', '3, 9, …')
    """
    return ", ".join(map(str, numbers)) if len(numbers) < 3 else f"{numbers[0]}, {numbers[1]}, …"


def _words(drawn: Drawn, front: Sequence[int], x: AxisFacts, y: AxisFacts) -> str:
    best = [
        f"point {point.number} ({written(a, x.how)}; {written(b, y.how)})"
        for point, a, b in drawn
        if point.number in front
    ]
    return f"{len(drawn)} points; beaten by no other: {', '.join(best)}."


def _title(
    facts: FrontierFacts, point: PointFacts, values: tuple[float, float], axes: tuple[AxisFacts, AxisFacts]
) -> str:
    chosen = [f"{key} = {value}" for key, value in zip(facts.keys, point.parameters, strict=True)]
    figures = [f"{axis.name} {written(value, axis.how)}" for axis, value in zip(axes, values, strict=True)]
    return f"{point.number}: {', '.join([facts.series[point.series], *chosen])}\n{', '.join(figures)}"


# The page of a frontier: charts, what they mean, and every point in one table; it needs nothing else.


def render(facts: FrontierFacts) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    drawn = _charts(facts)
    lost = facts.ended("refuted", "infeasible", "refused", "failed", "not run")
    return page(
        "frontier.html.j2",
        facts=facts,
        main=drawn[0] if drawn else None,
        narrow=chart(facts, (0, 0), SMALL) if drawn else None,
        others=drawn[1:],
        lost=lost,
        verdict=verdict(facts),
        twins=[(facts.privacy[late], facts.privacy[early]) for late, early in twins(facts).items()],
        first=lambda text: text[:1].upper() + text[1:],
        symbols=[symbol(place) for place in range(len(facts.series))],
        written=lambda value, axis: "" if value is None else written(value, axis.how),
    )


def verdict(facts: FrontierFacts) -> str:
    """What came of the points, in one sentence."""
    words = {
        "verified": "verified",
        "refuted": "not what they claim",
        "infeasible": "infeasible",
        "refused": "refused",
        "failed": "failed",
        "not run": "not run",
    }
    counts = [(len(facts.ended(status)), description) for status, description in words.items()]
    summary = ", ".join(f"{many} {description}" for many, description in counts if many)
    every = f"{len(facts.points)} points" if len(facts.points) != 1 else "1 point"
    return f"{every}: {summary}."


def twins(facts: FrontierFacts) -> dict[int, int]:
    """Axes of privacy that are one over an earlier one, as class sizes are of risks: their charts would be the same."""
    privacy_values = [point.privacy for point in facts.ended("verified")]
    twin_of: dict[int, int] = {}
    for late in range(len(facts.privacy)):
        for early in range(late):
            pairs = [(values[early], values[late]) for values in privacy_values]
            if pairs and all(a is not None and b is not None and abs(a * b - 1) < 1e-9 for a, b in pairs):
                twin_of.setdefault(late, early)
    return twin_of


def _charts(facts: FrontierFacts) -> list[tuple[AxisFacts, AxisFacts, Picture]]:
    """The charts of all pairs that have points and show something new, the first one large."""
    charts = []
    for j, utility in enumerate(facts.utility):
        for i, privacy in enumerate(facts.privacy):
            picture = None if i in twins(facts) else chart(facts, (i, j), SMALL if i or j else LARGE)
            if picture is not None:
                charts.append((privacy, utility, picture))
    return charts
