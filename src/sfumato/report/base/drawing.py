"""Tables drawn as static SVG by Vega-Lite.

Colours are markers that become CSS variables, so that one picture serves light, dark and print; fonts are the page's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sfumato.report.base.figures import label as cut
from sfumato.report.base.figures import seen
from sfumato.report.base.shapes import AFTER, ALARM, BEFORE, INK, MUTED, TRACK, Shape, bars_shape, columns_shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a picture: a label, up to two bars on each other, and up to two figures."""

    label: str
    """What it is about."""
    back: float = 0.0
    """The length of the wide pale bar, between 0 and 1."""
    front: float = 0.0
    """The length of the narrow strong bar, between 0 and 1."""
    figures: tuple[str, ...] = ()
    """As many as the picture has heads."""
    tone: str = AFTER
    """The colour of the strong bar."""
    rule: bool = False
    """Whether it is a dashed line instead: a limit."""
    quiet: bool = False
    """Whether its label is muted."""


def bars(rows: Sequence[Row], *, heads: tuple[str, ...], back: str = BEFORE) -> str:
    """An SVG with a line per row, under one head per figure."""
    values = [_values(i, row) for i, row in enumerate(rows)]
    return svg(bars_shape(heads, back, any(row.rule for row in rows)), rows=values)


def columns(counts: Sequence[int], *, low: str, high: str) -> str:
    """An SVG with a column per count, and what its two ends stand for."""
    most, wide = max([*counts, 1]), 1 / max(len(counts), 1)
    values = [{"x": i * wide, "x2": (i + 0.86) * wide, "y": each / most} for i, each in enumerate(counts)]
    ends = [{"x": 0.0, "text": low, "align": "left"}, {"x": 1.0, "text": high, "align": "right"}]
    return svg(columns_shape(), rows=values, ends=ends)


def _values(i: int, row: Row) -> dict[str, Any]:
    figures = {f"figure{n}": text for n, text in enumerate(row.figures)}
    ink = ALARM if row.rule else MUTED if row.quiet else INK
    lengths = {"back": _unit(row.back), "front": _unit(row.front), "tone": row.tone, "rule": int(row.rule)}
    return {"i": i, "label": cut(row.label, most=21), "ink": ink, **lengths, **figures}


def _unit(value: float) -> float:
    """A length that fits; what is above 0 stays visible."""
    return min(max(value, 0.01), 1.0) if value > 0 else 0.0


def svg(shape: Shape, **tables: Sequence[Mapping[str, Any]]) -> str:
    """The picture of these tables, with the page's colours."""
    shared = shape.get("datasets", {})
    return _drawn(json.dumps(_printable({**shape, "datasets": {**shared, **tables}})))


@lru_cache(maxsize=512)
def _drawn(specification: str) -> str:
    """The picture of a specification; a page that is made again, or for the steward too, shows the same ones."""
    import vl_convert

    return _TAG.sub(_clean, vl_convert.vegalite_to_svg(json.loads(specification)))


def _printable(value: Any) -> Any:
    """A specification whose texts have no character that XML does not allow: the renderer would end the process."""
    if isinstance(value, str):
        return seen(value)
    if isinstance(value, Mapping):
        return {name: _printable(one) for name, one in value.items()}
    return [_printable(one) for one in value] if isinstance(value, list | tuple) else value


_TAG = re.compile(r'<(?:[^<>"]|"[^"]*")+>')
"""A tag with its attributes, whatever stands between their quotes."""
_NOISE = re.compile(
    r' (?:class|role|aria-[a-z]+|font-family|pointer-events|version|xmlns(?::xlink)?|stroke-miterlimit)="[^"]*"'
)
_MARKER = re.compile(r'"(#0[1-6]0[1-6]0[1-6])"')
_LONG = re.compile(r"(\d+\.\d{2})\d+")
_VARIABLES = {INK: "ink", MUTED: "muted", BEFORE: "before", AFTER: "after", TRACK: "track", ALARM: "alarm"}


def _clean(found: re.Match[str]) -> str:
    """A tag with the page's colours and without what only scripts need."""
    tag = _NOISE.sub("", found[0])
    if tag.startswith("<path") and ("display=" in tag or "fill=" not in tag):
        return ""
    coloured = _MARKER.sub(lambda marker: f'"var(--{_VARIABLES[marker[1]]})"', tag)
    return _LONG.sub(r"\1", coloured)
