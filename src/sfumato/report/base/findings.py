"""What the attacks on a release found: one sentence and one verdict per threat, with the numbers behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.attacks.frame.trials import Finding, Outcome, Rate
from sfumato.report.base.figures import share
from sfumato.report.base.picture import Picture
from sfumato.report.base.svg import LETTERS, WIDE, broken, drawing, line, plain, stacked, words

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
            threat=one.threat,
            who=who(one),
            verdict=verdict(one),
            outcome=one.outcome,
            broken=one.outcome is Outcome.REFUTED and one.limit is not None,
            chip="beats guessing" if one.outcome is Outcome.REFUTED and one.limit is None else str(one.outcome),
            note=one.note,
        )
        for one in _ordered(merged(findings))
    )


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that say the same of the same adversary as one, under all their names."""
    found: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        key = (one.threat, one.knows, one.does, one.rate, one.naive, one.control, one.limit, one.note)
        same = found.get(key)
        found[key] = one if same is None else replace(same, attack=f"{same.attack}, {one.attack}")
    return list(found.values())


def _ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Threat by threat, and what gains most first."""
    places = {threat: place for place, threat in enumerate(THREATS)}
    return sorted(findings, key=lambda one: (places.get(one.threat, len(places)), -one.risk))


def who(one: Finding) -> str:
    """Who can do what, with what knowledge, how surely."""
    if one.outcome is Outcome.NOT_TRIED:
        return f"Somebody who knows {one.knows} had nothing to try to {one.does}: {_all_failed(one.rate)}."
    tried = f"{share(one.rate.value)} of {one.rate.trials:,} trials ({_between(one.rate)})"
    without = f"{share(one.naive.value)} by guessing"
    if one.control is not None and one.control.carried_out:
        without += f", and {share(one.control.value)} on people who are not in the data"
    return (
        f"Somebody who knows {one.knows} can {one.does} in {tried}; without the release {without}.{_failed(one.rate)}"
    )


def _failed(rate: Rate) -> str:
    """How many trials could not be carried out, and how often the others worked."""
    if not rate.failed or rate.of_carried_out is None:
        return ""
    others = f"of the other {rate.carried_out:,}, {share(rate.of_carried_out)} worked"
    return f" In {rate.failed:,} trials nothing could be tried; {others}."


def _all_failed(rate: Rate) -> str:
    return f"none of {rate.trials:,} trials could be carried out" if rate.trials else "there was no trial to make"


def works_in(rate: Rate) -> str:
    """A rate in a table: with its interval, and never a figure where nothing was tried."""
    if not rate.carried_out:
        return str(Outcome.NOT_TRIED)
    failed = f"; {rate.failed:,} of {rate.trials:,} not tried" if rate.failed else ""
    return f"{share(rate.value)} ({share(rate.low)} to {share(rate.high)}){failed}"


def verdict(one: Finding) -> str:
    """What a finding means; that an attack fails is never praised."""
    if one.outcome is Outcome.NOT_TRIED:
        return "Not tried, which says nothing about the release, for or against it."
    gain = f"The release adds {share(one.risk)} to what was possible without it"
    if one.outcome is Outcome.REFUTED:
        if one.limit is None:
            return f"{gain}: it tells more than guessing, and nothing was promised about that."
        return f"This refutes the {one.limit.why}, which allows {share(one.limit.value)}."
    if one.outcome is Outcome.NOT_REFUTED:
        allowed = f", within the {one.limit.why}, which allows {share(one.limit.value)}" if one.limit else ""
        return f"{gain}{allowed}. A better attack may do more."
    if one.rate.low <= one.baseline.high:
        return "No better than without the release. This attack found nothing; others may."
    allowed = f"; the {one.limit.why} allows {share(one.limit.value)}, inside the interval" if one.limit else ""
    return f"{gain}{allowed}. More trials would tell."


def _between(rate: Rate) -> str:
    return f"{share(rate.low)} to {share(rate.high)} with {share(rate.confidence)} confidence"


def pictured(findings: Sequence[Finding]) -> Picture | None:
    """Every attack as an interval, beside what is possible without the release and what is allowed."""
    if not findings:
        return None
    ordered = _ordered(merged(findings))
    left, right, step = 240.0, WIDE - 16.0, 24.0
    parts, y, threat = [], 14.0, ""
    for one in ordered:
        if one.threat != threat:
            threat = one.threat
            y += 6
            parts.append(words(threat, 0, y + LETTERS / 2, tone="muted"))
            y += step
        parts += _row(one, y, left, right)
        y += step
    marks = [words(share(x), left + x * (right - left), y + 6, anchor="middle") for x in (0, 0.25, 0.5, 0.75, 1)]
    grid = [line(left + x * (right - left), 10, left + x * (right - left), y - 8) for x in (0, 0.25, 0.5, 0.75, 1)]
    told = "; ".join(_compared(one) for one in ordered)
    return Picture(
        svg=drawing([*grid, *parts, *marks], WIDE, y + 14),
        words=f"How often each attack works, against what is possible without the release. {told}.",
        caption="How often each attack works (bar: interval), beside what is possible without the release (tick) and "
        "what is allowed (dashed)",
    )


def _compared(one: Finding) -> str:
    rate = share(one.rate.value) if one.rate.carried_out else str(Outcome.NOT_TRIED)
    return f"{one.attack}: {rate} against {share(one.baseline.value)}"


def _row(one: Finding, y: float, left: float, right: float) -> list[str]:
    def at(value: float) -> float:
        return left + min(max(value, 0.0), 1.0) * (right - left)

    named = stacked(broken(one.attack, left - 20), left - 10, y, anchor="end")
    if one.outcome is Outcome.NOT_TRIED:
        return [*named, words(str(one.outcome), left + 6, y + LETTERS / 3, tone="muted")]
    tone = "alarm" if one.outcome is Outcome.REFUTED and one.limit is not None else "after"
    low, high = at(one.rate.low), max(at(one.rate.high), at(one.rate.low) + 2)
    base = at(one.baseline.value)
    parts = [
        *named,
        f'<rect x="{plain(low)}" y="{plain(y - 3)}" width="{plain(high - low)}" height="6" fill="var(--{tone})"/>',
        f'<circle cx="{plain(at(one.rate.value))}" cy="{plain(y)}" r="4.5" fill="var(--{tone})"/>',
        f'<line x1="{plain(base)}" y1="{plain(y - 8)}" x2="{plain(base)}" y2="{plain(y + 8)}" stroke="var(--before)" '
        'stroke-width="3"/>',
    ]
    if one.limit is not None:
        x = plain(at(one.limit.value))
        parts.append(
            f'<line x1="{x}" y1="{plain(y - 10)}" x2="{x}" y2="{plain(y + 10)}" stroke="var(--alarm)" '
            'stroke-width="1.5" stroke-dasharray="3 2"/>'
        )
    return parts


def skipped_words(skipped: Mapping[str, str]) -> list[str]:
    """The attacks that could not be made, with the reason; those with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, why in skipped.items():
        names.setdefault(why, []).append(name)
    return [f"{', '.join(some)}: {why}" for why, some in names.items()]
