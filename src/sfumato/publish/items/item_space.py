"""What the items of a table are: places at times, items of sets, values of columns, with the trees above them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.describe.taxonomy import Taxonomy
from sfumato.ground.errors import PlanError


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """One thing that an item tells (a place, a time, a value), with the tree over it where there is one.

    Nodes are those of the tree; without a tree every value is a node of its own, and none lies above another.
    """

    values: tuple[str, ...]
    """The values, by code."""
    tree: Taxonomy | None = None
    """The tree over them."""

    @cached_property
    def leaf(self) -> Codes:
        """The node of each value."""
        return np.arange(len(self.values), dtype=np.int32) if self.tree is None else self.tree.leaf

    @cached_property
    def last(self) -> Codes:
        """The last node below each node, in preorder."""
        return self.leaf if self.tree is None else self.tree.last

    @cached_property
    def spread(self) -> NDArray[np.int64]:
        """How many of the values lie below each node."""
        if self.tree is None:
            return np.ones(len(self.values), np.int64)
        below = np.bincount(self.leaf, minlength=len(self.tree.labels)).astype(np.int64)
        for node in range(len(below) - 1, 0, -1):
            below[self.tree.parent[node]] += below[node]
        return below

    def above(self, node: int) -> int:
        """The node above that covers more values, or -1."""
        if self.tree is None:
            return -1
        up = int(self.tree.parent[node])
        while up >= 0 and self.spread[up] == self.spread[node]:
            up = int(self.tree.parent[up])
        return up

    def named(self, nodes: NDArray[np.int32]) -> list[str]:
        """What nodes are called; those of one name are told apart by what lies above them."""
        if self.tree is None:
            return [self.values[node] for node in nodes.tolist()]
        names = {node: self.tree.labels[node] for node in set(nodes.tolist())}
        above = {node: node for node in names}
        while True:
            often = Counter(names.values())
            alike = [node for node, name in names.items() if often[name] > 1 and above[node] > 0]
            if not alike:
                return [names[node] for node in nodes.tolist()]
            for node in alike:
                above[node] = int(self.tree.parent[above[node]])
                names[node] = f"{names[node]} ({self.tree.labels[above[node]]})"


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSpace:
    """The items of one column: each lies at one value of every axis."""

    name: str
    """The column."""
    begin: int
    """The code of its first item among those of all columns."""
    axes: tuple[Axis, ...]
    """One axis for sets and columns of a table; place and time for paths."""
    values: NDArray[np.int32]
    """Per axis, the value of each item."""
    closed: bool = False
    """Whether every record has exactly one item of the column, so that none can be left out unseen."""
    mark: str = "@"
    """What stands between place and time."""

    @property
    def count(self) -> int:
        """How many items there are."""
        return self.values.shape[1]

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """Per axis, the node of each item."""
        return np.stack([axis.leaf[codes] for axis, codes in zip(self.axes, self.values, strict=True)])

    def spread(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many values, or pairs of values, each column of nodes covers."""
        found = np.ones(nodes.shape[1], np.int64)
        for axis, row in zip(self.axes, nodes, strict=True):
            found *= axis.spread[row]
        return found

    def penalty(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        """The normalized certainty penalty: 0 for a single value, 1 for everything."""
        whole = float(np.prod([float(len(axis.values)) for axis in self.axes]))
        return (self.spread(nodes) - 1) / max(whole - 1, 1.0)

    def named(self, nodes: NDArray[np.int32]) -> list[str]:
        """What columns of nodes are called."""
        names = [axis.named(row) for axis, row in zip(self.axes, nodes, strict=True)]
        if self.closed:
            return [f"{self.name}={name}" for name in names[0]]
        return names[0] if len(names) == 1 else [self.mark.join(pair) for pair in zip(*names, strict=True)]

    def above(self, nodes: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The nodes one step above on one axis, where there are any."""
        ups = ((place, axis.above(nodes[place])) for place, axis in enumerate(self.axes))
        return [(*nodes[:place], up, *nodes[place + 1 :]) for place, up in ups if up >= 0]


def refuse_untreed(space: ItemSpace, algorithm: str) -> None:
    """Refuse a column of paths, or one without a tree, where an algorithm shows the items of sets coarser."""
    if len(space.axes) > 1:
        raise PlanError(f"columns.{space.name}: {algorithm} takes no paths; use algorithm.name = 'trajectory'")
    if space.axes[0].tree is None:
        raise PlanError(
            f"columns.{space.name}.hierarchy is missing; {algorithm} shows items coarser along a tree. Without "
            "one use algorithm.name = 'sets', which leaves items out"
        )
