"""Attack findings on a page: one sentence and verdict per threat, and the picture of the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.attacks.finding import Finding, Outcome, Rate
from sfumato.reports.language import attack_title, count, retold, share, translated
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
            attack=attack_title(finding.attack),
            threat=translated(finding.threat),
            who=who(finding),
            verdict=verdict(finding),
            outcome=finding.outcome,
            broken=finding.outcome is Outcome.REFUTED and finding.limit is not None,
            chip=translated(
                "beats guessing"
                if finding.outcome is Outcome.REFUTED and finding.limit is None
                else str(finding.outcome)
            ),
            note=retold(finding.note),
        )
        for finding in ordered(merged(findings))
    )


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that say the same of the same adversary as one, under all their names."""
    distinct_findings: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = (
            finding.threat,
            finding.knows,
            finding.does,
            finding.rate,
            finding.naive,
            finding.control,
            finding.limit,
            finding.note,
        )
        same = distinct_findings.get(key)
        distinct_findings[key] = finding if same is None else replace(same, attack=f"{same.attack}, {finding.attack}")
    return list(distinct_findings.values())


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Threat by threat, and what gains most first."""
    places = {threat: place for place, threat in enumerate(THREATS)}
    return sorted(findings, key=lambda finding: (places.get(finding.threat, len(places)), -finding.risk))


def who(finding: Finding) -> str:
    """Who can do what, with what knowledge, how surely."""
    story = {"knows": retold(finding.knows), "does": retold(finding.does)}
    if finding.outcome is Outcome.NOT_TRIED:
        why = _all_failed(finding.rate)
        return translated("Somebody who knows {knows} had nothing to try to {does}: {why}.", **story, why=why)
    story |= {
        "share": share(finding.rate.value),
        "trials": count(finding.rate.trials),
        "between": _between(finding.rate),
    }
    return (
        translated("Somebody who knows {knows} can {does} in {share} of {trials} trials ({between});", **story)
        + f" {_without(finding)}.{_failed(finding.rate)}"
    )


def _without(finding: Finding) -> str:
    """What is possible without the release."""
    guessed = share(finding.naive.value)
    if finding.control is None or not finding.control.carried_out:
        return translated("without the release {guessed} by guessing", guessed=guessed)
    return translated(
        "without the release {guessed} by guessing, and {others} on people who are not in the data",
        guessed=guessed,
        others=share(finding.control.value),
    )


def _failed(rate: Rate) -> str:
    """How many trials could not be carried out, and how often the others worked."""
    if not rate.failed or rate.of_carried_out is None:
        return ""
    return " " + translated(
        "In {failed} trials nothing could be tried; of the other {others}, {share} worked.",
        failed=count(rate.failed),
        others=count(rate.carried_out),
        share=share(rate.of_carried_out),
    )


def _all_failed(rate: Rate) -> str:
    if not rate.trials:
        return translated("there was no trial to make")
    return translated("none of {trials} trials could be carried out", trials=count(rate.trials))


def works_in(rate: Rate) -> str:
    """A rate in a table: with its interval, and never a figure where nothing was tried."""
    if not rate.carried_out:
        return translated(str(Outcome.NOT_TRIED))
    text = translated("{value} ({low} to {high})", value=share(rate.value), low=share(rate.low), high=share(rate.high))
    if not rate.failed:
        return text
    return text + translated("; {failed} of {trials} not tried", failed=count(rate.failed), trials=count(rate.trials))


def verdict(finding: Finding) -> str:
    """What a finding means; that an attack fails is never praised."""
    if finding.outcome is Outcome.NOT_TRIED:
        return translated("Not tried, which says nothing about the release, for or against it.")
    if finding.outcome is Outcome.INCONCLUSIVE and finding.rate.low <= finding.baseline.high:
        return translated("No better than without the release. This attack found nothing; others may.")
    words = _VERDICTS[finding.outcome, finding.limit is not None]
    if finding.limit is None:
        return translated(words, gain=share(finding.risk))
    return translated(
        words, gain=share(finding.risk), why=retold(finding.limit.why), allowed=share(finding.limit.value)
    )


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
    return translated("{low} to {high} with {confidence} confidence", **ends, confidence=share(rate.confidence))


def skipped_words(skipped: Mapping[str, str]) -> list[str]:
    """The attacks that could not be made, with the reason; those with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, why in skipped.items():
        names.setdefault(why, []).append(attack_title(name))
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
    ordered_findings = ordered(merged(findings))
    summary = "; ".join(_compared(finding) for finding in ordered_findings)
    heard = translated(
        "How often each attack works, against what is possible without the release. {told}.", told=summary
    )
    caption = translated(
        "How often each attack works (bar: interval), beside what is possible without the release (tick) and "
        "what is allowed (dashed)"
    )
    wide, narrow = (Picture(svg=_drawn(ordered_findings, frame), words=heard, caption=caption) for frame in _FRAMES)
    return wide, narrow


def _compared(finding: Finding) -> str:
    rate = share(finding.rate.value) if finding.rate.carried_out else translated(str(Outcome.NOT_TRIED))
    return translated(
        "{attack}: {rate} against {base}",
        attack=attack_title(finding.attack),
        rate=rate,
        base=share(finding.baseline.value),
    )


def _drawn(findings: Sequence[Finding], frame: _Frame) -> str:
    """All rows, threat by threat, over the scale."""
    parts, y, threat = list[str](), 0.0, ""
    for finding in findings:
        if finding.threat != threat:
            threat = finding.threat
            parts.append(words(translated(threat), 0, y + 20, tone=MUTED, size=frame.size))
            y += 28
        lines = frame.name(attack_title(finding.attack))
        parts += _row(finding, lines, y, frame)
        y += frame.height(lines)
    grid = [line(frame.at(x), 4, frame.at(x), y + 2) for x in _TICKS]
    marks = [words(share(x), frame.at(x), y + 16, anchor="middle", size=frame.size) for x in _TICKS]
    return drawing([*grid, *parts, *marks], frame.width, y + 22)


def _row(finding: Finding, lines: Sequence[str], y: float, frame: _Frame) -> list[str]:
    tall = frame.height(lines)
    if frame.beside:
        middle = y + tall / 2
        name = stacked(lines, frame.left - 10, middle, anchor="end", size=frame.size)
    else:
        middle = y + tall - 16
        name = stacked(lines, 0, y + len(lines) * leading(frame.size) / 2, size=frame.size)
    return [*name, *_interval(finding, middle, frame)]


def _interval(finding: Finding, y: float, frame: _Frame) -> list[str]:
    """The interval, what is possible without the release, and what is allowed."""
    if finding.outcome is Outcome.NOT_TRIED:
        return stacked([translated(str(finding.outcome))], frame.left + 6, y, tone=MUTED, size=frame.size)
    tone = ALARM if finding.outcome is Outcome.REFUTED and finding.limit is not None else AFTER
    low, high = frame.at(finding.rate.low), frame.at(finding.rate.high)
    base = frame.at(finding.baseline.value)
    parts = [
        blocks([(low, y - 3, max(high - low, 2), 6)], tone),
        f'<circle cx="{plain(frame.at(finding.rate.value))}" cy="{plain(y)}" r="4.5" fill="var(--{tone})"/>',
        line(base, y - 8, base, y + 8, BEFORE, width=3),
    ]
    if finding.limit is not None:
        limit = frame.at(finding.limit.value)
        parts.append(dashed(limit, y - 10, limit, y + 10, ALARM))
    return parts
