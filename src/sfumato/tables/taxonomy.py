"""The taxonomy over a column's values, and halved nodes where a node has many children."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.tables.table import Codes

# A taxonomy: the tree over the values of one column, whose leaves may lie at different depths.


TOP = "*"
Trunk = tuple[str, ...]
"""A node as the labels from just below the root down to it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Taxonomy:
    """Nodes in preorder; node 0 is the root, ``*``. A node stands for all values below it."""

    labels: tuple[str, ...]
    """What each node is called; two nodes in different places may be called the same."""
    parent: Codes
    """The node above each node; -1 for the root."""
    steps: NDArray[np.float64]
    """How many levels each node lies above the leaves; 0 for a leaf, the height for the root."""
    sizes: NDArray[np.float64]
    """How many leaves of the whole domain each node covers, or how wide it is."""
    leaf: Codes
    """For each value of the column (by code), its node."""

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes below each node, in order."""
        children: list[list[int]] = [[] for _ in self.labels]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                children[above].append(node)
        return tuple(map(tuple, children))

    @cached_property
    def last(self) -> Codes:
        """The last node below each node: in preorder, a node covers itself up to here."""
        ends = np.arange(len(self.labels), dtype=np.int32)
        for node in range(len(self.labels) - 1, 0, -1):
            ends[self.parent[node]] = max(ends[self.parent[node]], ends[node])
        return ends

    def covers(self, node: int) -> NDArray[np.bool_]:
        """Which values (by code) lie below a node."""
        return np.asarray((self.leaf >= node) & (self.leaf <= self.last[node]))

    def node_at(self, cut: NDArray[np.bool_]) -> Codes:
        """For each value, the highest node of a cut above it; ``cut`` marks nodes, and every value has one."""
        node_of = np.full(len(self.labels), -1, np.int32)
        for node, above in enumerate(self.parent.tolist()):
            inherited = -1 if above < 0 else node_of[above]
            node_of[node] = inherited if inherited >= 0 else (node if cut[node] else -1)
        return node_of[self.leaf]


def taxonomy(
    trunks: Sequence[Trunk], sizes: Mapping[Trunk, float], *, total: float, height: int, leaf: float = 1.0
) -> Taxonomy:
    """The tree of all values, each given by its labels from just below the root down to the value itself.

    A node with nothing below but one node of the same name is one with it. A trunk without a size has that of a leaf.

    >>> found = taxonomy([("East", "a"), ("East", "b"), ("c", "c")], {("East",): 2.0}, total=3.0, height=2)
    >>> found.labels, found.parent.tolist(), found.steps.tolist(), found.leaf.tolist()
    (('*', 'East', 'a', 'b', 'c'), [-1, 0, 1, 1, 0], [2.0, 1.0, 0.0, 0.0, 0.0], [2, 3, 4])
    """
    below = _below(trunks)
    ends = set(trunks)
    places: dict[Trunk, int] = {}
    nodes: list[Trunk] = []
    parent: list[int] = []
    waiting: list[tuple[Trunk, int]] = [((), -1)]
    while waiting:
        node, above = waiting.pop()
        places[node] = len(nodes)
        while (only := _repeated(node, below)) is not None:
            node = only
            places[node] = len(nodes)
        waiting.extend((child, len(nodes)) for child in reversed(below[node]))
        nodes.append(node)
        parent.append(above)
    return Taxonomy(
        labels=tuple(node[-1] if node else TOP for node in nodes),
        parent=np.array(parent, np.int32),
        steps=np.array([0.0 if node in ends else float(height - len(node)) for node in nodes]),
        sizes=np.array([total if not node else sizes.get(node, leaf) for node in nodes]),
        leaf=np.array([places[trunk] for trunk in trunks], np.int32),
    )


def _below(trunks: Sequence[Trunk]) -> dict[Trunk, dict[Trunk, None]]:
    """The nodes directly below each node, in the order in which their first value comes."""
    below: dict[Trunk, dict[Trunk, None]] = {(): {}}
    for trunk in trunks:
        for depth in range(1, len(trunk) + 1):
            below[trunk[: depth - 1]][trunk[:depth]] = None
            below.setdefault(trunk[:depth], {})
    return below


def _repeated(node: Trunk, below: Mapping[Trunk, Mapping[Trunk, None]]) -> Trunk | None:
    """The only node below, if it has the same name."""
    if not node or len(below[node]) != 1:
        return None
    only = next(iter(below[node]))
    return only if only[-1] == node[-1] else None


# Nodes in between: a node with many nodes below is halved in the order in which they were declared.
#
# A flat domain of fifty values can be told as a whole, or value by value, and by nothing between. So every node that
# has more than four nodes below gets two nodes in between, each with half of them, and so on until no node has more
# than four. They are called by their first and last node: ``a … m``. All of it follows from the declared tree alone.


WIDE = 4
"""A node with more nodes below than this is halved."""
_TO = " … "
Run = tuple[int, ...]
"""Neighbours below one node."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halved:
    """A tree with nodes in between."""

    tree: Taxonomy
    """All nodes, in preorder; every declared node has the name and the values that it had."""
    made: NDArray[np.bool_]
    """Which of them are in between."""


def halved(tree: Taxonomy) -> Halved:
    """The tree with nodes in between.

    A node stays as wide as it is where a name below it occurs twice in the tree: nodes of one name are told apart by
    the node above them. And so does a whole tree in which a name could be that of a node in between.

    >>> from sfumato.tables.taxonomy import taxonomy
    >>> found = halved(taxonomy([(x,) for x in "abcde"], {}, total=5.0, height=1)).tree
    >>> found.labels, found.parent.tolist()
    (('*', 'a … c', 'a', 'b', 'c', 'd … e', 'd', 'e'), [-1, 0, 1, 1, 1, 0, 5, 5])
    """
    often = Counter(tree.labels)
    plain = not any(_TO.strip() in label for label in tree.labels)
    wide = {
        node
        for node, children in enumerate(tree.children)
        if plain and len(children) > WIDE and all(often[tree.labels[child]] == 1 for child in children)
    }
    if not wide:
        return Halved(tree=tree, made=np.zeros(len(tree.labels), bool))
    return _with(tree, _placed(tree, wide))


def _placed(tree: Taxonomy, wide: set[int]) -> list[tuple[Run, int]]:
    """The nodes in preorder, with the place of the node above: runs of nodes; one node alone stands for itself."""
    nodes: list[tuple[Run, int]] = []
    waiting: list[tuple[Run, int]] = [((0,), -1)]
    while waiting:
        run, above = waiting.pop()
        here = len(nodes)
        nodes.append((run, above))
        parts = _halves(run) if len(run) > 1 else _runs_below(tree, run[0], wide)
        waiting.extend((part, here) for part in reversed(parts))
    return nodes


def _runs_below(tree: Taxonomy, node: int, wide: set[int]) -> list[Run]:
    children = tree.children[node]
    return _halves(children) if node in wide else [(child,) for child in children]


def _halves(run: Run) -> list[Run]:
    """Two halves of many neighbours, each of few."""
    if len(run) <= WIDE:
        return [(node,) for node in run]
    middle = (len(run) + 1) // 2
    return [run[:middle], run[middle:]]


def _with(tree: Taxonomy, nodes: list[tuple[Run, int]]) -> Halved:
    is_between = np.array([len(run) > 1 for run, _ in nodes])
    place = np.zeros(len(tree.labels), np.int32)
    place[[run[0] for run, _ in nodes if len(run) == 1]] = np.flatnonzero(~is_between)
    over = [int(tree.parent[run[0]]) for run, _ in nodes]
    steps = [
        (tree.steps[above] + tree.steps[list(run)].max()) / 2 if len(run) > 1 else tree.steps[run[0]]
        for (run, _), above in zip(nodes, over, strict=True)
    ]
    return Halved(
        tree=Taxonomy(
            labels=tuple(
                tree.labels[run[0]] if len(run) == 1 else f"{tree.labels[run[0]]}{_TO}{tree.labels[run[-1]]}"
                for run, _ in nodes
            ),
            parent=np.array([above for _, above in nodes], np.int32),
            steps=np.array(steps, np.float64),
            sizes=np.array([tree.sizes[list(run)].sum() for run, _ in nodes]),
            leaf=place[tree.leaf],
        ),
        made=is_between,
    )
