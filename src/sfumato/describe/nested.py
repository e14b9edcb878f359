"""Trees of intervals, as levels: where one branch is deeper than another, the shallow interval stays as it is."""

from __future__ import annotations

import re
from itertools import pairwise
from math import isfinite

from sfumato.describe.braces import Branch, refusal
from sfumato.describe.ranges import Grown, Intervals
from sfumato.describe.spans import Span

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_SPAN = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")


def nested_intervals(root: Branch, *, source: str) -> Intervals | Grown:
    """The levels of a tree whose nodes are ``low-high``; without any node below the root, only the range.

    Intervals are half-open, the last one is closed; those below a node must fill it without gap or overlap.

    >>> from sfumato.describe.braces import braces
    >>> nested_intervals(braces([(1, "{0-9 {0-4 {0-2} {2-4}} {4-9}}")], source="demo"), source="demo").cuts
    ((2.0, 4.0), (4.0,))
    """
    low, high = _span(root, source)
    levels: list[tuple[float, ...]] = []
    current = [root]
    while any(_below(node) for node in current):
        for node in current:
            _refuse_gaps(node, source)
        current = [part for node in current for part in (_below(node) or (node,))]
        cuts = tuple(_span(node, source)[0] for node in current[1:])
        if cuts and cuts not in levels:
            levels.append(cuts)
    return Intervals(cuts=tuple(reversed(levels)), low=low, high=high) if levels else Grown(low=low, high=high)


def _below(node: Branch) -> tuple[Branch, ...]:
    """The intervals below a node; ``{ignored}`` stands for none."""
    if len(node.children) == 1 and node.children[0].label == "ignored" and not node.children[0].children:
        return ()
    return node.children


def _refuse_gaps(node: Branch, source: str) -> None:
    if not (parts := _below(node)):
        return
    whole, spans = _span(node, source), [_span(part, source) for part in parts]
    for part, ((_, end), (start, _)) in zip(parts[1:], pairwise(spans), strict=True):
        if start != end:
            raise refusal(source, part.line, f"{part.label!r} must begin where the interval before it ends, at {end:g}")
    if (spans[0][0], spans[-1][1]) != whole:
        raise refusal(
            source, node.line, f"the intervals below {node.label!r} run from {spans[0][0]:g} to {spans[-1][1]:g}"
        )


def _span(node: Branch, source: str) -> Span:
    said = _SPAN.fullmatch(node.label)
    low, high = (float(said[1]), float(said[2])) if said else (0.0, 0.0)
    if not (low < high and isfinite(low) and isfinite(high)):
        raise refusal(source, node.line, f"an interval is low-high with low below high, not {node.label!r}")
    return low, high
