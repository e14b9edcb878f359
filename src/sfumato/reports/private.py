"""The report of a differentially private release: what epsilon means, where it went, what was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, sqrt
from typing import Any

from sfumato.core.run_context import Work
from sfumato.dp.accounting import Promise, epsilon_at
from sfumato.dp.events import Approximate, Concentrated, Event, Grouped, Parallel, Pure, readable, written
from sfumato.reports.bars import Row, bars, top
from sfumato.reports.language import count, figured, label, number, retold, share, translated
from sfumato.reports.pages import page
from sfumato.reports.svg import Picture

USUAL = 1e-6
"""The delta at which a promise in rho is put into words."""

UNPAID = "No ledger paid for this release: nobody adds up what it and other releases of the same people cost together."
"""What is said of a release that no ledger knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFacts:
    """One differentially private release, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    promise: Promise
    """What was promised, or what the noise was drawn for where nothing is claimed."""
    claimed: bool
    """Whether differential privacy is claimed."""
    unit: str | None
    """The column that tells people apart, where neighbours are people."""
    event: Event
    """Where it went."""
    algorithm: str
    """The algorithm."""
    why: str
    """Why this algorithm."""
    domains: Mapping[str, Any]
    """What was declared."""
    known_by: Mapping[str, str]
    """Who says what each column can hold, as the plan tells."""
    steps: tuple[str, ...]
    """What was done, in order."""
    effort: Mapping[str, int | float | str]
    """Public figures about the search."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    paid: bool
    """Whether a ledger paid for it."""
    columns: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """Released rows per label, column by column."""
    deviations: Mapping[str, Mapping[str, float]]
    """For a column whose noise has a known law: the standard deviation of the count of each label."""
    session: Mapping[str, Any] | None = None
    """Who made it together, and what each of them learnt, where several parties did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the ledger."""

    depth: int
    """How deep it lies in the composition."""
    what: str
    """What it was for."""
    how: str
    """How it counts."""
    cost: Fraction
    """What it cost, in the promise's unit."""

    @property
    def shown(self) -> str:
        """What it cost, as people read it; the manifest has the fraction."""
        return readable(self.cost)


def render(facts: PrivateFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    return page(
        "private.html.j2",
        facts=facts,
        lines=ledger_lines(facts.event, facts.promise),
        ratio=number(exp(min(_epsilon(facts.promise), 50.0)), digits=3),
        amounts=[(name, written(Fraction(amount))) for name, amount in facts.promise.to_json().items()],
        one=translated("any one record" if facts.unit is None else "any one person with all their records"),
        pictures=column_pictures(facts, work or Work()),
        domains=[
            (name, domain_words(domain), _known_by(facts, name)) for name, domain in facts.domains["columns"].items()
        ],
        target_by=_known_by(facts, str((facts.domains.get("target") or {}).get("name"))),
        target=facts.domains.get("target"),
        unpaid=None if facts.paid else translated(UNPAID),
    )


def _epsilon(promise: Promise) -> float:
    """Epsilon, also of a promise in rho: then at the usual delta."""
    return float(promise.epsilon) if promise.epsilon is not None else epsilon_at(promise.amount(), USUAL)


def column_pictures(facts: PrivateFacts, work: Work) -> list[tuple[str, Picture]]:
    """A picture of every column, with its name."""
    drawn = []
    for place, (name, counts) in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        drawn.append((label(name), _picture(name, counts, facts.deviations.get(name))))
    return drawn


def ledger_lines(event: Event, promise: Promise, depth: int = 0) -> list[Line]:
    """The parts of an event, in order, each with what it costs in the promise's unit."""
    cost = promise.spent_by(event)
    if isinstance(event, Pure | Concentrated | Approximate):
        how = translated("spent")
        if isinstance(event, Approximate):
            how = translated("spent, with delta = {delta}", delta=written(event.delta))
        return [Line(depth=depth, what=retold(event.what) or translated("a release"), how=how, cost=cost)]
    parts: tuple[Event, ...]
    if isinstance(event, Grouped):
        times = event.rows if promise.unit == "epsilon" else event.rows**2
        how, parts = translated("{times} times what it costs for one row", times=times), (event.part,)
    else:
        how = translated("disjoint records: the dearest counts" if isinstance(event, Parallel) else "adds up")
        parts = event.parts
    lines = [Line(depth=depth, what=retold(event.what) or translated("in all"), how=how, cost=cost)]
    for part in parts:
        lines += ledger_lines(part, promise, depth + 1)
    return lines


def _picture(name: str, counts: tuple[tuple[str, int], ...], deviations: Mapping[str, float] | None) -> Picture:
    """A bar for each label; where the law of the noise is known, a pale one as far as the true count may well go."""
    parts = top([(words, rows, 0) for words, rows in counts])
    whole = max(1, sum(rows for _, rows in counts))
    margins = [None] * len(parts) if deviations is None else _margins(counts, parts, deviations)
    most = max([1.0, *(each + (margin or 0.0) for (_, each, _), margin in zip(parts, margins, strict=True))])
    rows = [
        Row(
            label=words,
            front=each / most,
            back=0.0 if margin is None else (each + margin) / most,
            figures=(count(each), share(each / whole) if margin is None else f"± {number(margin, digits=2)}"),
        )
        for (words, each, _), margin in zip(parts, margins, strict=True)
    ]
    summary = "; ".join(
        f"{words} {count(each)}" + ("" if margin is None else f" ± {number(margin, digits=2)}")
        for (words, each, _), margin in zip(parts, margins, strict=True)
    )
    heads = (translated("rows"), translated("share" if deviations is None else "noise"))
    return Picture(
        svg=bars(rows, heads=heads), words=translated("{column}, noisy: {told}.", column=label(name), told=summary)
    )


def _margins(
    counts: Sequence[tuple[str, int]], parts: Sequence[tuple[str, int, int]], deviations: Mapping[str, float]
) -> list[float | None]:
    """Twice the deviation of each shown label; of all others together, twice that of their sum."""
    square = {label(words): deviations.get(words, 0.0) ** 2 for words, _ in counts}
    visible_labels = {words for words, _, _ in parts}
    rest = sum(each for words, each in square.items() if words not in visible_labels)
    return [2 * sqrt(square.get(words, rest)) for words, _, _ in parts]


_KNOWN = {
    "declared": "declared in the plan",
    "public": "drafted from the rows, confirmed as public knowledge",
    "profile": "drafted from the rows",
    "discover": "found by noise, paid for from the budget",
}


def _known_by(facts: PrivateFacts, name: str) -> str:
    """Who says what a column can hold."""
    if not facts.claimed:
        return translated("declared, or read off the rows")
    words = _KNOWN.get(facts.known_by.get(name, "declared"))
    return translated(words) if words else ""


def domain_words(domain: Mapping[str, Any]) -> str:
    """A declared domain in words."""
    if domain["kind"] == "number":
        ends = {key: figured(f"{domain[key]:g}") for key in ("low", "high", "grid")}
        return translated("numbers from {low} to {high}, on a grid of {grid}", **ends)
    leaves = set(range(len(domain["nodes"]))) - {above for _, above in domain["nodes"]}
    if domain["kind"] == "set":
        return translated("a tree with {n} items, sets of them", n=len(leaves))
    return translated("a tree with {n} values", n=len(leaves))
