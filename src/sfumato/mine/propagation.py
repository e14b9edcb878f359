"""What a node is told by the nodes below it, or by those it is merged from (section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.mine.tree_document import TreeDocument

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Told:
    """The class, hit and miss of several nodes, and their counts where those are known."""

    says: Whole
    """The most frequent class."""
    hit: Whole
    """Records of it."""
    miss: Whole
    """Other records."""
    counts: Whole | None = None
    """Nodes x classes."""


def estimated_counts(told: Told, classes: int) -> list[Fraction]:
    """The records of every class in the union of some nodes, where misses are spread evenly (equation 2)."""
    return [Fraction(int(one), max(classes - 1, 1)) for one in _scaled(told.says, told.hit, told.miss, classes)]


def _scaled(says: Whole, hit: Whole, miss: Whole, classes: int) -> Whole:
    """Equation 2 times the number of other classes, in whole numbers."""
    others = max(classes - 1, 1)
    hits = np.zeros(classes, np.int64)
    misses = np.zeros(classes, np.int64)
    np.add.at(hits, says, hit)
    np.add.at(misses, says, miss)
    return np.asarray(hits * others + (int(miss.sum()) - misses))


def united(told: Told, classes: int) -> tuple[int, int, int]:
    """The class, hit and miss of the union of some nodes (equations 2 and 3); of equal classes the first.

    >>> node = Told(says=np.array([0, 1]), hit=np.array([3, 5]), miss=np.array([0, 4]))
    >>> united(node, 5)
    (1, 5, 7)
    """
    scaled = _scaled(told.says, told.hit, told.miss, classes)
    says = int(scaled.argmax())
    hit = -(-int(scaled[says]) // max(classes - 1, 1))
    return says, hit, int(told.hit.sum() + told.miss.sum()) - hit


def pairs(one: tuple[int, int, int], others: Told, classes: int) -> Told:
    """One node merged with each of some others, by equations 2 and 3."""
    n, m = len(others.says), max(classes - 1, 1)
    says, hit, miss = one
    rows = np.arange(n)
    scaled = np.full((n, classes), miss, np.int64) + others.miss[:, None]
    scaled[:, says] += hit * m - miss
    scaled[rows, others.says] += others.hit * m - others.miss
    best = scaled.argmax(axis=1)
    hits = -(-scaled[rows, best] // m)
    return Told(says=best, hit=hits, miss=hit + miss + others.hit + others.miss - hits)


def propagated(tree: TreeDocument) -> Told:
    """The class, hit and miss of every node, from the leaves up: exact where counts are known, else by equation 2."""
    says, hit, miss = tree.says.copy(), tree.hit.copy(), tree.miss.copy()
    counts = None if tree.counts is None else tree.counts.copy()
    for node in range(tree.nodes - 1, -1, -1):
        below = list(tree.children[node])
        if not below:
            continue
        if counts is not None:
            counts[node] = counts[below].sum(axis=0)
            says[node] = counts[node].argmax()
            hit[node] = counts[node].max()
            miss[node] = counts[node].sum() - hit[node]
        else:
            told = Told(says=says[below], hit=hit[below], miss=miss[below])
            says[node], hit[node], miss[node] = united(told, len(tree.classes))
    return Told(says=says, hit=hit, miss=miss, counts=counts)
