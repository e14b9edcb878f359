"""Binary splits by the gini index on counts of cells, and pruning by doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.collect.noise_laws import Reals, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Below a number of a column, or from it on."""

    column: int
    """The column, by its place."""
    threshold: float
    """The smallest number of the upper part."""
    gain: float
    """By how much the gini index falls."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A node of a tree."""

    counts: Reals
    """Records of every class."""
    split: Split | None = None
    """None in a leaf."""
    children: tuple[Node, ...] = ()
    """Below the split, and from it on."""

    @property
    def errors(self) -> float:
        """Records of other classes than the most frequent one."""
        return float(self.counts.sum() - self.counts.max())

    @property
    def leaves(self) -> int:
        """How many there are below, or 1."""
        return sum(one.leaves for one in self.children) if self.children else 1


def is_worth(counts: Reals, least: int) -> bool:
    """Whether a node has several classes, and records for two parts."""
    return bool((counts > 0).sum() > 1 and counts.sum() >= 2 * least)


def best_split(cells: Whole, codes: Whole, edges: Sequence[Reals], classes: int, least: int) -> Split | None:
    """The split with the lowest gini index; None where every part would have too few records, or nothing is gained."""
    found: Split | None = None
    for column, ends in enumerate(edges):
        size = len(ends) - 1
        table = np.bincount(cells[column] * classes + codes, minlength=size * classes).reshape(size, classes)
        one = split_of(table.astype(np.float64), least)
        if one is not None and (found is None or one[1] > found.gain):
            found = Split(column=column, threshold=float(ends[one[0]]), gain=one[1])
    return found


def split_of(table: Reals, least: float) -> tuple[int, float] | None:
    """The best place to cut counts of cells x classes, whole or real, and what it gains.

    >>> split_of(np.array([[5.0, 0], [4, 1], [0, 6]]), 1)[0]
    2
    """
    below = np.cumsum(table, axis=0)[:-1]
    whole = table.sum(axis=0)
    left, total = below.sum(axis=1), float(whole.sum())
    right = total - left
    good = (left >= least) & (right >= least)
    if not good.any():
        return None
    parts = (below**2).sum(axis=1) / np.maximum(left, 1e-300) + ((whole - below) ** 2).sum(axis=1) / np.maximum(
        right, 1e-300
    )
    gains = np.where(good, (parts - (whole**2).sum() / total) / total, -1.0)
    place = int(gains.argmax())
    return (place + 1, float(gains[place])) if gains[place] > 1e-12 else None


def pruned(node: Node, doubts: float) -> Node:
    """The tree without the parts that save no more errors than chance would.

    A part of so many leaves is kept where it saves more than ``doubts`` standard deviations of the errors of the node,
    and at least half an error for each of its leaves.
    """
    if node.split is None:
        return node
    kept = Node(counts=node.counts, split=node.split, children=tuple(pruned(one, doubts) for one in node.children))
    share = node.errors / max(float(node.counts.sum()), 1.0)
    chance = doubts * np.sqrt(node.errors * (1 - share))
    saved = node.errors - _left(kept)
    return kept if saved > max(chance, kept.leaves / 2) else Node(counts=node.counts)


def _left(node: Node) -> float:
    return sum(_left(one) for one in node.children) if node.children else node.errors
