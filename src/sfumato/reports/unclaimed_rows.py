"""The reports of swapped and of pseudonymized rows, about which nothing is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.reports.bars import value_bars
from sfumato.reports.language import attack_title, label, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.svg import Picture

# The report of swapped rows: that nothing is claimed, what was exchanged, and how often people are still found.


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


def render_swapped(facts: SwappedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "swapped.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        found=[(finding, share(finding.rate.value)) for finding in facts.findings if finding.rate.carried_out],
        pictures=_swapped_pictures(facts, work or Work()),
    )


def _swapped_pictures(facts: SwappedFacts, work: Work) -> list[tuple[str, Picture]]:
    drawn = []
    for place, (name, distribution) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        svg, summary = value_bars(distribution, facts.rows, translated("rows"))
        drawn.append((label(name), Picture(svg=svg, words=f"{label(name)}: {summary}.")))
    return drawn


# The report of pseudonymized rows: that nothing is claimed, how much attackers read back, and what is shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedFacts:
    """One pseudonymized release, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many rows there are."""
    agreement: str
    """The commitment to the secret."""
    columns: tuple[tuple[str, str, tuple[tuple[str, int], ...]], ...]
    """Every transformed column: its name, codes or aliases, and rows by whole part or alias."""
    beside: tuple[str, ...]
    """The columns that stand as they are."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""


def render_graded(facts: GradedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "graded.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        found=[_tile(finding) for finding in facts.findings if finding.rate.carried_out],
        pictures=_graded_pictures(facts, work or Work()),
    )


def _tile(finding: Finding) -> tuple[str, str, str]:
    """The attack, its rate and its interval."""
    figures = {"low": share(finding.rate.low), "high": share(finding.rate.high), "guessed": share(finding.naive.value)}
    return (
        attack_title(finding.attack),
        share(finding.rate.value),
        translated("{low} to {high}; a guesser {guessed}", **figures),
    )


def _graded_pictures(facts: GradedFacts, work: Work) -> list[tuple[str, str, Picture]]:
    drawn = []
    for place, (name, form, distribution) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        svg, summary = value_bars(distribution, facts.rows, translated("rows"))
        picture = Picture(svg=svg, words=f"{label(name)}: {summary}.")
        drawn.append((label(name), translated("codes, by their whole part" if form == "codes" else "aliases"), picture))
    return drawn
