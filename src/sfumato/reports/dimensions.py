"""The page about the curse of dimensionality: risk and loss with every further quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.dimensionality import Step
from sfumato.reports.language import label, share
from sfumato.reports.pages import page
from sfumato.reports.svg import LETTERS, WIDE, Picture, drawing, fitted, line, plain, words
from sfumato.version import __version__

_LEFT, _TOP, _HEIGHT, _BELOW = 46.0, 16.0, 240.0, 118.0
LINES = (
    ("below_k", "rows in groups below k", "alarm", ""),
    ("unique", "rows that are unique", "before", ""),
    ("loss", "information lost by the release", "after", "5 3"),
)
"""What is drawn: the field, what it is called, its colour and its dashes."""


def render(steps: Sequence[Step], *, k: int, metric: str, advice: str) -> str:
    """One self-contained HTML page."""
    return page(
        "dimensions.html.j2",
        steps=steps,
        k=k,
        metric=metric,
        advice=advice,
        picture=pictured(steps),
        version=__version__,
    )


def pictured(steps: Sequence[Step]) -> Picture:
    """Three lines over the number of columns."""
    right = WIDE - 16.0
    xs = [_LEFT + (n + 0.5) * (right - _LEFT) / max(len(steps), 1) for n in range(len(steps))]

    def at(value: float) -> float:
        return _TOP + (1 - min(max(value, 0.0), 1.0)) * _HEIGHT

    parts = [line(_LEFT, at(v), right, at(v)) for v in (0, 0.25, 0.5, 0.75, 1)]
    parts += [words(share(v), _LEFT - 6, at(v) + LETTERS / 3, anchor="end") for v in (0, 0.25, 0.5, 0.75, 1)]
    for field, _, tone, dashes in LINES:
        values = [getattr(step, field) for step in steps]
        if None in values:
            continue
        points = " ".join(f"{plain(x)},{plain(at(v))}" for x, v in zip(xs, values, strict=True))
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="var(--{tone})" stroke-width="2"{dashed}/>')
        parts += [
            f'<circle cx="{plain(x)}" cy="{plain(at(v))}" r="3.5" fill="var(--{tone})"/>'
            for x, v in zip(xs, values, strict=True)
        ]
    parts += [_below(f"+ {step.columns[-1]}", x) for step, x in zip(steps, xs, strict=True)]
    last = steps[-1]
    summary = f"With {len(last.columns)} columns {share(last.below_k)} of the rows are in groups that are too small"
    return Picture(
        svg=drawing(parts, WIDE, _TOP + _HEIGHT + _BELOW), words=f"Risk and loss as columns are added. {summary}."
    )


def _below(text: str, x: float) -> str:
    """A column's name, slanted under its place."""
    y = _TOP + _HEIGHT + 16
    turned = f'transform="rotate(-35 {plain(x)} {plain(y)})"'
    return words(fitted(label(text), 130), x, y, anchor="end", tone="ink").replace("<text ", f"<text {turned} ", 1)
