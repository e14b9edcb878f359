"""The reports of rows about which nothing is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.reports.bars import value_bars
from sfumato.reports.language import attack_title, label, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.svg import Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedFacts:
    """One release, ready to be shown: that nothing is claimed, and how often attacks succeed."""

    TEMPLATE: ClassVar[str] = "unclaimed.html.j2"

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many rows there are."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""
    columns: tuple[tuple[str, str, tuple[tuple[str, int], ...]], ...]
    """Every changed column: its name, its form, and rows per value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwappedFacts(UnclaimedFacts):
    """One release of swapped rows; the values of its columns are those of the original."""

    TEMPLATE = "swapped.html.j2"

    rate: float
    """The largest share of rows that exchanged a value, for each column."""
    within: tuple[tuple[str, int], ...]
    """The columns in which partners agree, with their levels."""
    left_out: int
    """Rows left out because of missing values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedFacts(UnclaimedFacts):
    """One pseudonymized release."""

    TEMPLATE = "graded.html.j2"

    agreement: str
    """The commitment to the secret."""
    beside: tuple[str, ...]
    """The columns that stand as they are."""


def render_unclaimed(facts: UnclaimedFacts, work: Work) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        facts.TEMPLATE,
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        found=[_tile(finding) for finding in facts.findings if finding.rate.carried_out],
        pictures=_pictures(facts, work),
    )


def _tile(finding: Finding) -> tuple[str, str, str]:
    """The attack, its rate and its interval."""
    figures = {"low": share(finding.rate.low), "high": share(finding.rate.high), "guessed": share(finding.naive.value)}
    return (
        attack_title(finding.attack),
        share(finding.rate.value),
        translated("{low} to {high}; a guesser {guessed}", **figures),
    )


def _pictures(facts: UnclaimedFacts, work: Work) -> list[tuple[str, str, Picture]]:
    drawn = []
    for place, (name, form, distribution) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        svg, summary = value_bars(distribution, facts.rows, translated("rows"))
        picture = Picture(svg=svg, words=f"{label(name)}: {summary}.")
        drawn.append((label(name), _form(form), picture))
    return drawn


def _form(form: str) -> str:
    """What a column of codes or aliases shows; nothing about a column of values."""
    return translated("codes, by their whole part" if form == "codes" else "aliases") if form else ""
