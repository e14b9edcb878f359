"""A decision tree as a public document: one record that predicting, pruning, judging and generating stand on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.mine.edge_labels import Attribute, Label
from sfumato.mine.leaf_privacy import Leaves
from sfumato.mine.tree_checks import refuse_bad_tree

Whole = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeDocument(Brief):
    """Nodes, edge labels, and what every leaf says.

    Claim: nodes stand after their parents; the labels of the edges below a node are apart and together are what the
        path to the node leaves of the attribute; a leaf names its most frequent class, or one of them.
    Source: document 004, definitions 4, 5 and 7.
    """

    attributes: tuple[Attribute, ...]
    """What edges ask for, with domains."""
    target: str
    """The name of the class column."""
    classes: tuple[str, ...]
    """The classes."""
    parent: Whole
    """For each node the one above it; -1 for the root, which comes first. No node at all is the empty tree."""
    split: Whole
    """For each node the attribute that its edges ask for, by place; -1 in a leaf."""
    labels: tuple[Label, ...]
    """For each node the label of the edge to it: what the path leaves of the parent's attribute; () at the root."""
    says: Whole
    """For each leaf the class that it names, by code; -1 in other nodes."""
    hit: Whole
    """For each leaf how many records are of that class; 0 in other nodes."""
    miss: Whole
    """For each leaf how many records are of another class; 0 in other nodes."""
    counts: Whole | None = None
    """Nodes x classes: for each leaf its records of every class, where they are known; 0 in other nodes."""

    def __post_init__(self) -> None:
        """Refuse what is no tree."""
        refuse_bad_tree(self)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.parent)

    @property
    def empty(self) -> bool:
        """Whether nothing is left of it."""
        return not len(self.parent)

    @cached_property
    def leaves(self) -> Whole:
        """The leaves, by node."""
        return np.flatnonzero(self.split < 0)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes below each node, in order."""
        found: list[list[int]] = [[] for _ in range(self.nodes)]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                found[above].append(node)
        return tuple(tuple(some) for some in found)

    @cached_property
    def depth(self) -> Whole:
        """How many edges lead to each node."""
        found: list[int] = []
        for above in self.parent.tolist():
            found.append(found[above] + 1 if above >= 0 else 0)
        return np.array(found, np.int64)

    @property
    def records(self) -> int:
        """How many records its leaves hold."""
        return int(self.hit.sum() + self.miss.sum())

    def leaf_figures(self) -> Leaves:
        """Hits, misses and counts of the leaves, for a requirement."""
        some = self.leaves
        return Leaves(
            hit=self.hit[some], miss=self.miss[some], counts=None if self.counts is None else self.counts[some]
        )

    def without_counts(self) -> TreeDocument:
        """The same tree that tells hit and miss alone."""
        return TreeDocument(
            attributes=self.attributes,
            target=self.target,
            classes=self.classes,
            parent=self.parent,
            split=self.split,
            labels=self.labels,
            says=self.says,
            hit=self.hit,
            miss=self.miss,
        )


def empty_tree(attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...]) -> TreeDocument:
    """The tree that tells nothing."""
    none = np.zeros(0, np.int64)
    return TreeDocument(
        attributes=attributes,
        target=target,
        classes=classes,
        parent=none,
        split=none,
        labels=(),
        says=none,
        hit=none,
        miss=none,
    )
