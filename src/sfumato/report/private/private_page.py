"""The report of a differentially private release: what epsilon means, where it went, what was declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Concentrated, Event, Parallel, Pure
from sfumato.ground.work import Work
from sfumato.report.base.bins import top
from sfumato.report.base.drawing import Row, bars
from sfumato.report.base.figures import count, label, number, share
from sfumato.report.base.layout import environment
from sfumato.report.base.picture import Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFacts:
    """One differentially private release, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    epsilon: Fraction
    """What was promised."""
    event: Event
    """Where it went."""
    algorithm: str
    """The algorithm."""
    why: str
    """Why this algorithm."""
    domains: Mapping[str, Any]
    """What was declared."""
    steps: tuple[str, ...]
    """What was done, in order."""
    effort: Mapping[str, int | float | str]
    """Public figures about the search."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    columns: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """Released rows per label, column by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the ledger."""

    depth: int
    """How deep it lies in the composition."""
    what: str
    """What it was for."""
    how: str
    """How it counts."""
    epsilon: Fraction
    """What it cost."""


def render(facts: PrivateFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return (
        environment()
        .get_template("private.html.j2")
        .render(
            facts=facts,
            lines=ledger_lines(facts.event),
            ratio=number(exp(min(float(facts.epsilon), 50.0)), digits=3),
            pictures=_pictures(facts, work or Work()),
            domains=[(name, _domain_words(domain)) for name, domain in facts.domains["columns"].items()],
            target=facts.domains.get("target"),
        )
    )


def _pictures(facts: PrivateFacts, work: Work) -> list[tuple[str, Picture]]:
    drawn = []
    for place, (name, found) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        drawn.append((label(name), _picture(name, found)))
    return drawn


def ledger_lines(event: Event, depth: int = 0) -> list[Line]:
    """The parts of an event, in order; equal neighbours below one heading are told once, with how many they are."""
    if isinstance(event, Pure | Concentrated):
        how = "spent" if isinstance(event, Pure) else "spent, in zCDP"
        cost = event.epsilon if isinstance(event, Pure) else event.rho
        return [Line(depth=depth, what=event.what or "a release", how=how, epsilon=cost)]
    how = "disjoint records: the dearest counts" if isinstance(event, Parallel) else "adds up"
    lines = [Line(depth=depth, what=event.what or "in all", how=how, epsilon=epsilon_of(event))]
    for part in event.parts:
        lines += ledger_lines(part, depth + 1)
    return lines


def _picture(name: str, found: tuple[tuple[str, int], ...]) -> Picture:
    parts = top([(words, rows, 0) for words, rows in found])
    most, whole = max([1, *(rows for _, rows, _ in parts)]), max(1, sum(rows for _, rows in found))
    rows = [Row(label=words, front=each / most, figures=(count(each), share(each / whole))) for words, each, _ in parts]
    told = "; ".join(f"{words} {count(each)}" for words, each, _ in parts)
    return Picture(svg=bars(rows, heads=("rows", "share")), words=f"{label(name)}, noisy: {told}.")


def _domain_words(domain: Mapping[str, Any]) -> str:
    """A declared domain in words."""
    if domain["kind"] == "number":
        return f"numbers from {domain['low']:g} to {domain['high']:g}, on a grid of {domain['grid']:g}"
    leaves = set(range(len(domain["nodes"]))) - {above for _, above in domain["nodes"]}
    items = "items, sets of them" if domain["kind"] == "set" else "values"
    return f"a tree with {len(leaves)} {items}"
