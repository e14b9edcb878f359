"""The shell of every page: templates, their filters, and the section about attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.attacks.frame.trials import Finding
from sfumato.report.base import figures, sentences
from sfumato.report.base.attack_picture import pictured
from sfumato.report.base.findings import Verdict, skipped_words, verdicts
from sfumato.report.base.language import retold, said, spoken
from sfumato.report.base.page_opening import ABOUT, opening
from sfumato.report.base.picture import Picture

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from sfumato.report.table.table_facts import UtilityFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditShown:
    """What the attacks found, as the page shows it."""

    verdicts: tuple[Verdict, ...]
    """In words."""
    pictures: tuple[Picture, Picture] | None
    """As intervals, on a wide page and on a phone."""
    skipped: list[str]
    """What could not be tried."""


def audit_shown(findings: Sequence[Finding], skipped: Mapping[str, str]) -> AuditShown:
    """What the attacks found, ready for a template."""
    return AuditShown(verdicts=verdicts(findings), pictures=pictured(findings), skipped=skipped_words(skipped))


@cache
def environment() -> Environment:
    """Templates with the words and figures of the reports."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from sfumato.report.base.template_cache import TemplateCache

    made = Environment(
        loader=PackageLoader("sfumato.report", "templates"),
        bytecode_cache=TemplateCache(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: figures.seen(value) if type(value) is str else value,
    )
    made.filters.update(_filters(), drawn=Markup)
    made.globals.update(t=_told, about_heads=ABOUT)
    return made


def _told(text: str, /, **values: Any) -> Markup:
    """A text of a template in the language of the page; it may hold marks of HTML, and values are escaped.

    So the text must stand in the template; one that comes with the facts passes through the filter ``said``.
    """
    from markupsafe import Markup, escape

    shown = {key: escape(figures.seen(value) if type(value) is str else value) for key, value in values.items()}
    return Markup(said(text).format_map(shown) if values else said(text))


def page(template: str, **given: Any) -> str:
    """A whole page from a template and what it shows."""
    return environment().get_template(template).render(opening=opening(), language=spoken(), **given)


def _filters() -> dict[str, Callable[..., Any]]:
    formats = (figures.count, figures.share, figures.odds, figures.number, figures.apart)
    words = (sentences.promised, sentences.reached, sentences.verdict, sentences.suppressed, sentences.searched)
    return {each.__name__: each for each in (*formats, *words)} | {
        "label": lambda text: figures.label(text, most=80),
        "role": lambda role: said(sentences.ROLES.get(role, role)),
        "reading": lambda name: said(sentences.READINGS.get(name, name)),
        "retold": retold,
        "said": said,
        "shown": lambda value, how: figures.odds(value) if how == "odds" else figures.share(value),
        "maybe": lambda value: figures.NONE if value is None else figures.count(value),
        "plain": lambda value: figures.number(value) if isinstance(value, int | float) else retold(value),
        "on_scale": _on_scale,
    }


def _on_scale(one: UtilityFacts) -> float | None:
    """Where a value lies between the ends of its scale; nowhere if an end is missing."""
    if not (isfinite(one.value) and isfinite(one.low) and isfinite(one.high) and one.high > one.low):
        return None
    return min(max((one.value - one.low) / (one.high - one.low), 0.0), 1.0)
