"""The report of randomized answers: facts and page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

from sfumato.attacks.finding import Finding
from sfumato.core.run_context import Work
from sfumato.reports.language import count, figured, label, number, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.svg import (
    AFTER,
    BEFORE,
    INK,
    LABELS,
    MUTED,
    SIZE,
    STEP,
    Picture,
    blocks,
    drawing,
    fitted,
    line,
    words,
)

# A release of collected answers, ready to be shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseShown:
    """What one question promises."""

    name: str
    """The question."""
    kind: str
    """How it is randomized."""
    epsilon: str | None
    """Its local epsilon, exactly; None where there is none."""
    about: float | None
    """The same as a decimal."""
    width: float | None
    """How wide an interval must be to hold the true answer, where there is no epsilon."""
    of_range: float | None
    """The same as a share of the declared range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateShown:
    """What was received of one question, and what is estimated."""

    name: str
    """The question."""
    kind: str
    """How it is randomized."""
    cells: tuple[tuple[str, float, float, float, float], ...]
    """The cells: a label, the share shown, the share estimated, and its interval."""
    outside: tuple[float, float]
    """Of numbers: the shares shown below and above the range."""
    true: tuple[float, ...] | None
    """Of a study: the true shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFacts:
    """One release of collected answers."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    rows: int
    """How many people answered."""
    left_out: int
    """Rows left out because an answer was missing."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    repeats: str
    """What happens to people who are asked again."""
    most: int
    """How often they are asked at most."""
    everything: tuple[str, float] | None
    """The local epsilon of all answers of a person, exactly and as a decimal."""
    promises: tuple[PromiseShown, ...]
    """Question by question."""
    beside: tuple[str, ...]
    """The columns that are published as collected."""
    estimates: tuple[EstimateShown, ...]
    """Question by question."""
    pairs: tuple[tuple[str, str, bool, tuple[float | None, ...]], ...]
    """Two questions, whether both are numbers, and how they go together: shown, estimated, and an interval's ends."""
    errors: tuple[tuple[str, float, float, float], ...]
    """Of numbers: the question, how far away the shown number is, the mean of all, and the best filter."""
    confidence: float
    """Of the intervals."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""
    inside: bool
    """Whether the page is the collector's own."""
    study: bool
    """Whether true answers are shown."""


# The report of collected answers: what the coins promise, what was received, and what is estimated.


NAMES = {
    "uniform": "uniform noise",
    "gaussian": "Gaussian noise",
    "laplace": "Laplace noise",
    "warner": "a coin (Warner)",
    "generalized": "a coin with several sides",
    "unary": "a coin for every bit",
    "items": "a coin for every item",
}
_NUMBERS = ("uniform", "gaussian", "laplace")
_MOST = {True: 40, False: 24}
"""So many cells of numbers, and of other answers, are drawn."""
_ABOVE, _WIDE, _NARROW = 22, 13, 7
_BARS, _FIGURES = 104, (55, 72)
"""The room of bars, and of the two figures beside them."""


def render(facts: CollectedFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    watch, pictures = work or Work(), []
    for place, question in enumerate(facts.estimates):
        watch.advance("report", place, len(facts.estimates))
        pictures.append((label(question.name), translated(NAMES[question.kind]), beyond(question), drawn(question)))
    return page(
        "collected.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        promises=[(promise, translated(NAMES[promise.kind]), meaning(promise)) for promise in facts.promises],
        pictures=pictures,
        pairs=[
            (
                name,
                other,
                translated("correlation" if numbers else "Cramér's V"),
                *(_told(figure, numbers) for figure in figures),
            )
            for name, other, numbers, figures in facts.pairs
        ],
    )


def meaning(promise: PromiseShown) -> str:
    """What a promise means, in one sentence."""
    if promise.about is not None:
        times = number(exp(promise.about), digits=3) if promise.about < 30 else translated("a great many")
        if promise.kind == "items":
            words = "Whatever is shown of every item is at most {times} times as likely with any other true answer."
            return translated(words, times=times)
        return translated(
            "Whatever is shown is at most {times} times as likely with any other true answer.", times=times
        )
    return translated(
        "Whoever names an interval around the shown number must make it {wide} wide, {part} of the range, to be right "
        "with 95\u00a0% probability. No epsilon is promised.",
        wide=number(promise.width or 0.0),
        part=share(promise.of_range or 0.0),
    )


def beyond(question: EstimateShown) -> str:
    """How many answers noise took out of the range, and how many cells are not drawn."""
    below, above = question.outside
    sentences = []
    if question.kind in _NUMBERS:
        words = "{below} of the shown numbers lie below the declared range, {above} above it."
        sentences.append(translated(words, below=share(below), above=share(above)))
    if len(question.cells) > _MOST[question.kind in _NUMBERS]:
        sentences.append(translated("The most frequent of {n} cells.", n=count(len(question.cells))))
    return " ".join(sentences)


def drawn(question: EstimateShown) -> Picture:
    """The shares of every cell: a pale bar as shown, a strong one as estimated, a line for its interval."""
    places = range(len(question.cells))
    kept = sorted(sorted(places, key=lambda n: (-question.cells[n][2], n))[: _MOST[question.kind in _NUMBERS]])
    most = max([1e-9, *(max(question.cells[n][1], question.cells[n][4]) for n in kept), *(question.true or ())])
    parts = [
        words(head, LABELS + _BARS + sum(_FIGURES[: n + 1]), _ABOVE - 9 + 0.34 * SIZE, anchor="end", size=SIZE - 1)
        for n, head in enumerate((translated("shown"), translated("estimated")))
    ]
    for row, n in enumerate(kept):
        parts += _row(question, n, _ABOVE + STEP * (row + 0.5), _BARS / most)
    summary = "; ".join(_words(question, n) for n in kept)
    svg = drawing(parts, LABELS + _BARS + sum(_FIGURES) + 4, _ABOVE + STEP * len(kept) + 4)
    return Picture(svg=svg, words=f"{label(question.name)}: {summary}.")


def _row(question: EstimateShown, n: int, middle: float, scale: float) -> list[str]:
    name, observed_share, estimate, low, high = question.cells[n]
    text = middle + 0.34 * SIZE
    parts = [words(fitted(name, LABELS - 4, SIZE), 0, text, tone=INK, size=SIZE)]
    for value, height, tone in ((observed_share, _WIDE, BEFORE), (estimate, _NARROW, AFTER)):
        if value > 0:
            parts.append(blocks([(LABELS, middle - height / 2, max(value * scale, 1), height)], tone))
    ends = LABELS + low * scale, LABELS + high * scale
    parts.append(line(ends[0], middle, ends[1], middle, INK, width=1.2))
    parts += [line(end, middle - 4, end, middle + 4, INK, width=1.2) for end in ends]
    if question.true is not None:
        at = LABELS + question.true[n] * scale
        parts.append(line(at, middle - 9, at, middle + 9, "accent", width=2.5))
    for place, (value, tone) in enumerate(((observed_share, MUTED), (estimate, INK))):
        end = LABELS + _BARS + sum(_FIGURES[: place + 1])
        parts.append(words(share(value), end, text, anchor="end", tone=tone, size=SIZE))
    return parts


def _words(question: EstimateShown, n: int) -> str:
    name, observed_share, estimate, low, high = question.cells[n]
    figures = {"shown": share(observed_share), "estimate": share(estimate), "low": share(low), "high": share(high)}
    text = translated("{name} {shown} shown, {estimate} estimated ({low} to {high})", name=label(name), **figures)
    return text if question.true is None else text + translated(", truly {share}", share=share(question.true[n]))


def _told(value: float | None, signed: bool) -> str:
    """A measure between -1 and 1, or between 0 and 1."""
    text = "" if value is None else f"{value:+.2f}" if signed else f"{value:.2f}"
    return figured(text).replace("-", "\u2212") or "\u2013"
