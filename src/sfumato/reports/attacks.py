"""Attack findings on a page: one sentence and verdict per threat, and the picture of the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.attacks.finding import Finding, Outcome, Rate
from sfumato.reports.language import count, retold, said, share
from sfumato.reports.svg import (
    AFTER,
    ALARM,
    BEFORE,
    LETTERS,
    MUTED,
    NARROW,
    SIZE,
    WIDE,
    Picture,
    blocks,
    broken,
    dashed,
    drawing,
    leading,
    line,
    plain,
    stacked,
    words,
)

# What the attacks on a release found: one sentence and one verdict per threat, with the numbers behind them.


THREATS = ("re-identification", "attribute disclosure", "membership", "method")
"""The order of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One finding in words."""

    attack: str
    """Its name."""
    threat: str
    """What is threatened."""
    who: str
    """Who can do what, how surely."""
    verdict: str
    """What that means for the release, in one line."""
    outcome: Outcome
    """refuted, not refuted, inconclusive or not tried."""
    broken: bool
    """Whether it refutes something that was promised."""
    chip: str
    """The outcome in a word or two; where nothing was promised, that the attack beats guessing."""
    note: str
    """What a reader should know."""


def verdicts(findings: Sequence[Finding]) -> tuple[Verdict, ...]:
    """The findings in words, threat by threat; what two attacks found alike is said once."""
    return tuple(
        Verdict(
            attack=one.attack,
            threat=said(one.threat),
            who=who(one),
            verdict=verdict(one),
            outcome=one.outcome,
            broken=one.outcome is Outcome.REFUTED and one.limit is not None,
            chip=said("beats guessing" if one.outcome is Outcome.REFUTED and one.limit is None else str(one.outcome)),
            note=retold(one.note),
        )
        for one in ordered(merged(findings))
    )


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that say the same of the same adversary as one, under all their names."""
    found: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        key = (one.threat, one.knows, one.does, one.rate, one.naive, one.control, one.limit, one.note)
        same = found.get(key)
        found[key] = one if same is None else replace(same, attack=f"{same.attack}, {one.attack}")
    return list(found.values())


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Threat by threat, and what gains most first."""
    places = {threat: place for place, threat in enumerate(THREATS)}
    return sorted(findings, key=lambda one: (places.get(one.threat, len(places)), -one.risk))


def who(one: Finding) -> str:
    """Who can do what, with what knowledge, how surely."""
    story = {"knows": retold(one.knows), "does": retold(one.does)}
    if one.outcome is Outcome.NOT_TRIED:
        why = _all_failed(one.rate)
        return said("Somebody who knows {knows} had nothing to try to {does}: {why}.", **story, why=why)
    story |= {"share": share(one.rate.value), "trials": count(one.rate.trials), "between": _between(one.rate)}
    return (
        said("Somebody who knows {knows} can {does} in {share} of {trials} trials ({between});", **story)
        + f" {_without(one)}.{_failed(one.rate)}"
    )


def _without(one: Finding) -> str:
    """What is possible without the release."""
    guessed = share(one.naive.value)
    if one.control is None or not one.control.carried_out:
        return said("without the release {guessed} by guessing", guessed=guessed)
    return said(
        "without the release {guessed} by guessing, and {others} on people who are not in the data",
        guessed=guessed,
        others=share(one.control.value),
    )


def _failed(rate: Rate) -> str:
    """How many trials could not be carried out, and how often the others worked."""
    if not rate.failed or rate.of_carried_out is None:
        return ""
    return " " + said(
        "In {failed} trials nothing could be tried; of the other {others}, {share} worked.",
        failed=count(rate.failed),
        others=count(rate.carried_out),
        share=share(rate.of_carried_out),
    )


def _all_failed(rate: Rate) -> str:
    if not rate.trials:
        return said("there was no trial to make")
    return said("none of {trials} trials could be carried out", trials=count(rate.trials))


def works_in(rate: Rate) -> str:
    """A rate in a table: with its interval, and never a figure where nothing was tried."""
    if not rate.carried_out:
        return said(str(Outcome.NOT_TRIED))
    shown = said("{value} ({low} to {high})", value=share(rate.value), low=share(rate.low), high=share(rate.high))
    if not rate.failed:
        return shown
    return shown + said("; {failed} of {trials} not tried", failed=count(rate.failed), trials=count(rate.trials))


def verdict(one: Finding) -> str:
    """What a finding means; that an attack fails is never praised."""
    if one.outcome is Outcome.NOT_TRIED:
        return said("Not tried, which says nothing about the release, for or against it.")
    if one.outcome is Outcome.INCONCLUSIVE and one.rate.low <= one.baseline.high:
        return said("No better than without the release. This attack found nothing; others may.")
    words = _VERDICTS[one.outcome, one.limit is not None]
    if one.limit is None:
        return said(words, gain=share(one.risk))
    return said(words, gain=share(one.risk), why=retold(one.limit.why), allowed=share(one.limit.value))


_VERDICTS = {
    (Outcome.REFUTED, False): (
        "The release adds {gain} to what was possible without it: it tells more than guessing, and nothing was "
        "promised about that."
    ),
    (Outcome.REFUTED, True): "This refutes the {why}, which allows {allowed}.",
    (Outcome.NOT_REFUTED, False): (
        "The release adds {gain} to what was possible without it. A better attack may do more."
    ),
    (Outcome.NOT_REFUTED, True): (
        "The release adds {gain} to what was possible without it, within the {why}, which allows {allowed}. A better "
        "attack may do more."
    ),
    (Outcome.INCONCLUSIVE, False): ("The release adds {gain} to what was possible without it. More trials would tell."),
    (Outcome.INCONCLUSIVE, True): (
        "The release adds {gain} to what was possible without it; the {why} allows {allowed}, inside the interval. "
        "More trials would tell."
    ),
}
"""What a finding means, by its outcome and by whether something is promised about it."""


def _between(rate: Rate) -> str:
    ends = {"low": share(rate.low), "high": share(rate.high)}
    return said("{low} to {high} with {confidence} confidence", **ends, confidence=share(rate.confidence))


def skipped_words(skipped: Mapping[str, str]) -> list[str]:
    """The attacks that could not be made, with the reason; those with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, why in skipped.items():
        names.setdefault(why, []).append(name)
    return [f"{', '.join(some)}: {retold(why)}" for why, some in names.items()]


# What the attacks found as a picture, in two sizes: names beside the intervals, and on a phone above them.


_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where names and intervals stand."""

    width: float
    """Of the picture."""
    left: float
    """Where the intervals begin."""
    size: float
    """Of the letters."""
    step: float
    """The height of an interval."""
    beside: bool
    """Whether names stand beside the intervals."""

    def at(self, value: float) -> float:
        """The place of a share."""
        return self.left + min(max(value, 0.0), 1.0) * (self.width - 1.7 * self.size - self.left)

    def name(self, text: str) -> list[str]:
        """An attack's name in lines that fit."""
        return broken(text, self.left - 20 if self.beside else self.width, self.size)

    def height(self, lines: Sequence[str]) -> float:
        """Of a row whose name has these lines."""
        return self.step + (len(lines) - self.beside) * leading(self.size)


_FRAMES = (
    _Frame(width=WIDE, left=240, size=LETTERS, step=24, beside=True),
    _Frame(width=NARROW, left=16, size=SIZE, step=30, beside=False),
)


def pictured(findings: Sequence[Finding]) -> tuple[Picture, Picture] | None:
    """Every attack as an interval, beside what is possible without the release and what is allowed; wide and narrow."""
    if not findings:
        return None
    found = ordered(merged(findings))
    told = "; ".join(_compared(one) for one in found)
    heard = said("How often each attack works, against what is possible without the release. {told}.", told=told)
    caption = said(
        "How often each attack works (bar: interval), beside what is possible without the release (tick) and "
        "what is allowed (dashed)"
    )
    wide, narrow = (Picture(svg=_drawn(found, frame), words=heard, caption=caption) for frame in _FRAMES)
    return wide, narrow


def _compared(one: Finding) -> str:
    rate = share(one.rate.value) if one.rate.carried_out else said(str(Outcome.NOT_TRIED))
    return said("{attack}: {rate} against {base}", attack=one.attack, rate=rate, base=share(one.baseline.value))


def _drawn(found: Sequence[Finding], frame: _Frame) -> str:
    """All rows, threat by threat, over the scale."""
    parts, y, threat = list[str](), 0.0, ""
    for one in found:
        if one.threat != threat:
            threat = one.threat
            parts.append(words(said(threat), 0, y + 20, tone=MUTED, size=frame.size))
            y += 28
        lines = frame.name(one.attack)
        parts += _row(one, lines, y, frame)
        y += frame.height(lines)
    grid = [line(frame.at(x), 4, frame.at(x), y + 2) for x in _TICKS]
    marks = [words(share(x), frame.at(x), y + 16, anchor="middle", size=frame.size) for x in _TICKS]
    return drawing([*grid, *parts, *marks], frame.width, y + 22)


def _row(one: Finding, lines: Sequence[str], y: float, frame: _Frame) -> list[str]:
    tall = frame.height(lines)
    if frame.beside:
        middle = y + tall / 2
        name = stacked(lines, frame.left - 10, middle, anchor="end", size=frame.size)
    else:
        middle = y + tall - 16
        name = stacked(lines, 0, y + len(lines) * leading(frame.size) / 2, size=frame.size)
    return [*name, *_interval(one, middle, frame)]


def _interval(one: Finding, y: float, frame: _Frame) -> list[str]:
    """The interval, what is possible without the release, and what is allowed."""
    if one.outcome is Outcome.NOT_TRIED:
        return stacked([said(str(one.outcome))], frame.left + 6, y, tone=MUTED, size=frame.size)
    tone = ALARM if one.outcome is Outcome.REFUTED and one.limit is not None else AFTER
    low, high = frame.at(one.rate.low), frame.at(one.rate.high)
    base = frame.at(one.baseline.value)
    parts = [
        blocks([(low, y - 3, max(high - low, 2), 6)], tone),
        f'<circle cx="{plain(frame.at(one.rate.value))}" cy="{plain(y)}" r="4.5" fill="var(--{tone})"/>',
        line(base, y - 8, base, y + 8, BEFORE, width=3),
    ]
    if one.limit is not None:
        limit = frame.at(one.limit.value)
        parts.append(dashed(limit, y - 10, limit, y + 10, ALARM))
    return parts
