"""A taxonomy: the tree over the values of one column, whose leaves may lie at different depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes

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
        found: list[list[int]] = [[] for _ in self.labels]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                found[above].append(node)
        return tuple(map(tuple, found))

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
        found = np.full(len(self.labels), -1, np.int32)
        for node, above in enumerate(self.parent.tolist()):
            inherited = -1 if above < 0 else found[above]
            found[node] = inherited if inherited >= 0 else (node if cut[node] else -1)
        return found[self.leaf]


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
