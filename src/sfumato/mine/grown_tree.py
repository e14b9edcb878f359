"""A tree while it grows: nodes with exact counts, and the labels that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.mine.edge_labels import Attribute, Label
from sfumato.mine.tree_document import TreeDocument

Whole = NDArray[np.int64]


class Shaped(Protocol):
    """Whatever says which columns a tree is of."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns."""

    @property
    def target(self) -> str:
        """The name of the class column."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""


class GrownTree:
    """Nodes in the order in which they were made; each stands after its parent."""

    def __init__(self, counts: Whole, domains: Sequence[Label]) -> None:
        """The root with its counts; ``domains`` are the whole labels of the attributes."""
        self.domains = domains
        self.parent, self.attribute = [-1], [-1]
        self.labels: list[Label] = [()]
        self.counts: list[Whole] = [counts]
        self.used: list[frozenset[int]] = [frozenset()]
        """For each node the attributes that were asked for on the way to it."""
        self.open = [0]
        """The nodes that may be split."""

    def split(self, node: int, attribute: int, labels: Sequence[Label], counts: Sequence[Whole]) -> list[int]:
        """Give a node children; tells their numbers."""
        self.attribute[node] = attribute
        first = len(self.parent)
        used = self.used[node] | {attribute}
        for label, held in zip(labels, counts, strict=True):
            self.parent.append(node)
            self.attribute.append(-1)
            self.labels.append(label)
            self.counts.append(held)
            self.used.append(used)
        return list(range(first, len(self.parent)))

    def held(self, node: int, attribute: int) -> Label:
        """What the path to a node leaves of an attribute."""
        if attribute in self.used[node]:
            while self.parent[node] >= 0:
                if self.attribute[self.parent[node]] == attribute:
                    return self.labels[node]
                node = self.parent[node]
        return self.domains[attribute]

    def document(self, records: Shaped) -> TreeDocument:
        """The tree as a document, without nodes that were cut off; nodes level by level."""
        kids: list[list[int]] = [[] for _ in self.parent]
        for node, above in enumerate(self.parent):
            if above >= 0 and self.attribute[above] >= 0:
                kids[above].append(node)
        kept, parent = [0], [-1]
        for place, node in enumerate(kept):
            kept += kids[node]
            parent += [place] * len(kids[node])
        split = np.array([self.attribute[node] for node in kept], np.int64)
        counts = np.where((split < 0)[:, None], np.array([self.counts[node] for node in kept], np.int64), 0)
        hit = counts.max(axis=1)
        return TreeDocument(
            attributes=records.attributes,
            target=records.target,
            classes=records.classes,
            parent=np.array(parent, np.int64),
            split=split,
            labels=tuple(self.labels[node] for node in kept),
            says=np.where(split < 0, counts.argmax(axis=1), -1),
            hit=hit,
            miss=counts.sum(axis=1) - hit,
            counts=counts,
        )
