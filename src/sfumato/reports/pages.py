"""The shell of every page: executive summary, templates and filters, parties, the notebook card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.attacks.finding import Finding
from sfumato.reports import language, sentences
from sfumato.reports.attacks import Verdict, pictured, skipped_words, verdicts
from sfumato.reports.language import retold, seen, spoken, translated
from sfumato.reports.svg import Picture

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from sfumato.reports.table_facts import UtilityFacts


# How every report begins: what the data set is, and in plain words what was done, holds, remains possible and is next.
#
# Whoever makes a page says it once for the page (``begun``); the shell of every page shows it.


ABOUT: Mapping[str, str] = {
    "data_set": "Data set",
    "version": "Version",
    "purpose": "Purpose",
    "recipient": "Recipient",
    "legal_basis": "Legal basis",
    "responsible": "Responsible",
    "contact": "Contact",
    "date": "Date",
}
"""What a plan may say about the data set, in the order of the page, with what the page calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first paragraph of a report."""

    about: Mapping[str, str] = field(default_factory=dict)
    """What the plan says about the data set, by the keys of ``ABOUT``."""
    done: str
    """What was done."""
    holds: str
    """What holds."""
    possible: str
    """What remains possible."""
    next: str
    """What to do next."""

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The four parts with their heads."""
        heads = ("What was done", "What holds", "What remains possible", "What to do next")
        return tuple(zip(heads, (self.done, self.holds, self.possible, self.next), strict=True))


_BEGUN: ContextVar[Opening | None] = ContextVar("opening", default=None)


@contextmanager
def begun(opening: Opening) -> Iterator[None]:
    """While a page is made, it begins so."""
    before = _BEGUN.set(opening)
    try:
        yield
    finally:
        _BEGUN.reset(before)


def opening() -> Opening | None:
    """How the page that is made now begins; None for pages that are no report of a release."""
    return _BEGUN.get()


# The shell of every page: templates, their filters, and the section about attacks.


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

    from sfumato.reports.template_cache import TemplateCache

    jinja_environment = Environment(
        loader=PackageLoader("sfumato.reports", "templates"),
        bytecode_cache=TemplateCache(Path(__file__).parent / "templates"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: language.seen(value) if type(value) is str else value,
    )
    jinja_environment.filters.update(_filters(), drawn=Markup)
    jinja_environment.globals.update(_=_markup, gettext=_markup, about_heads=ABOUT)
    return jinja_environment


def _markup(text: str, /, **values: Any) -> Markup:
    """A text of a template in the language of the page; it may hold marks of HTML, and values are escaped.

    So the text must stand in the template; one that comes with the facts passes through the filter ``translated``.
    """
    from markupsafe import Markup, escape

    placeholders = {key: escape(language.seen(value) if type(value) is str else value) for key, value in values.items()}
    return Markup(translated(text).format_map(placeholders) if values else translated(text))


def page(template: str, **given: Any) -> str:
    """A whole page from a template and what it shows."""
    return environment().get_template(template).render(opening=opening(), language=spoken(), **given)


def _filters() -> dict[str, Callable[..., Any]]:
    formats = (language.count, language.share, language.odds, language.number, language.apart)
    words = (sentences.promised, sentences.reached, sentences.verdict, sentences.suppressed, sentences.searched)
    return {each.__name__: each for each in (*formats, *words)} | {
        "label": lambda text: language.label(text, most=80),
        "role": lambda role: translated(sentences.ROLES.get(role, role)),
        "reading": lambda name: translated(sentences.READINGS.get(name, name)),
        "retold": retold,
        "attack_title": language.attack_title,
        "translated": translated,
        "shown": lambda value, how: language.odds(value) if how == "odds" else language.share(value),
        "maybe": lambda value: language.NONE if value is None else language.count(value),
        "plain": lambda value: language.number(value) if isinstance(value, int | float) else retold(value),
        "on_scale": _on_scale,
    }


def _on_scale(utility: UtilityFacts) -> float | None:
    """Where a value lies between the ends of its scale; nowhere if an end is missing."""
    if not (
        isfinite(utility.value) and isfinite(utility.low) and isfinite(utility.high) and utility.high > utility.low
    ):
        return None
    return min(max((utility.value - utility.low) / (utility.high - utility.low), 0.0), 1.0)


# Who made a release together, as the pages of all kinds show it.


def session_shown(stated: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a manifest states of a session, with the fingerprint of every party; None where one party made it."""
    if stated is None:
        return None
    return {**stated, "parties": {name: party["fingerprint"] for name, party in stated["parties"].items()}}


# A release in a notebook: its claims, and a small before and after; no value of the original.


def card(
    title: str,
    claims: Sequence[tuple[str, bool, float]],
    changes: Sequence[tuple[str, object, object]],
    marks: Sequence[str] = (),
) -> str:
    """An HTML fragment.

    >>> card("Release", [("k-anonymity (k = 5)", True, 6.0)], [("rows", 9, 8)]).count("<tr>")
    4
    """
    stated = [[name, "holds" if holds else "FAILS", f"{reached:g}"] for name, holds, reached in claims]
    warned = [f"<p>⚠ {escape(seen(mark))}</p>" for mark in marks]
    parts = [f"<p><b>{escape(seen(title))}</b></p>", *warned, _table(("claim", "", "reached"), stated)]
    return "<div>" + "".join([*parts, _table(("", "before", "after"), changes)]) + "</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(seen(head))}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(seen(str(cell)))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
