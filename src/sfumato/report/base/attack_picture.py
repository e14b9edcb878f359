"""What the attacks found as a picture, in two sizes: names beside the intervals, and on a phone above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.attacks.frame.trials import Finding, Outcome
from sfumato.report.base.figures import share
from sfumato.report.base.findings import merged, ordered
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.shapes import AFTER, ALARM, BEFORE, MUTED, SIZE
from sfumato.report.base.svg import (
    LETTERS,
    NARROW,
    WIDE,
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
