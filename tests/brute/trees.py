"""What top-down and bottom-up both speak of, literally: trees as nested dicts, intervals, entropy, requirements.

A row is a tuple of values, one per column; a missing value is ``?``. A column is a ``Tree`` (for each value the labels
above it, nearest first, without the root) or a ``Line`` (numbers, with their declared limits if there are any).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import log2
from typing import Any, NamedTuple

MISSING = "?"
TOP = "*"
Row = tuple[Any, ...]
Shown = tuple[str, ...]
Requirement = Callable[[Sequence[Shown]], bool]
Nested = dict[str, "Nested"]
Step = tuple[int, str, tuple[str, ...], float, int]
"""Column, coarse label, fine labels, score, rows of the smallest class afterwards."""


class Tree(NamedTuple):
    """A column with a taxonomy."""

    above: dict[str, tuple[str, ...]]


class Line(NamedTuple):
    """A column of numbers without a taxonomy."""

    low: float | None = None
    high: float | None = None


class Found(NamedTuple):
    """The steps, the rows as they are shown at the end, and whether rounding decided anything it should not."""

    steps: list[Step]
    rows: list[Shown]
    close: bool
    enough: int | None = None


def nested(tree: Tree, values: Iterable[str]) -> Nested:
    """The part of a tree that lies above some values; a missing value lies just below the root."""
    root: Nested = {}
    for value in sorted(set(values) - {MISSING}):
        node = root
        for label in (*reversed(tree.above[value]), value):
            node = node.setdefault(label, {})
    if MISSING in values:
        root[MISSING] = {}
    return {label: without_repeats(label, below) for label, below in root.items()}


def without_repeats(label: str, below: Nested) -> Nested:
    """A node whose only child is called as itself is one with it."""
    while list(below) == [label]:
        below = below[label]
    return {name: without_repeats(name, lower) for name, lower in below.items()}


def leaves(label: str, below: Nested) -> set[str]:
    """The values under a node."""
    return {leaf for name, lower in below.items() for leaf in leaves(name, lower)} if below else {label}


def entropy(classes: Iterable[Hashable]) -> float:
    """In bits."""
    counts = Counter(classes)
    return -sum(n / counts.total() * log2(n / counts.total()) for n in counts.values())


def gain(groups: Sequence[Sequence[Hashable]]) -> float:
    """The entropy of all classes together, less the mean entropy of the groups."""
    everything = [one for group in groups for one in group]
    return entropy(everything) - sum(len(group) / len(everything) * entropy(group) for group in groups if group)


def smallest(rows: Sequence[Shown]) -> int:
    return min(Counter(rows).values())


def roundest(a: float, b: float) -> float:
    """The multiple of the largest power of ten in (a, b], closest to the middle, the smaller of two."""
    low, high = Fraction(Decimal(str(a))), Fraction(Decimal(str(b)))
    for power in range(20, -20, -1):
        step = Fraction(10) ** power
        inside = [n * step for n in range(low // step, high // step + 1) if low < n * step <= high]
        if inside:
            return float(min(inside, key=lambda x: (abs(x - (low + high) / 2), x)))
    raise AssertionError((a, b))


def written(number: float) -> str:
    return str(int(number)) if number == int(number) else str(float(number))


def interval_label(line: Line, low: float | None, high: float | None) -> str:
    """The interval from ``low`` up to ``high``; None is an end of the whole range, which is told only if declared."""
    if low is None and high is None:
        return TOP
    if line.low is None and low is None:
        return f"<{written(high)}"
    if line.high is None and high is None:
        return f">={written(low)}"
    first, last = line.low if low is None else low, line.high if high is None else high
    return f"[{written(first)}{'-' if first >= 0 else ' to '}{written(last)}{']' if high is None else ')'}"


def nearly_equal(scores: Sequence[float]) -> bool:
    """Whether two scores differ by so little that rounding to 12 decimals may tell them apart or not, by chance."""
    return any(round(x, 12) != round(y, 12) and abs(x - y) < 1e-10 for x, y in combinations(scores, 2))


def groups(rows: Sequence[Shown], known: Sequence[int], sensitive: Sequence[str]) -> list[list[str]]:
    """The sensitive values of the rows that agree in the known columns."""
    found: dict[Shown, list[str]] = {}
    for row, value in zip(rows, sensitive, strict=True):
        found.setdefault(tuple(row[c] for c in known), []).append(value)
    return list(found.values())


def k_anonymous(k: int) -> Requirement:
    return lambda rows: smallest(rows) >= k


def lkc_private(l: int, k: int, c: Fraction, sensitive: Sequence[str], named: Sequence[str]) -> Requirement:
    """Every qid of 1 to l columns has k rows, and no named value has a share above c among them."""

    def met(rows: Sequence[Shown]) -> bool:
        width = len(rows[0])
        return all(
            len(group) >= k and all(Fraction(group.count(value), len(group)) <= c for value in named)
            for size in range(1, min(l, width) + 1)
            for known in combinations(range(width), size)
            for group in groups(rows, known, sensitive)
        )

    return met


def alpha_k_anonymous(alpha: Fraction, k: int, sensitive: Sequence[str], named: Sequence[str]) -> Requirement:
    return lambda rows: lkc_private(len(rows[0]), k, alpha, sensitive, named)(rows)


def l_diverse(l: int, sensitive: Sequence[str]) -> Requirement:
    return lambda rows: all(len(set(group)) >= l for group in groups(rows, range(len(rows[0])), sensitive))


def all_of(*requirements: Requirement) -> Requirement:
    return lambda rows: all(met(rows) for met in requirements)
