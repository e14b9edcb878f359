"""A decision tree as a public document, and the checks on a tree from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, listed
from sfumato.core.input_files import MOST_CELLS, MOST_COLUMNS
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Attribute, Label, union
from sfumato.mining.leaf_privacy import Leaves

# What a tree from a stranger must be before anything stands on it; every refusal names the node.


MOST_TREE_NODES = 200_000
"""How many nodes a tree may have, and how many rules a rule document."""
MOST_TREE_DEPTH = 256
"""How many edges may lead to a leaf."""
MOST_COUNT = 2**53
"""How many records a document may speak of: below it whole numbers are exact everywhere."""


def refuse_bad_head(attributes: Sequence[Attribute], target: str, classes: Sequence[str]) -> None:
    """Refuse columns or classes that repeat or are too many."""
    names = [attribute.name for attribute in attributes]
    if len(names) > MOST_COLUMNS:
        raise DataError(f"the document has {len(names):,} attributes; at most {MOST_COLUMNS:,} are read")
    twice = sorted({name for name in names if names.count(name) > 1} | ({target} & set(names)))
    if twice:
        raise DataError(f"attributes and target must have different names, but {twice[0]!r} stands twice")
    if not classes or len(set(classes)) < len(classes):
        raise DataError(f"the target {target!r} must have different values, at least one, not {listed(classes)}")


def refuse_bad_tree(tree: TreeDocument) -> None:
    """Refuse what is no tree: sizes, order, labels and counts."""
    refuse_bad_head(tree.attributes, tree.target, tree.classes)
    _refuse_sizes(tree)
    _refuse_bad_order(tree)
    some, kinds = tree.leaves, len(tree.classes)
    refuse_bad_counts(tree.says[some], tree.hit[some], tree.miss[some], kinds, [f"node {leaf}" for leaf in some])
    if tree.counts is not None:
        refuse_other_counts(tree.says, tree.hit, tree.miss, tree.counts, tree.leaves)
    _refuse_bad_labels(tree)


def _refuse_sizes(tree: TreeDocument) -> None:
    many = tree.nodes
    if many > MOST_TREE_NODES:
        raise DataError(f"the tree has {many:,} nodes; at most {MOST_TREE_NODES:,} are read")
    if many * len(tree.classes) > MOST_CELLS:
        raise DataError(f"{many:,} nodes of {len(tree.classes):,} classes are more than {MOST_CELLS:,} counts")
    lengths = {len(array) for array in (tree.split, tree.labels, tree.says, tree.hit, tree.miss)}
    if lengths != {many} or (tree.counts is not None and tree.counts.shape != (many, len(tree.classes))):
        raise DataError("a tree has one split, label, class, hit and miss for every node, and counts for every class")


def _refuse_bad_order(tree: TreeDocument) -> None:
    for node, above in enumerate(tree.parent.tolist()):
        if node == 0 and above != -1:
            raise DataError(f"node 0 is the root and has no parent, not {above}")
        if node and not 0 <= above < node:
            raise DataError(
                f"node {node} names {above} as its parent; a node stands after its parent, so none is below itself"
            )
    if tree.nodes and int(tree.depth.max()) > MOST_TREE_DEPTH:
        raise DataError(f"the tree is {int(tree.depth.max())} edges deep; at most {MOST_TREE_DEPTH} are read")
    for node, (split, below) in enumerate(zip(tree.split.tolist(), tree.children, strict=True)):
        if not -1 <= split < len(tree.attributes):
            raise DataError(f"node {node} splits by attribute {split}; there are {len(tree.attributes)}")
        if (split < 0) != (not below):
            raise DataError(
                f"node {node} has {len(below)} nodes below and {'no' if split < 0 else 'an'} attribute to split by"
            )


def refuse_bad_counts(says: Whole, hit: Whole, miss: Whole, classes: int, names: Sequence[str]) -> None:
    """Refuse a class that there is not, negative counts, more than can be exact, and a class that cannot lead."""
    bad = np.flatnonzero((says < 0) | (says >= classes))
    if len(bad):
        raise DataError(f"{names[bad[0]]} must name one of the {classes} classes")
    bad = np.flatnonzero((hit < 0) | (miss < 0))
    if len(bad):
        raise DataError(f"{names[bad[0]]} has hit {hit[bad[0]]} and miss {miss[bad[0]]}; counts are not negative")
    if float(hit.sum(dtype=np.float64) + miss.sum(dtype=np.float64)) > MOST_COUNT:
        raise DataError(f"the document counts more than {MOST_COUNT:,} records")
    most = hit.astype(object) * (classes - 1)
    bad = np.flatnonzero(np.array(most < miss, np.bool_))
    if len(bad):
        raise DataError(
            f"{names[bad[0]]} has hit {hit[bad[0]]} and miss {miss[bad[0]]}; its class is not the most frequent one: "
            f"{classes - 1} other classes share the misses, and one of them has more"
        )


def refuse_other_counts(says: Whole, hit: Whole, miss: Whole, counts: Whole, some: Whole) -> None:
    """Refuse exact counts that are negative, or that hit and miss do not sum up."""
    if (counts < 0).any():
        raise DataError(f"node {np.argwhere(counts < 0)[0][0]} has a negative count")
    leading = counts[some].max(axis=1, initial=0)
    bad = (
        (counts[some, says[some]] != hit[some])
        | (leading != hit[some])
        | (counts[some].sum(axis=1) - hit[some] != miss[some])
    )
    if bad.any():
        node = int(some[np.flatnonzero(bad)[0]])
        raise DataError(
            f"node {node} has counts that are not hit {hit[node]} of its class and miss {miss[node]} of others"
        )


def refuse_bad_label(attribute: Attribute, label: Label, where: str) -> None:
    """Refuse a label that is empty, not in order, of the wrong kind or outside the domain."""
    if not label:
        raise DataError(f"{where}: the label of {attribute.name!r} is empty")
    whole = attribute.whole
    if attribute.numeric:
        (low, high) = whole[0]  # type: ignore[misc]
        spans = [span for span in label if isinstance(span, tuple)]
        inside = len(spans) == len(label) and all(low <= start < end <= high for start, end in spans)
        if not inside or any(span[1] >= two[0] for span, two in pairwise(spans)):
            raise DataError(
                f"{where}: {attribute.name!r} needs intervals between {low:g} and {high:g}, ascending and apart"
            )
    else:
        codes = [code for code in label if isinstance(code, int)]
        if (
            len(codes) < len(label)
            or not 0 <= codes[0] <= codes[-1] < len(whole)
            or any(a >= b for a, b in pairwise(codes))
        ):
            raise DataError(f"{where}: {attribute.name!r} needs values of its domain, ascending, each once")


def _refuse_bad_labels(tree: TreeDocument) -> None:
    """The labels below a node must be apart and be what the path leaves of the attribute."""
    if tree.nodes and tree.labels[0] != ():
        raise DataError("node 0 is the root and has no label")
    parent = tree.parent.tolist()
    for node, (place, below) in enumerate(zip(tree.split.tolist(), tree.children, strict=True)):
        if place < 0:
            continue
        attribute = tree.attributes[place]
        for child in below:
            refuse_bad_label(attribute, tree.labels[child], f"node {child}")
        held = _held(tree, parent, node, place)
        labels = [tree.labels[child] for child in below]
        _refuse_no_partition(attribute, labels, held, node)


def _held(tree: TreeDocument, parent: list[int], node: int, place: int) -> Label:
    """What the path to a node leaves of an attribute."""
    while parent[node] >= 0:
        above = parent[node]
        if tree.split[above] == place:
            return tree.labels[node]
        node = above
    return tree.attributes[place].whole


def _refuse_no_partition(attribute: Attribute, labels: list[Label], held: Label, node: int) -> None:
    parts = sorted(part for label in labels for part in label)
    if attribute.numeric:
        overlap = any(part[1] > two[0] for part, two in pairwise(parts))  # type: ignore[index]
    else:
        overlap = len(set(parts)) < len(parts)
    if overlap:
        raise DataError(f"the edges below node {node} overlap: a value of {attribute.name!r} would follow two of them")
    if union(labels) != held:
        raise DataError(
            f"the edges below node {node} must cover what the path leaves of {attribute.name!r}, no more and no less"
        )


# A decision tree as a public document: one record that predicting, pruning, judging and generating stand on.


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
        children: list[list[int]] = [[] for _ in range(self.nodes)]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                children[above].append(node)
        return tuple(tuple(some) for some in children)

    @cached_property
    def depth(self) -> Whole:
        """How many edges lead to each node."""
        depths: list[int] = []
        for above in self.parent.tolist():
            depths.append(depths[above] + 1 if above >= 0 else 0)
        return np.array(depths, np.int64)

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
