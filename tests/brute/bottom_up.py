"""Bottom-up generalization as Wang, Yu and Chakraborty say it: each is weighed by applying it to all rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
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
    written,
)


@dataclass(eq=False)
class Part:
    """What the current cut of a column shows as one label."""

    column: int
    label: str
    values: set[Any]
    low: float | None = None
    high: float | None = None


@dataclass(eq=False)
class Generalization:
    """{c} -> p."""

    coarse: Part
    fine: list[Part]
    place: tuple[str, float]
    information: float = 0.0
    gained: int = 0
    shown: Sequence[Shown] = ()

    def score(self, name: str) -> float:
        return self.information / self.gained if self.gained > 0 and name == "information-privacy" else self.information


@dataclass
class BottomUp:
    """The table and the cut."""

    rows: Sequence[Row]
    columns: Sequence[Tree | Line]
    classes: Sequence[Hashable]

    def __post_init__(self) -> None:
        held = [{row[c] for row in self.rows} for c in range(len(self.columns))]
        self.trees = [
            nested(one, v) if isinstance(one, Tree) else {} for one, v in zip(self.columns, held, strict=True)
        ]
        self.cut = [part for c, values in enumerate(held) for part in self.start(c, values)]

    def start(self, c: int, values: set[Any]) -> list[Part]:
        """Values, or intervals of one number each with the roundest numbers between them; a lone number is itself."""
        if isinstance(self.columns[c], Tree):
            return [Part(c, value, {value}) for value in values]
        numbers = sorted(values - {MISSING})
        if len(numbers) < 2:
            return [Part(c, value if value == MISSING else written(value), {value}) for value in values]
        edges = [None, *(roundest(a, b) for a, b in pairwise(numbers)), None]
        made = [self.interval(c, {x}, *ends) for x, ends in zip(numbers, pairwise(edges), strict=True)]
        return [*made, Part(c, MISSING, {MISSING})] if MISSING in values else made

    def interval(self, c: int, values: set[Any], low: float | None, high: float | None) -> Part:
        return Part(c, interval_label(self.columns[c], low, high), values, low, high)

    def shown(self, cut: Sequence[Part]) -> list[Shown]:
        def label(c: int, value: Any) -> str:
            return next(part.label for part in cut if part.column == c and value in part.values)

        return [tuple(label(c, value) for c, value in enumerate(row)) for row in self.rows]

    def valid(self) -> Iterator[Generalization]:
        """Every parent all of whose children are in the cut; every two neighbouring intervals."""
        for c, column in enumerate(self.columns):
            parts = [part for part in self.cut if part.column == c]
            yield from self.nodes(c, parts) if isinstance(column, Tree) else self.merges(c, parts)

    def nodes(self, c: int, parts: list[Part]) -> Iterator[Generalization]:
        shown = {frozenset(part.values): part for part in parts if part.label != TOP}
        waiting: list[tuple[str, Nested]] = [(TOP, self.trees[c])]
        while waiting:
            label, below = waiting.pop()
            waiting.extend(below.items())
            fine = [_shown_as(name, lower, shown) for name, lower in below.items()]
            if below and None not in fine:
                yield Generalization(Part(c, label, leaves(label, below)), [one for one in fine if one], (label, 0.0))

    def merges(self, c: int, parts: list[Part]) -> Iterator[Generalization]:
        missing = [part for part in parts if part.values == {MISSING}]
        intervals = sorted((part for part in parts if part not in missing), key=_low)
        if len(intervals) == 1 and intervals[0].label != TOP:  # a lone number
            fine = [*intervals, *missing]
            yield Generalization(Part(c, TOP, set().union(*(part.values for part in fine))), fine, ("", -inf))
        for one, other in pairwise(intervals):
            absorbed = missing if len(intervals) == 2 else []
            values = set().union(*(part.values for part in (one, other, *absorbed)))
            coarse = self.interval(c, values, one.low, other.high)
            yield Generalization(coarse, [one, other, *absorbed], ("", _low(one)))

    def weigh(self, made: Generalization, k: int) -> Generalization:
        """Information lost and anonymity gained."""
        c = made.coarse.column
        made.information = gain(
            [[y for row, y in zip(self.rows, self.classes, strict=True) if row[c] in p.values] for p in made.fine]
        )
        made.shown = self.shown([part for part in self.cut if part not in made.fine] + [made.coarse])
        made.gained = min(smallest(made.shown), k) - smallest(self.shown(self.cut))
        return made


def _low(part: Part) -> float:
    return -inf if part.low is None else part.low


def _shown_as(name: str, below: Nested, shown: dict[frozenset[Any], Part]) -> Part | None:
    """The part of the cut that is this very node."""
    part = shown.get(frozenset(leaves(name, below)))
    return part if part is not None and part.label == name else None


def bottom_up(
    rows: Sequence[Row],
    columns: Sequence[Tree | Line],
    classes: Sequence[Hashable],
    met: Requirement,
    *,
    k: int = 1,
    score: str = "information-privacy",
    steps: int = 0,
) -> Found | None:
    """The trail and the rows; None if not even the top meets the requirement."""
    state = BottomUp(rows, columns, classes)
    trail: list[Step] = []
    close, enough = False, 0 if met(state.shown(state.cut)) else None
    while enough is None or len(trail) < steps:
        found = [state.weigh(made, k) for made in state.valid()]
        if score == "information-privacy" and any(made.gained > 0 for made in found):
            found = [made for made in found if made.gained > 0]
        if not found:
            return None if enough is None else Found(trail, state.shown(state.cut), close, enough)
        close |= nearly_equal([made.score(score) for made in found])
        best = min(found, key=lambda made: (round(made.score(score), 12), made.coarse.column, made.place))
        state.cut = [part for part in state.cut if part not in best.fine] + [best.coarse]
        labels = tuple(part.label for part in best.fine)
        trail.append((best.coarse.column, best.coarse.label, labels, best.score(score), smallest(best.shown)))
        if enough is None and met(best.shown):
            enough = len(trail)
    return Found(trail, state.shown(state.cut), close, enough)


def cuts(label: str, below: Nested) -> Iterator[list[tuple[str, set[str]]]]:
    """Every cut through a tree: a node by itself, or a cut through each of its children."""
    yield [(label, leaves(label, below))]
    if below:
        for parts in product(*(list(cuts(name, lower)) for name, lower in below.items())):
            yield [node for part in parts for node in part]


def least_loss(rows: Sequence[Row], columns: Sequence[Tree], met: Requirement) -> float | None:
    """The loss metric of the best of all combinations of cuts; None if none meets the requirement."""
    trees = [nested(tree, tree.above) for tree in columns]
    best = None
    for chosen in product(*(list(cuts(TOP, tree)) for tree in trees)):
        shown = [
            tuple(next(node for node, held in cut if value in held) for value, cut in zip(row, chosen, strict=True))
            for row in rows
        ]
        if met(shown):
            loss = sum(_lost(row, chosen, trees) for row in rows) / len(rows) / len(columns)
            best = loss if best is None else min(best, loss)
    return best


def _lost(row: Row, chosen: Sequence[list[tuple[str, set[str]]]], trees: Sequence[Nested]) -> float:
    """What the labels of one row cost: the other values under each, of all other values."""
    total = 0.0
    for value, cut, tree in zip(row, chosen, trees, strict=True):
        held, others = next(held for _, held in cut if value in held), len(leaves(TOP, tree)) - 1
        total += (len(held) - 1) / others if others else 0.0
    return total
