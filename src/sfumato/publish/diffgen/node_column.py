"""An attribute with a taxonomy: its values are nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.table import Codes
from sfumato.describe.taxonomy import Taxonomy
from sfumato.publish.cut import ColumnCut, cut_of_nodes
from sfumato.publish.diffgen.class_tables import Table
from sfumato.publish.noisy_table import Attribute


def alone(tree: Taxonomy, node: int) -> int:
    """The node, or the last of a row of nodes that each have only one node below: it covers the same values."""
    ends = frozenset(tree.leaf.tolist())
    while len(tree.children[node]) == 1 and node not in ends:
        node = tree.children[node][0]
    return node


def below(tree: Taxonomy, node: int) -> tuple[int, ...]:
    """The child values of a node, each as deep as it covers the same values; a node that is itself a value has none."""
    found = alone(tree, node)
    return () if found in tree.leaf else tuple(alone(tree, child) for child in tree.children[found])


def place_of_leaf(tree: Taxonomy, nodes: Sequence[int]) -> Codes:
    """For each leaf, which of some nodes it lies below; -1 for none."""
    found = np.full(len(tree.leaf), -1, np.int32)
    for place, node in enumerate(nodes):
        found[tree.covers(node)] = place
    return found


class TreeColumn:
    """The cut of one tree."""

    def __init__(self, attribute: Attribute, tree: Taxonomy, leaves: Table) -> None:
        """At the top; ``leaves`` x classes are the counts of the whole table, from which those of every node come."""
        self.attribute = attribute
        self.tree = tree
        at = np.zeros((len(tree.labels) + 1, leaves.shape[1]), np.int64)
        np.add.at(at, tree.leaf + 1, leaves)
        added = at.cumsum(axis=0)
        self.counts: Table = added[tree.last + 1] - added[:-1]
        self.shown = [0]

    def is_open(self, value: int) -> bool:
        """Whether more than one node lies below."""
        return len(below(self.tree, value)) > 1

    def width(self, value: int) -> int:
        """How many child nodes there are."""
        return len(below(self.tree, value))

    def table(self, value: int) -> Table:
        """Child nodes x classes."""
        return np.asarray(self.counts[list(below(self.tree, value))])

    def split(self, value: int) -> tuple[int, ...]:
        """The nodes below take the node's place."""
        found = below(self.tree, value)
        place = self.shown.index(value)
        self.shown[place : place + 1] = found
        return found

    def child_of(self, value: int) -> Codes:
        """Which child node each leaf lies below."""
        return np.maximum(place_of_leaf(self.tree, below(self.tree, value)), 0)

    def name(self, value: int) -> str:
        """The node's label."""
        return self.tree.labels[value]

    def cut(self) -> tuple[ColumnCut, dict[int, int]]:
        """The nodes as labels, in the tree's order."""
        nodes = np.asarray(self.shown, np.int32)[place_of_leaf(self.tree, self.shown)]
        return cut_of_nodes(self.tree, nodes), {node: place for place, node in enumerate(np.unique(nodes).tolist())}
