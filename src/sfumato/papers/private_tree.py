"""A decision tree that asks differentially private questions: DiffP-C4.5 of Friedman and Schuster (2010).

The tree is grown from the top. A node asks for its noisy size; where that is large enough it chooses a split point for
every number and then an attribute, each by a private choice scored by the Max operator (how many rows the most frequent
classes of the parts have: one row moves it by at most 1). A leaf asks for noisy counts of its classes. The rows of two
nodes of one level are different rows, so a level costs what one node costs: one count, n split points and one choice.
With n numbers and depth d everything costs (2 + n) d + 2 equal parts of epsilon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.counts import noisy_counts
from sfumato.noise.selection import chosen
from sfumato.publish.noisy_table import PrivateTable

Codes = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node: what it says, and where it sends a row."""

    says: int
    """The most frequent class of its rows, by noisy counts; of an inner node, not used."""
    column: int = -1
    """The attribute that it asks for; -1 in a leaf."""
    cell: int = -1
    """Of a number, the last cell that goes to the first part; -1 of a category."""
    parts: tuple[Node, ...] = ()
    """One for each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTree:
    """Grows a tree whose every question is paid from epsilon."""

    epsilon: Fraction
    """Of the whole tree."""
    depth: int = 5
    """How many questions lead to a leaf at most."""

    def grown(self, table: PrivateTable, columns: Sequence[Codes], kinds: Codes) -> Node:
        """A tree over declared domains; ``columns`` and ``kinds`` are the codes of the rows."""
        numbers = [n for n, one in enumerate(table.attributes) if one.kind == "number"]
        part = Fraction(self.epsilon) / ((2 + len(numbers)) * self.depth + 2)
        sizes = [len(one.values) for one in table.attributes]
        grower = _Grower(columns, kinds, len(table.classes), sizes, frozenset(numbers), part)
        return grower.node(np.ones(len(kinds), np.bool_), tuple(range(len(sizes))), self.depth)


def predicted(tree: Node, columns: Sequence[Codes], rows: int) -> Codes:
    """The class of every row."""
    found = np.zeros(rows, np.int64)
    waiting = [(tree, np.arange(rows))]
    while waiting:
        node, here = waiting.pop()
        if node.column < 0:
            found[here] = node.says
            continue
        codes = columns[node.column][here]
        side = codes if node.cell < 0 else (codes > node.cell).astype(np.int64)
        waiting += [(child, here[side == n]) for n, child in enumerate(node.parts)]
    return found


class _Grower:
    def __init__(
        self,
        columns: Sequence[Codes],
        kinds: Codes,
        classes: int,
        sizes: Sequence[int],
        numbers: frozenset[int],
        part: Fraction,
    ) -> None:
        self.columns, self.kinds, self.classes, self.sizes = columns, kinds, classes, sizes
        self.numbers, self.part = numbers, part
        self.widest = max((size for n, size in enumerate(sizes) if n not in numbers), default=2)

    def node(self, here: Mask, left: tuple[int, ...], depth: int) -> Node:
        size = int(noisy_counts(np.array([here.sum()]), epsilon=self.part).values[0])
        if not left or not depth or size / (self.widest * self.classes) < sqrt(2) / float(self.part):
            counts = np.bincount(self.kinds[here], minlength=self.classes)
            return Node(says=int(noisy_counts(counts, epsilon=self.part).values.argmax()))
        tables = {n: self._counts(n, here) for n in left}
        cells = {n: self._split(tables[n]) for n in left if n in self.numbers}
        scores = [self._max(tables[n], cells.get(n, -1)) for n in left]
        column = left[chosen(scores, sensitivity=1, epsilon=self.part, monotonic=True)[0]]
        codes, cell = self.columns[column], cells.get(column, -1)
        side = codes if cell < 0 else (codes > cell).astype(np.int64)
        rest = left if column in self.numbers else tuple(n for n in left if n != column)
        many = self.sizes[column] if cell < 0 else 2
        parts = tuple(self.node(here & (side == n), rest, depth - 1) for n in range(many))
        return Node(says=0, column=column, cell=cell, parts=parts)

    def _counts(self, column: int, here: Mask) -> NDArray[np.int64]:
        """Values x classes."""
        codes = self.columns[column][here].astype(np.int64) * self.classes + self.kinds[here]
        return np.bincount(codes, minlength=self.sizes[column] * self.classes).reshape(-1, self.classes)

    def _split(self, table: NDArray[np.int64]) -> int:
        """A split point among all cells of the grid but the last."""
        if len(table) < 2:
            return 0
        below = table.cumsum(axis=0)[:-1]
        scores = below.max(axis=1) + (table.sum(axis=0) - below).max(axis=1)
        return chosen(scores, sensitivity=1, epsilon=self.part, monotonic=True)[0]

    def _max(self, table: NDArray[np.int64], cell: int) -> float:
        if cell >= 0:
            below = table[: cell + 1].sum(axis=0)
            return float(below.max() + (table.sum(axis=0) - below).max())
        return float(table.max(axis=1).sum())
