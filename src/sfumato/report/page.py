"""The report as one page that needs nothing else: no network, no script, no font."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.attack.trials import Finding
from sfumato.report import charts, figures, words
from sfumato.report.audit import Verdict, pictured, skipped_words, verdicts
from sfumato.report.charts import Picture
from sfumato.report.facts import ColumnFacts, ReportFacts, UtilityFacts
from sfumato.report.trails import MOST, trail_pictures

if TYPE_CHECKING:
    from jinja2 import Environment

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


def render(facts: ReportFacts) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    sizes = facts.class_sizes
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            facts=facts,
            pictures=_pictures(facts),
            audit=audit_shown(facts.findings, facts.skipped_attacks),
            sections=SECTIONS,
            most_steps=MOST,
            part=words.suppressed_share(facts),
            limit=limit_on_size(facts),
            groups=sum(many for _, many in sizes),
            grouped=sum(size * many for size, many in sizes),
            smallest=sizes[0][0] if sizes else 0,
            largest=sizes[-1][0] if sizes else 0,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditShown:
    """What the attacks found, as the page shows it."""

    verdicts: tuple[Verdict, ...]
    """In words."""
    picture: Picture | None
    """As intervals."""
    skipped: list[str]
    """What could not be tried."""


def audit_shown(findings: Sequence[Finding], skipped: Mapping[str, str]) -> AuditShown:
    """What the attacks found, ready for a template."""
    return AuditShown(verdicts=verdicts(findings), picture=pictured(findings), skipped=skipped_words(skipped))


def limit_on_size(facts: ReportFacts) -> int | None:
    """The largest class size that is promised, if any is."""
    asked = [one.claim.parameters.get("k") for one in facts.claims if one.claim.model in _BY_SIZE]
    return max((k for k in asked if isinstance(k, int)), default=None)


def _pictures(facts: ReportFacts) -> Pictures:
    drawn = ((one, tuple(charts.distributions(one, inside=facts.inside))) for one in facts.columns)
    return Pictures(
        risks=charts.risks(facts.risk_before, facts.risk_after),
        sizes=charts.class_sizes(facts.class_sizes, limit_on_size(facts)),
        losses=charts.losses(facts.columns),
        suppression=charts.suppression(words.suppressed_share(facts), facts.suppressed_limit),
        columns=tuple((one, pictures) for one, pictures in drawn if pictures),
        trail=() if facts.trail is None else tuple(trail_pictures(facts.trail, _chosen(facts), limit_on_size(facts))),
    )


def _chosen(facts: ReportFacts) -> str:
    return next((one.name for one in facts.utility if one.chosen), "by the metric")


@cache
def environment() -> Environment:
    """Templates with the words and figures of the reports."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("sfumato.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(_filters(), drawn=Markup)
    return made


def _filters() -> dict[str, Callable[..., Any]]:
    formats = (figures.count, figures.share, figures.odds, figures.number, figures.apart)
    sentences = (words.promised, words.reached, words.verdict, words.suppressed, words.found)
    return {each.__name__: each for each in (*formats, *sentences)} | {
        "label": lambda text: figures.label(text, most=80),
        "role": lambda role: words.ROLES.get(role, role),
        "reading": lambda name: words.READINGS.get(name, name),
        "shown": lambda value, how: figures.odds(value) if how == "odds" else figures.share(value),
        "maybe": lambda value: figures.NONE if value is None else figures.count(value),
        "plain": lambda value: figures.number(value) if isinstance(value, int | float) else value,
        "on_scale": _on_scale,
    }


def _on_scale(one: UtilityFacts) -> float | None:
    """Where a value lies between the ends of its scale; nowhere if an end is missing."""
    if not (isfinite(one.value) and isfinite(one.low) and isfinite(one.high) and one.high > one.low):
        return None
    return min(max((one.value - one.low) / (one.high - one.low), 0.0), 1.0)
