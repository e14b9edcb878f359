"""ATP: prunes a tree until every leaf meets a requirement, with counts propagated to inner nodes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Label, label_text, union
from sfumato.mining.leaf_privacy import Leaves, TreeRequirement
from sfumato.mining.tree_document import TreeDocument, empty_tree

# What a node is told by the nodes below it, or by those it is merged from (section 4.1).


Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Told:
    """The class, hit and miss of several nodes, and their counts where those are known."""

    says: Whole
    """The most frequent class."""
    hit: Whole
    """Records of it."""
    miss: Whole
    """Other records."""
    counts: Whole | None = None
    """Nodes x classes."""


def estimated_counts(nodes: Told, classes: int) -> list[Fraction]:
    """The records of every class in the union of some nodes, where misses are spread evenly (equation 2)."""
    return [Fraction(int(count), max(classes - 1, 1)) for count in _scaled(nodes.says, nodes.hit, nodes.miss, classes)]


def _scaled(says: Whole, hit: Whole, miss: Whole, classes: int) -> Whole:
    """Equation 2 times the number of other classes, in whole numbers."""
    others = max(classes - 1, 1)
    hits = np.zeros(classes, np.int64)
    misses = np.zeros(classes, np.int64)
    np.add.at(hits, says, hit)
    np.add.at(misses, says, miss)
    return np.asarray(hits * others + (int(miss.sum()) - misses))


def united(nodes: Told, classes: int) -> tuple[int, int, int]:
    """The class, hit and miss of the union of some nodes (equations 2 and 3); of equal classes the first.

    >>> node = Told(says=np.array([0, 1]), hit=np.array([3, 5]), miss=np.array([0, 4]))
    >>> united(node, 5)
    (1, 5, 7)
    """
    scaled = _scaled(nodes.says, nodes.hit, nodes.miss, classes)
    says = int(scaled.argmax())
    hit = -(-int(scaled[says]) // max(classes - 1, 1))
    return says, hit, int(nodes.hit.sum() + nodes.miss.sum()) - hit


def pairs(node: tuple[int, int, int], others: Told, classes: int) -> Told:
    """One node merged with each of some others, by equations 2 and 3."""
    n, m = len(others.says), max(classes - 1, 1)
    says, hit, miss = node
    rows = np.arange(n)
    scaled = np.full((n, classes), miss, np.int64) + others.miss[:, None]
    scaled[:, says] += hit * m - miss
    scaled[rows, others.says] += others.hit * m - others.miss
    best = scaled.argmax(axis=1)
    hits = -(-scaled[rows, best] // m)
    return Told(says=best, hit=hits, miss=hit + miss + others.hit + others.miss - hits)


def propagated(tree: TreeDocument) -> Told:
    """The class, hit and miss of every node, from the leaves up: exact where counts are known, else by equation 2."""
    says, hit, miss = tree.says.copy(), tree.hit.copy(), tree.miss.copy()
    counts = None if tree.counts is None else tree.counts.copy()
    for node in range(tree.nodes - 1, -1, -1):
        below = list(tree.children[node])
        if not below:
            continue
        if counts is not None:
            counts[node] = counts[below].sum(axis=0)
            says[node] = counts[node].argmax()
            hit[node] = counts[node].max()
            miss[node] = counts[node].sum() - hit[node]
        else:
            children = Told(says=says[below], hit=hit[below], miss=miss[below])
            says[node], hit[node], miss[node] = united(children, len(tree.classes))
    return Told(says=says, hit=hit, miss=miss, counts=counts)


# ATP: a tree is pruned until every leaf meets a requirement (section 4).


Figures = tuple[int, int, int]
"""Class, hit and miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One step of the pruning: a leaf that failed, and the sibling that it was merged with."""

    parent: int
    """The node above both, in the tree that was pruned."""
    parts: tuple[str, str]
    """The labels of the leaf that failed and of its sibling."""
    before: tuple[Figures, Figures]
    """What both said."""
    after: Figures
    """What the new leaf says."""
    rule: Literal[1, 2, 3]
    """By which rule the sibling was chosen: the result passes; it failed too; it is the smallest."""
    passes: bool
    """Whether the new leaf meets the requirement."""
    pruned: int
    """How many leaves lay below the two."""
    replaced: bool
    """Whether the new leaf was the only child left and took the place of the node above."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Pruned(Brief):
    """A tree that meets a requirement, and how it came to that."""

    tree: TreeDocument
    """What is left; the empty tree where nothing is."""
    merges: tuple[Merge, ...]
    """The steps, in order."""
    leaves_before: int
    """Leaves of the tree that was pruned."""
    failing_before: int
    """Leaves of it that did not meet the requirement."""


def anonymized(tree: TreeDocument, requirement: TreeRequirement, *, keep_root: bool = False) -> Pruned:
    """Prune a tree from below until every leaf meets the requirement.

    Claim: every leaf of the result meets the requirement, and every path of the result is a union of paths of the tree.
    How: levels are walked from below. Of the children of a node that fail, the one with the highest share of hits is
        merged with a sibling: one with which it passes, else one that fails too, else the smallest; among several of a
        kind the next rules decide. A leaf that is an only child takes the place of its parent. Where the tree has exact
        counts they are added; else hit and miss are estimated by equations 2 and 3.
    Cost: one step per merge, each looks at the siblings once.
    Source: document 004, section 4, figure 6. It publishes nothing where only the root is left; with ``keep_root`` a
        root that meets the requirement is published as one leaf.
    """
    work = _Pruning(tree, requirement)
    failing = int((~work.passing[tree.leaves]).sum())
    for depth in range(int(tree.depth.max(initial=0)) - 1, -1, -1):
        for node in np.flatnonzero((tree.depth == depth) & (tree.split >= 0)).tolist():
            work.mend(node)
    return Pruned(
        tree=work.rebuilt(keep_root=keep_root),
        merges=tuple(work.merges),
        leaves_before=len(tree.leaves),
        failing_before=failing,
    )


class _Pruning:
    """The state of one pruning; a merged leaf keeps the number of the child that failed."""

    def __init__(self, tree: TreeDocument, requirement: TreeRequirement) -> None:
        self.tree, self.requirement = tree, requirement
        figures = propagated(tree)
        self.says, self.hit, self.miss, self.counts = figures.says, figures.hit, figures.miss, figures.counts
        self.kids = [list(below) for below in tree.children]
        self.labels: list[Label] = list(tree.labels)
        self.passing = np.ones(tree.nodes, np.bool_)
        if tree.nodes:
            self.passing[tree.leaves] = requirement.passes(tree.leaf_figures())
        self.below = np.where(tree.split < 0, 1, 0)
        for node in range(tree.nodes - 1, 0, -1):
            self.below[tree.parent[node]] += self.below[node]
        self.merges: list[Merge] = []

    def mend(self, node: int) -> None:
        """Merge children of a node until all pass, or one is left; a leaf that is left alone replaces the node."""
        kids = self.kids[node]
        while len(kids) > 1:
            failed = [kid for kid in kids if not self.passing[kid]]
            if not failed:
                break
            self._merge(node, max(failed, key=self._share))
        if len(kids) == 1 and not self.kids[kids[0]]:
            kid = kids.pop()
            self.passing[node] = self.passing[kid]
            self._set(node, (int(self.says[kid]), int(self.hit[kid]), int(self.miss[kid])))
            if self.counts is not None:
                self.counts[node] = self.counts[kid]

    def _share(self, node: int) -> float:
        size = int(self.hit[node] + self.miss[node])
        return int(self.hit[node]) / size if size else 0.0

    def _merge(self, node: int, worst: int) -> None:
        kids = self.kids[node]
        others = np.array([kid for kid in kids if kid != worst])
        unions = self._made(worst, others)
        good = self.requirement.passes(Leaves(hit=unions.hit, miss=unions.miss, counts=unions.counts))
        sizes = self.hit[others] + self.miss[others]
        place = int(np.lexsort((np.arange(len(others)), sizes, self.passing[others], ~good))[0])
        other = int(others[place])
        before = (self._figures(worst), self._figures(other))
        after = (int(unions.says[place]), int(unions.hit[place]), int(unions.miss[place]))
        attribute = self.tree.attributes[int(self.tree.split[node])]
        rule: Literal[1, 2, 3] = 1 if good[place] else 3 if self.passing[other] else 2
        pruned = int(self.below[worst] + self.below[other])
        label_texts = (label_text(attribute, self.labels[worst]), label_text(attribute, self.labels[other]))
        kids.remove(other)
        self.kids[worst] = []
        self.labels[worst] = union([self.labels[worst], self.labels[other]])
        self._set(worst, after)
        if self.counts is not None and unions.counts is not None:
            self.counts[worst] = unions.counts[place]
        self.passing[worst], self.below[worst] = good[place], pruned
        self.merges.append(
            Merge(
                parent=node,
                parts=label_texts,
                before=before,
                after=after,
                rule=rule,
                passes=bool(good[place]),
                pruned=pruned,
                replaced=len(kids) == 1,
            )
        )

    def _made(self, worst: int, others: Whole) -> Told:
        """The failed child merged with each sibling."""
        if self.counts is None:
            siblings = Told(says=self.says[others], hit=self.hit[others], miss=self.miss[others])
            return pairs(self._figures(worst), siblings, len(self.tree.classes))
        counts = self.counts[others] + self.counts[worst]
        hit = counts.max(axis=1)
        return Told(says=counts.argmax(axis=1), hit=hit, miss=counts.sum(axis=1) - hit, counts=counts)

    def _figures(self, node: int) -> Figures:
        return int(self.says[node]), int(self.hit[node]), int(self.miss[node])

    def _set(self, node: int, figures: Figures) -> None:
        self.says[node], self.hit[node], self.miss[node] = figures

    def rebuilt(self, *, keep_root: bool) -> TreeDocument:
        """The tree that is left, with nodes numbered anew."""
        tree = self.tree
        if tree.empty or (not self.kids[0] and not (keep_root and self.passing[0])):
            return empty_tree(tree.attributes, tree.target, tree.classes)
        kept, above = [0], [-1]
        for place, node in enumerate(kept):
            kept += self.kids[node]
            above += [place] * len(self.kids[node])
        leaf = np.array([not self.kids[node] for node in kept], np.bool_)
        return TreeDocument(
            attributes=tree.attributes,
            target=tree.target,
            classes=tree.classes,
            parent=np.array(above, np.int64),
            split=np.where(leaf, -1, tree.split[kept]),
            labels=tuple(self.labels[node] if place else () for place, node in enumerate(kept)),
            says=np.where(leaf, self.says[kept], -1),
            hit=np.where(leaf, self.hit[kept], 0),
            miss=np.where(leaf, self.miss[kept], 0),
            counts=None if self.counts is None else np.where(leaf[:, None], self.counts[kept], 0),
        )
