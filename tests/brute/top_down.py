"""Top-down specialization as the thesis says it (chapter 3): every candidate is tried on all rows, every round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

from tests.brute.trees import (
    MISSING,
    TOP,
    Found,
    Line,
    Nested,
    Requirement,
    Row,
    Shown,
    Step,
    Tree,
    gain,
    interval_label,
    leaves,
    nearly_equal,
    nested,
    roundest,
    smallest,
)


@dataclass(eq=False)
class Part:
    """What the current cut of a column shows as one label."""

    column: int
    label: str
    values: set[Any]
    below: Nested | None = None
    low: float | None = None
    high: float | None = None
    dropped: bool = False


@dataclass
class TopDown:
    """The table, the cut, and how candidates are scored."""

    rows: Sequence[Row]
    columns: Sequence[Tree | Line]
    classes: Sequence[Hashable] | None
    score: str
    close: bool = False

    def __post_init__(self) -> None:
        self.cut = [self.root(c, column) for c, column in enumerate(self.columns)]

    def root(self, c: int, column: Tree | Line) -> Part:
        values = {row[c] for row in self.rows}
        return Part(c, TOP, values, nested(column, values) if isinstance(column, Tree) else None)

    def shown(self, cut: Sequence[Part]) -> list[Shown]:
        def label(c: int, value: Any) -> str:
            return next(part.label for part in cut if part.column == c and value in part.values)

        return [tuple(label(c, value) for c, value in enumerate(row)) for row in self.rows]

    def classes_of(self, part: Part) -> list[Hashable]:
        """The classes of T[v]."""
        assert self.classes is not None
        return [y for row, y in zip(self.rows, self.classes, strict=True) if row[part.column] in part.values]

    def children(self, part: Part) -> list[Part]:
        """What a label is specialized to; nothing if it cannot be."""
        if part.below is not None:
            return [Part(part.column, name, leaves(name, low), low) for name, low in part.below.items()]
        numbers = sorted(part.values - {MISSING})
        if part.label == MISSING or len(numbers) < 2:
            return []
        splits = [self.split(part, a, b) for a, b in pairwise(numbers)]
        if self.score == "discernibility":
            return min(splits, key=lambda halves: sum(self.count(half) ** 2 for half in halves[:2]))
        gains = [self.gain_of(halves) for halves in splits]
        self.close |= any(1e-13 < max(gains) - one < 1e-11 for one in gains)
        return next(halves for halves, one in zip(splits, gains, strict=True) if one >= max(gains) - 1e-12)

    def split(self, part: Part, a: float, b: float) -> list[Part]:
        """The two intervals, and the missing value beside them if it was in the interval."""
        line, edge = self.columns[part.column], roundest(a, b)
        known = part.values - {MISSING}
        halves = [(part.low, edge, {x for x in known if x <= a}), (edge, part.high, {x for x in known if x >= b})]
        made = [Part(part.column, interval_label(line, x, y), held, None, x, y) for x, y, held in halves]
        return [*made, Part(part.column, MISSING, {MISSING})] if MISSING in part.values else made

    def count(self, part: Part) -> int:
        return sum(row[part.column] in part.values for row in self.rows)

    def gain_of(self, parts: Sequence[Part]) -> float:
        return gain([self.classes_of(part) for part in parts])

    def score_of(self, part: Part) -> float:
        if self.score == "gain":
            return self.gain_of(self.children(part))
        sizes = Counter(self.shown(self.cut))
        return float(sum(size**2 for key, size in sizes.items() if key[part.column] == part.label))

    def candidates(self) -> list[tuple[float, Part]]:
        """Those not dropped yet, best first."""
        found = [(self.score_of(part), part) for part in self.cut if not part.dropped and self.children(part)]
        self.close |= nearly_equal([score for score, _ in found])
        return sorted(found, key=lambda one: (-round(one[0], 12), one[1].column, *_place(one[1])))


def _place(part: Part) -> tuple[str, float]:
    """Label text for nodes, lower end for intervals."""
    if part.below is not None:
        return part.label, 0.0
    return "", -inf if part.low is None else part.low


def top_down(
    rows: Sequence[Row],
    columns: Sequence[Tree | Line],
    classes: Sequence[Hashable] | None,
    met: Requirement,
    *,
    score: str,
    steps: int | None = None,
) -> Found | None:
    """The trail and the rows; None if not even the top meets the requirement."""
    state = TopDown(rows, columns, classes, score)
    if not met(state.shown(state.cut)):
        return None
    trail: list[Step] = []
    while steps is None or len(trail) < steps:
        for value, part in state.candidates():
            finer = state.children(part)
            tried = [one for one in state.cut if one is not part] + finer
            if met(shown := state.shown(tried)):
                state.cut = tried
                trail.append((part.column, part.label, tuple(one.label for one in finer), value, smallest(shown)))
                break
            part.dropped = True
        else:
            break
    return Found(trail, state.shown(state.cut), state.close)
