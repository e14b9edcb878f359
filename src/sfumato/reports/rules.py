"""Mined rules as points, and the report of sets that hide rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.reports.bars import value_bars
from sfumato.reports.language import count, figured, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.plots import Plot, Scale
from sfumato.reports.svg import AFTER, BEFORE, MUTED, WIDE, Picture, plain, words

# Rules as points: how many records have them, how sure they are, and how much more often than by chance.


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
        return Picture(svg="", words=translated("No rule was found."))
    drawn = sorted(points, key=lambda point: -point[2])[:_MOST]
    plot = Plot(
        across=Scale.of([point[0] for point in drawn]),
        along=Scale.of([point[1] for point in drawn]),
        size=(WIDE, _TALL),
    )
    dots = [
        f'<circle cx="{plain(plot.x(x))}" cy="{plain(plot.y(y))}" r="{plain(_size(lift))}" '
        f'fill="var(--{AFTER if lift > 1 else BEFORE})" fill-opacity="0.55"/>'
        for x, y, lift in drawn
    ]
    heads = [
        words(translated("confidence"), 4, 10, tone=MUTED),
        words(translated("support"), WIDE - 8, _TALL - 2, anchor="end", tone=MUTED),
    ]
    sides = list(zip(*points, strict=True))[:2]
    support, confidence = (translated("{low} to {high}", low=share(min(side)), high=share(max(side))) for side in sides)
    summary = translated(
        "{n} rules: support {support}, confidence {confidence}, lift up to {lift}.",
        n=count(len(points)),
        support=support,
        confidence=confidence,
        lift=figured(f"{drawn[0][2]:.3g}"),
    )
    return Picture(svg=plot.drawn([*plot.axes(("share", "share")), *heads, *dots]), words=summary)


def standing_alone(picture: Picture) -> str:
    """The drawing as a file of its own; an empty one says so in words."""
    svg = picture.svg or f'<svg width="{WIDE}" height="24">{words(picture.words, 4, 16)}</svg>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
    return svg.replace("<svg ", f'{head}style="{_COLOURS}; background: #ffffff" ', 1) + "\n"


def _size(lift: float) -> float:
    """The radius of a point: larger where the lift is."""
    return 2.2 + min(max(lift, 0.0), 8.0) * 0.4


# The report of sets that hide rules: what is said to be hidden, and what the records still tell.


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedFacts:
    """One sanitized release, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many records there are."""
    min_support: float
    """The least support of what is found."""
    min_confidence: float
    """The least confidence of what is found."""
    margin: float
    """How far below both hidden patterns are, as a share."""
    committed: int
    """How many sets and rules are said to be hidden."""
    algorithm: str
    """How they were hidden."""
    why: str
    """Why so."""
    unknown: bool
    """Whether items are unknown."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    sets: int
    """The frequent sets of the records."""
    rules: int
    """Their rules."""
    points: tuple[Point, ...]
    """Support, confidence and lift of each rule."""
    items: tuple[tuple[str, int], ...]
    """The records that have each item, the most frequent first."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made, or whose figures are the steward's."""
    effects: Mapping[str, float] | None = None
    """For the steward: what became of all other rules."""
    erased: int = 0
    """For the steward: how many items were taken out or are unknown."""
    proven: bool = False
    """For the steward: whether no choice of items does better."""
    gap: float | None = None
    """For the steward: by how many lost sets another choice could be better, where the search was cut short."""
    hidden: tuple[str, ...] = ()
    """For the steward: what was hidden."""


def render(facts: SanitizedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    (work or Work()).advance("report", 0, 1)
    return page(
        "sanitized.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        items=_items(facts),
        rules=rules_picture(facts.points) if facts.points else None,
    )


def _items(facts: SanitizedFacts) -> Picture:
    svg, summary = value_bars(facts.items, facts.rows, translated("records"))
    return Picture(svg=svg, words=translated("Records by item: {told}.", told=summary))
