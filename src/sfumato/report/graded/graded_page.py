"""The report of pseudonymized rows: that nothing is claimed, how much attackers read back, and what is shown."""

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


def render(facts: GradedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "graded.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        found=[_tile(one) for one in facts.findings if one.rate.carried_out],
        pictures=_pictures(facts, work or Work()),
    )


def _tile(one: Finding) -> tuple[str, str, str]:
    """The attack, its rate and its interval."""
    figures = {"low": share(one.rate.low), "high": share(one.rate.high), "guessed": share(one.naive.value)}
    return one.attack, share(one.rate.value), said("{low} to {high}; a guesser {guessed}", **figures)


def _pictures(facts: GradedFacts, work: Work) -> list[tuple[str, str, Picture]]:
    drawn = []
    for place, (name, form, found) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        svg, told = value_bars(found, facts.rows, said("rows"))
        picture = Picture(svg=svg, words=f"{label(name)}: {told}.")
        drawn.append((label(name), said("codes, by their whole part" if form == "codes" else "aliases"), picture))
    return drawn
