"""An attribute with a taxonomy: its values are nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.table import Codes
from sfumato.describe.halves import halved
from sfumato.describe.taxonomy import Taxonomy
from sfumato.publish.cut import ColumnCut, cut_of_nodes
from sfumato.publish.diffgen.class_tables import Candidate, Table
from sfumato.publish.noisy_table import Attribute


def alone(tree: Taxonomy, node: int) -> int:
    """The node, or the last of a row of nodes that each have only one node below: it covers the same values."""
    while len(tree.children[node]) == 1 and node not in tree.leaf:
        node = tree.children[node][0]
    return node


def below(tree: Taxonomy, node: int) -> tuple[int, ...]:
    """The child values of a node, each as deep as it covers the same values; a node that is itself a value has none."""
    found = alone(tree, node)
    return () if found in tree.leaf else tuple(alone(tree, child) for child in tree.children[found])


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
        found = halved(tree)
        self.tree, self._made = found.tree, found.made
        at = np.zeros((len(self.tree.labels) + 1, leaves.shape[1]), np.int64)
        np.add.at(at, self.tree.leaf + 1, leaves)
        added = at.cumsum(axis=0)
        self.counts: Table = added[self.tree.last + 1] - added[:-1]
        self.shown = [0]
        self._below: dict[tuple[int, bool], tuple[int, ...]] = {}

    def below(self, value: int, *, halves: bool) -> tuple[int, ...]:
        """The child nodes: those in between, or the declared ones."""
        if (value, halves) not in self._below:
            found = below(self.tree, value)
            if not halves:
                deeper = (self.below(one, halves=False) if self._made[one] else (one,) for one in found)
                found = tuple(node for some in deeper for node in some)
            self._below[value, halves] = found
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
        found = self.below(at.value, halves=at.halves)
        place = self.shown.index(at.value)
        self.shown[place : place + 1] = found
        return found

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
