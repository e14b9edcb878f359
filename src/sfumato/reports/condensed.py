"""The report of a condensed release: what the groups promise and what not, and every column as it was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.reports.bars import Row, bars, heads, top
from sfumato.reports.language import count, label, number, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.svg import Picture

_HOW = {
    "drawn": "drawn from groups",
    "mean": "means of groups",
    "spread": "spreads of groups",
    "dealt": "dealt out within groups",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnShown:
    """A column, counted."""

    name: str
    """Its name."""
    parts: tuple[tuple[str, int | None, int], ...]
    """Values or steps with how many rows had them before, where the page may show that, and have them now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairShown:
    """How two columns go together."""

    first: str
    """One column."""
    second: str
    """The other."""
    before: float | None
    """Their correlation in the original, where the page may show it."""
    after: float
    """Their correlation in the release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CondensedFacts:
    """One condensed release, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    inside: bool
    """Whether the original's figures are shown: then the page is the steward's own."""
    rows: int
    """How many rows there are."""
    k: int
    """The fewest records of a group that were asked for."""
    groups: int
    """How many groups there are."""
    smallest: int
    """The records of the smallest one."""
    largest: int
    """The records of the largest one."""
    grouping: str
    """How groups were found."""
    output: str
    """Drawn rows, or means and spreads."""
    variance: float
    """The variance of drawn records, as a multiple of the groups'."""
    copies: int
    """Drawn records for each record."""
    per_class: bool
    """Whether classes were condensed apart."""
    bounds: tuple[tuple[str, float, float], ...]
    """Declared bounds of columns."""
    left_out: int
    """Rows left out because of missing values."""
    batch: int | None
    """Which batch of a stream it is; None where it is no stream's."""
    last: bool
    """Whether the stream ended with it."""
    treated: tuple[tuple[str, str], ...]
    """What was done to every column."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    columns: tuple[ColumnShown, ...]
    """Every column, counted."""
    pairs: tuple[PairShown, ...]
    """The columns of numbers that go together most."""
    compatible: float | None
    """How well the covariances are kept, where the original is shown."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""


def render(facts: CondensedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "condensed.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        treated=[(name, translated(_HOW[how])) for name, how in facts.treated],
        pictures=_pictures(facts, work or Work()),
        together=_together(facts),
    )


def _pictures(facts: CondensedFacts, work: Work) -> list[tuple[str, Picture]]:
    drawn = []
    for place, column in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        parts = top([(words, before or 0, after) for words, before, after in column.parts], most=16)
        were = max(sum(before for _, before, _ in parts), 1)
        are = max(sum(after for _, _, after in parts), 1)
        most = max([1e-9, *(max(before / were, after / are) for _, before, after in parts)])
        rows = [
            Row(
                label=words,
                back=before / were / most,
                front=after / are / most,
                figures=_told(facts, before / were, after / are),
            )
            for words, before, after in parts
        ]
        summary = "; ".join(f"{words} {count(after)}" for words, _, after in parts)
        picture = Picture(
            svg=bars(rows, heads=heads(translated("share"), inside=facts.inside)),
            words=f"{label(column.name)}: {summary}.",
        )
        drawn.append((label(column.name), picture))
    return drawn


def _told(facts: CondensedFacts, before: float, after: float) -> tuple[str, ...]:
    return (share(before), share(after)) if facts.inside else (share(after),)


def _together(facts: CondensedFacts) -> Picture | None:
    """The correlations as bars: their length is their size, their figure has the sign."""
    if not facts.pairs:
        return None
    rows = []
    for pair in facts.pairs:
        figures: tuple[str, ...] = (number(pair.after, digits=2),)
        if pair.before is not None:
            figures = (number(pair.before, digits=2), *figures)
        words = f"{label(pair.first, most=14)} · {label(pair.second, most=14)}"
        rows.append(Row(label=words, back=abs(pair.before or 0.0), front=abs(pair.after), figures=figures))
    summary = "; ".join(
        translated("{one} and {other}", one=label(pair.first), other=label(pair.second))
        + f" {number(pair.after, digits=2)}"
        for pair in facts.pairs
    )
    return Picture(
        svg=bars(rows, heads=heads(translated("correlation"), inside=facts.inside)),
        words=translated("Correlations: {told}.", told=summary),
    )
