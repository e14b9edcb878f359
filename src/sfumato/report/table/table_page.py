"""The report as one page that needs nothing else: no network, no script, no font."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.ground.work import Work
from sfumato.report.base import sentences
from sfumato.report.base.language import said
from sfumato.report.base.layout import audit_shown, page
from sfumato.report.base.picture import Picture
from sfumato.report.table import table_charts as charts
from sfumato.report.table.table_facts import ColumnFacts, ReportFacts
from sfumato.report.table.trail_chart import MOST, trail_pictures

SECTIONS = (
    ("promises", "What the promises mean"),
    ("readings", "Unknown cells"),
    ("risk", "Risk"),
    ("groups", "Sizes of the groups"),
    ("attacks", "Attacks"),
    ("columns", "Columns"),
    ("loss", "Information lost"),
    ("suppressed", "Suppressed records"),
    ("search", "How it was found"),
    ("glossary", "How to read this report"),
)
"""The page's sections in order: anchor and name."""

_BY_SIZE = ("k-anonymity", "alpha-k-anonymity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """All drawings of one page."""

    risks: Picture
    """Before and after."""
    sizes: Picture | None
    """Of the classes."""
    losses: Picture | None
    """By quasi-identifier."""
    suppression: Picture | None
    """Beside what was allowed."""
    columns: tuple[tuple[ColumnFacts, tuple[Picture, ...]], ...]
    """The columns that have a distribution."""
    trail: tuple[Picture, ...]
    """Step by step, where there are steps."""


def render(facts: ReportFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    sizes = facts.class_sizes
    return page(
        "report.html.j2",
        facts=facts,
        pictures=_pictures(facts, work or Work()),
        audit=audit_shown(facts.findings, facts.skipped_attacks),
        sections=_sections(facts),
        most_steps=MOST,
        part=sentences.suppressed_share(facts),
        limit=limit_on_size(facts),
        groups=sum(many for _, many in sizes),
        grouped=sum(size * many for size, many in sizes),
        smallest=sizes[0][0] if sizes else 0,
        largest=sizes[-1][0] if sizes else 0,
    )


def _sections(facts: ReportFacts) -> tuple[tuple[str, str], ...]:
    together = () if facts.session is None else (("session", "Who made it together"),)
    return (*SECTIONS[:-1], *together, SECTIONS[-1])


def limit_on_size(facts: ReportFacts) -> int | None:
    """The largest class size that is promised, if any is."""
    asked = [one.claim.parameters.get("k") for one in facts.claims if one.claim.model in _BY_SIZE]
    return max((k for k in asked if isinstance(k, int)), default=None)


def _pictures(facts: ReportFacts, work: Work) -> Pictures:
    drawn = []
    for place, one in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        drawn.append((one, tuple(charts.distributions(one, inside=facts.inside))))
    return Pictures(
        risks=charts.risks(facts.risk_before, facts.risk_after, facts.noun),
        sizes=charts.class_sizes(facts.class_sizes, limit_on_size(facts), facts.noun),
        losses=charts.losses(facts.columns),
        suppression=charts.suppression(sentences.suppressed_share(facts), facts.suppressed_limit),
        columns=tuple((one, pictures) for one, pictures in drawn if pictures),
        trail=() if facts.trail is None else tuple(trail_pictures(facts.trail, _chosen(facts), limit_on_size(facts))),
    )


def _chosen(facts: ReportFacts) -> str:
    return facts.metric or said("by the metric")
