"""Attributes of DiffGen: taxonomies, numbers and sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut, cut_of_nodes
from sfumato.algorithms.private_table import Attribute
from sfumato.core.errors import ParameterError
from sfumato.counts.keys import Ids
from sfumato.counts.sources import CutCounts, Division
from sfumato.tables.labels import Ends
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import TOP, Taxonomy, halved

# What columns of all kinds share.


Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A value of the cut of a column, which may be specialized: of sets, a node."""

    column: int
    value: int
    halves: bool = False
    """Whether a node with many nodes below becomes the two nodes in between, else all declared nodes below."""


def names(tree: Taxonomy) -> list[str]:
    """The name of every node; nodes of one name are told apart by their parents."""
    often = Counter(tree.labels)
    above = [tree.labels[max(node, 0)] for node in tree.parent.tolist()]
    return [label if often[label] == 1 else f"{label} ({up})" for label, up in zip(tree.labels, above, strict=True)]


# An attribute with a taxonomy: its values are nodes.


def alone(tree: Taxonomy, node: int) -> int:
    """The node, or the last of a row of nodes that each have only one node below: it covers the same values."""
    while len(tree.children[node]) == 1 and node not in tree.leaf:
        node = tree.children[node][0]
    return node


def below(tree: Taxonomy, node: int) -> tuple[int, ...]:
    """The child values of a node, each as deep as it covers the same values; a node that is itself a value has none."""
    deepest = alone(tree, node)
    return () if deepest in tree.leaf else tuple(alone(tree, child) for child in tree.children[deepest])


def place_of_leaf(tree: Taxonomy, nodes: Sequence[int]) -> Codes:
    """For each leaf, which of some nodes (ascending, none above another) it lies below; -1 for none."""
    given = np.asarray(nodes, np.int64)
    place = np.searchsorted(given, tree.leaf, side="right") - 1
    if not len(given):
        return place.astype(np.int32)
    inside = (place >= 0) & (tree.leaf <= tree.last[given[place]])
    return np.where(inside, place, -1).astype(np.int32)


class TreeColumn:
    """The cut of one tree, with the nodes in between."""

    def __init__(self, attribute: Attribute, tree: Taxonomy, leaves: Table) -> None:
        """At the top; ``leaves`` x classes are the counts of the whole table, from which those of every node come."""
        self.attribute = attribute
        halved_tree = halved(tree)
        self.tree, self._made = halved_tree.tree, halved_tree.made
        at = np.zeros((len(self.tree.labels) + 1, leaves.shape[1]), np.int64)
        np.add.at(at, self.tree.leaf + 1, leaves)
        added = at.cumsum(axis=0)
        self.counts: Table = added[self.tree.last + 1] - added[:-1]
        self.shown = [0]
        self._below: dict[tuple[int, bool], tuple[int, ...]] = {}

    def below(self, value: int, *, halves: bool) -> tuple[int, ...]:
        """The child nodes: those in between, or the declared ones."""
        if (value, halves) not in self._below:
            children = below(self.tree, value)
            if not halves:
                deeper = (self.below(child, halves=False) if self._made[child] else (child,) for child in children)
                children = tuple(node for some in deeper for node in some)
            self._below[value, halves] = children
        return self._below[value, halves]

    def is_wide(self, value: int) -> bool:
        """Whether nodes in between lie directly below."""
        return self.below(value, halves=True) != self.below(value, halves=False)

    def is_open(self, value: int) -> bool:
        """Whether more than one node lies below."""
        return len(self.below(value, halves=False)) > 1

    def width(self, at: Candidate) -> int:
        """How many child nodes there are."""
        return len(self.below(at.value, halves=at.halves))

    def table(self, at: Candidate) -> Table:
        """Child nodes x classes."""
        return np.asarray(self.counts[list(self.below(at.value, halves=at.halves))])

    def split(self, at: Candidate) -> tuple[int, ...]:
        """The nodes below take the node's place."""
        children = self.below(at.value, halves=at.halves)
        place = self.shown.index(at.value)
        self.shown[place : place + 1] = children
        return children

    def child_of(self, at: Candidate) -> Codes:
        """Which child node each leaf lies below."""
        return np.maximum(place_of_leaf(self.tree, self.below(at.value, halves=at.halves)), 0)

    def name(self, value: int) -> str:
        """The node's label."""
        return self.tree.labels[value]

    def cut(self) -> tuple[ColumnCut, dict[int, int]]:
        """The nodes as labels, in the tree's order."""
        nodes = np.asarray(self.shown, np.int32)[place_of_leaf(self.tree, self.shown)]
        return cut_of_nodes(self.tree, nodes), {node: place for place, node in enumerate(np.unique(nodes).tolist())}


# A numeric attribute: its values are intervals of the declared grid, and where they are split is chosen.


class NumberColumn:
    """The intervals of one range; value 0 is the whole of it."""

    def __init__(self, attribute: Attribute, counts: Table) -> None:
        """One interval; ``counts`` (cells of the grid x classes) are those of the whole table."""
        self.attribute = attribute
        self.cells = len(attribute.values)
        self.up_to: Table = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), counts.cumsum(axis=0)])
        self.spans: list[tuple[int, int]] = [(0, self.cells)]
        """Of each value: its first cell, and the first one behind it."""
        self.points: dict[int, int] = {}
        """Where a value is split, once that is chosen: the first cell of the upper part."""
        self.shown = [0]

    def is_open(self, value: int) -> bool:
        """Whether the interval has more than one cell."""
        low, high = self.spans[value]
        return high - low > 1

    def width(self, at: Candidate) -> int:
        """Two parts."""
        return 2

    def tables(self, value: int) -> Table:
        """Points of the grid inside the interval x 2 x classes: the records on either side."""
        low, high = self.spans[value]
        left = self.up_to[low + 1 : high] - self.up_to[low]
        return np.stack([left, (self.up_to[high] - self.up_to[low]) - left], axis=1)

    def take(self, value: int, place: int) -> None:
        """The point at which the value will be split: the place of it among those inside the interval."""
        self.points[value] = self.spans[value][0] + 1 + place

    def table(self, at: Candidate) -> Table:
        """Lower and upper part x classes."""
        low, high = self.spans[at.value]
        left = self.up_to[self.points[at.value]] - self.up_to[low]
        return np.stack([left, self.up_to[high] - self.up_to[low] - left])

    def split(self, at: Candidate) -> tuple[int, ...]:
        """Two intervals take the place of one."""
        low, high = self.spans[at.value]
        new = len(self.spans)
        self.spans += [(low, self.points[at.value]), (self.points[at.value], high)]
        place = self.shown.index(at.value)
        self.shown[place : place + 1] = [new, new + 1]
        return new, new + 1

    def child_of(self, at: Candidate) -> Codes:
        """Whether each cell of the interval lies in the upper part."""
        cells = np.arange(self.cells)
        return np.asarray((cells >= self.points[at.value]) & (cells < self.spans[at.value][1]), np.int32)

    def name(self, value: int) -> str:
        """The interval, closed only at the end of the range."""
        low, high = self.spans[value]
        given = self.attribute
        ends = Ends(low=given.low, high=given.high, low_known=True, high_known=True)
        span = given.edge(low), given.edge(high) if high < self.cells else given.high
        return TOP if high - low == self.cells else ends.named(span, first=not low, last=high == self.cells)

    def cut(self) -> tuple[ColumnCut, dict[int, int]]:
        """The intervals as labels, ascending."""
        spans = [self.spans[value] for value in self.shown]
        wide = np.array([high - low for low, high in spans])
        column_cut = ColumnCut(
            labels=tuple(self.name(value) for value in self.shown),
            of_code=np.repeat(np.arange(len(spans), dtype=np.int32), wide),
            sizes=wide * float(self.attribute.grid),
            steps=(wide - 1) / max(self.cells - 1, 1),
            edges=tuple(self.attribute.edge(low) for low, _ in spans[1:]),
        )
        return column_cut, {value: place for place, value in enumerate(self.shown)}


# An attribute of sets: its values are sets of nodes, and specializing a node makes a partition for every subset.


MOST_CHILDREN = 40
"""The subsets of so many nodes can be numbered; a tree with wider nodes needs nodes in between."""
Masks = NDArray[np.int64]


class SetColumn:
    """The sets of nodes of one tree. The root also stands for the empty set, which is called by no name."""

    def __init__(self, attribute: Attribute, tree: Taxonomy, place: int, walk: CutCounts) -> None:
        """Every set is the root; ``place`` is that of the column in the walk that is asked about the whole table."""
        wide = next((node for node, children in enumerate(tree.children) if len(children) > MOST_CHILDREN), None)
        if wide is not None:
            raise ParameterError(
                f"attributes must have trees of sets with at most {MOST_CHILDREN} nodes below a node, but "
                f"{attribute.name!r} has {len(tree.children[wide])} below {tree.labels[wide]!r}; put nodes in between"
            )
        self.attribute, self.tree = attribute, tree
        self._place, self._walk = place, walk
        self.names = names(tree)
        self.values: list[tuple[int, ...]] = [(0,)]
        """The nodes of each value, ascending."""
        self._number: dict[tuple[int, ...], int] = {(0,): 0}

    def is_open(self, node: int) -> bool:
        """Whether nodes lie below."""
        return len(self.below(node)) > 0

    def below(self, node: int) -> tuple[int, ...]:
        """The child nodes."""
        return below(self.tree, node)

    def having(self, keys: Codes, node: int) -> NDArray[np.bool_]:
        """Which of some values have a node."""
        return np.array([node in value for value in self.values])[keys]

    def nodes(self, keys: Codes) -> list[int]:
        """The nodes of some values."""
        return sorted({node for value in np.unique(keys).tolist() for node in self.values[value]})

    def division(self, node: int, parts: Ids | None) -> Division:
        """Partitions by the child nodes that cover some of a record's items, as bits."""
        child = self.below(node)
        bits = place_of_leaf(self.tree, child)
        return Division(column=self._place, parts=parts, child_of=bits, children=1 << len(child))

    def masks(self, node: int) -> tuple[int, int]:
        """The first and the last subset of the child nodes that a set can have: none of them only below the root."""
        return (0 if node == 0 else 1), (1 << len(self.below(node))) - 1

    def table(self, at: Candidate) -> Table:
        """Child partitions x classes: the records of D_v by the subset of child nodes that they have."""
        pairs = self._walk.refine(self.division(at.value, None)).occupied()
        return pairs.counts if at.value == 0 else pairs.counts[pairs.child > 0]

    def values_of(self, old: Codes, masks: Masks, node: int) -> Codes:
        """The values in which a node is replaced by some of its child nodes."""
        child = self.below(node)
        pairs, place = np.unique(np.stack([old.astype(np.int64), masks]), axis=1, return_inverse=True)
        numbers = [
            self._numbered(
                {*self.values[was]} - {node} | {child_node for bit, child_node in enumerate(child) if mask >> bit & 1}
            )
            for was, mask in pairs.T.tolist()
        ]
        return np.array(numbers, np.int32)[place.reshape(-1)] if numbers else np.zeros(0, np.int32)

    def _numbered(self, nodes: set[int]) -> int:
        value = tuple(sorted(nodes))
        if value not in self._number:
            self._number[value] = len(self.values)
            self.values.append(value)
        return self._number[value]

    def name(self, value: int) -> str:
        """The nodes, joined."""
        return "|".join(self.names[node] for node in self.values[value])
