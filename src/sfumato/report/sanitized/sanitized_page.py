"""The report of sets that hide rules: what is said to be hidden, and what the records still tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.frame.trials import Finding
from sfumato.ground.work import Work
from sfumato.report.base.language import said
from sfumato.report.base.layout import audit_shown, page
from sfumato.report.base.picture import Picture
from sfumato.report.base.value_bars import value_bars
from sfumato.report.rules.rules_picture import Point, rules_picture


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
    svg, told = value_bars(facts.items, facts.rows, said("records"))
    return Picture(svg=svg, words=said("Records by item: {told}.", told=told))
