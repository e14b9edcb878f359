"""The report of swapped rows: that nothing is claimed, what was exchanged, and how often people are still found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.frame.trials import Finding
from sfumato.ground.work import Work
from sfumato.report.base.figures import label, share
from sfumato.report.base.language import said
from sfumato.report.base.layout import audit_shown, page
from sfumato.report.base.picture import Picture
from sfumato.report.base.value_bars import value_bars


@dataclass(frozen=True, slots=True, kw_only=True)
class SwappedFacts:
    """One release of swapped rows, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many rows there are."""
    rate: float
    """The largest share of rows that exchanged a value, for each column."""
    swapped: tuple[str, ...]
    """The columns that were exchanged."""
    within: tuple[tuple[str, int], ...]
    """The columns in which partners agree, with their levels."""
    left_out: int
    """Rows left out because of missing values."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    columns: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """Rows per value of every exchanged column: those of the original."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""


def render(facts: SwappedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "swapped.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        found=[(one, share(one.rate.value)) for one in facts.findings if one.rate.carried_out],
        pictures=_pictures(facts, work or Work()),
    )


def _pictures(facts: SwappedFacts, work: Work) -> list[tuple[str, Picture]]:
    drawn = []
    for place, (name, found) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        svg, told = value_bars(found, facts.rows, said("rows"))
        drawn.append((label(name), Picture(svg=svg, words=f"{label(name)}: {told}.")))
    return drawn
