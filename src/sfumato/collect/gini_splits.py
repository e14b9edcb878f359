"""Binary splits by the gini index on counts of cells, and pruning by doubt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.noise_laws import Reals, Whole

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Below a number of a column or from it on; or some of its categories, and all others."""

    column: int
    """The column, by its place."""
    threshold: float
    """The smallest number of the upper part; NaN where categories are split."""
    gain: float
    """By how much the gini index falls."""
    chosen: frozenset[int] = frozenset()
    """Of categories: the cells of the first part."""

    def first(self, values: Reals | Whole) -> Flags:
        """Which records go to the first part, by their numbers or by the cells of their categories."""
        if self.chosen:
            return np.isin(values, list(self.chosen))
        return np.asarray(values < self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A node of a tree."""

    counts: Reals
    """Records of every class."""
    split: Split | None = None
    """None in a leaf."""
    children: tuple[Node, ...] = ()
    """The first part of the split, and the other."""

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


def best_of(splits: Iterable[Split | None]) -> Split | None:
    """The split with the lowest gini index, the first of equal ones; None where there is none."""
    found: Split | None = None
    for one in splits:
        if one is not None and (found is None or one.gain > found.gain):
            found = one
    return found


def split_on(column: int, table: Reals, edges: Reals | None, least: float) -> Split | None:
    """The best split by one column: of numbers, whose cells begin at edges, or of categories.

    None where every part would have too few records, or nothing is gained.
    """
    if edges is None:
        some = subset_of(table, least)
        return None if some is None else Split(column=column, threshold=nan, gain=some[1], chosen=some[0])
    cut = split_of(table, least)
    return None if cut is None else Split(column=column, threshold=float(edges[cut[0]]), gain=cut[1])


def subset_of(table: Reals, least: float) -> tuple[frozenset[int], float] | None:
    """The best division of categories into two parts, by counts of categories x classes, and what it gains.

    Categories in the order of a class's share are cut once; of more than two classes, the orders of all their shares.
    Both parts have at least so many rows.

    Claim: of two classes no division is better, where the best one has enough rows in both parts, as any has with
        ``least`` = 1 and whole counts. Where it has not, only other cuts of the same order are tried: another division
        may be allowed and gain more.
    Source: Breiman, Friedman, Olshen and Stone 1984, theorem 4.5.

    >>> subset_of(np.array([[5.0, 1], [0, 6], [4, 0]]), 1)[0]
    frozenset({1})
    """
    there = np.flatnonzero(table.sum(axis=1) > 0)
    shares = table[there] / table[there].sum(axis=1, keepdims=True)
    found: tuple[frozenset[int], float] | None = None
    for one in range(1 if table.shape[1] == 2 else table.shape[1]):
        order = there[np.argsort(shares[:, one], kind="stable")]
        cut = split_of(table[order], least) if len(order) > 1 else None
        if cut is not None and (found is None or cut[1] > found[1]):
            found = frozenset(order[: cut[0]].tolist()), cut[1]
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
