"""C4.5: a tree with multi-way splits of categories and binary splits of numbers, grown level by level from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.domains import Categories, Numbers
from sfumato.describe.rounding import roundest
from sfumato.ground.arguments import at_least, between, one_of
from sfumato.ground.errors import DataError, Infeasible
from sfumato.mine.edge_labels import Label, Spans, grid_cut
from sfumato.mine.grown_tree import GrownTree
from sfumato.mine.leaf_privacy import Leaves, TreeRequirement
from sfumato.mine.level_splits import Gains, Level, Passing, Whole, category_gains, number_gains, value_gains
from sfumato.mine.node_rows import NodeRows, Parting, RecordRows, sides
from sfumato.mine.pessimistic import collapsed
from sfumato.mine.records import Records
from sfumato.mine.tree_checks import MOST_TREE_DEPTH
from sfumato.mine.tree_document import TreeDocument

Criterion = Literal["gain-ratio", "gain"]
Category = Literal["each", "one"]
_NOTHING = 1e-9
"""A gain up to this is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLearner:
    """Learn a decision tree with exact class counts in its leaves.

    Claim: every leaf has a record, and its counts are those of the records that follow its path. With ``within`` every
        node that was split off meets that requirement, and so does the root.
    How: nodes of one level are split together. Among the attributes whose information gain is at least the average the
        one with the highest gain ratio is taken (Quinlan); with ``gain`` the one with the highest gain. A value that no
        record of a node has goes with the largest part, so no leaf says that nobody is there. Parts that save no
        errors, by the upper confidence limit of their leaves, are pruned; C4.5's raising of subtrees is left out.
    Cost: for each level a pass over the records of its nodes for each attribute.
    Source: Quinlan 1993, C4.5 (release 8 for thresholds); with ``within``, Friedman, Wolff, Schuster 2008 as in
        document 004, section 6.2 (LDM).
    Does not protect against: without ``within`` anything. Thresholds lie between values of the records, unless a grid
        is declared.
    """

    criterion: Criterion = "gain-ratio"
    """How attributes are compared."""
    categories: Category = "each"
    """What a category is split into: a part for each of its values (C4.5), or one value and all others."""
    min_leaf: int = 2
    """How many records two parts of a split must have; each part, of numbers."""
    max_depth: int = MOST_TREE_DEPTH
    """How many edges may lead to a leaf."""
    confidence: float | None = 0.25
    """The confidence of the pessimistic pruning; None leaves the tree unpruned."""
    within: TreeRequirement | None = None
    """What every node must meet; splits with a part that does not are not made (LDM)."""

    def __post_init__(self) -> None:
        one_of("criterion", self.criterion, get_args(Criterion))
        one_of("categories", self.categories, get_args(Category))
        at_least("min_leaf", self.min_leaf, 1)
        at_least("max_depth", self.max_depth, 0)
        if self.max_depth > MOST_TREE_DEPTH:
            raise DataError(f"max_depth must be at most {MOST_TREE_DEPTH}, not {self.max_depth}")
        if self.confidence is not None:
            between("confidence", self.confidence, 0, 0.5, open_low=True)

    def __call__(self, records: Records) -> TreeDocument:
        """Grow a tree, and prune it."""
        return self.over(RecordRows(records))

    def over(self, rows: NodeRows) -> TreeDocument:
        """The same from any source of counts."""
        growing = _Growing(self, rows)
        if self.within is not None and not growing.passing(growing.grown.counts[0][None, :])[0]:
            raise Infeasible(f"the records as one leaf do not meet {self.within.name}, so no tree can; ask for less")
        for _ in range(self.max_depth):
            if not growing.level():
                break
        whole = growing.grown
        return (whole if self.confidence is None else collapsed(whole, self.confidence)).document(rows)


def learnt_tree(records: Records, **options: Any) -> TreeDocument:
    """A tree learnt with some options of ``TreeLearner``."""
    return TreeLearner(**options)(records)


class _Growing:
    """A tree that grows by what its source tells of the open nodes."""

    def __init__(self, how: TreeLearner, rows: NodeRows) -> None:
        self.how, self.rows = how, rows
        counts = rows.total()
        if not counts.sum():
            raise DataError("a tree is learnt from records with a known class, at least one")
        self.bits = _bits(int(counts.sum()))
        self.numeric = [one.numeric for one in rows.attributes]
        self.binary = [how.categories == "one" or one for one in self.numeric]
        self.grown = GrownTree(counts, [one.whole for one in rows.attributes])

    def passing(self, counts: Whole) -> NDArray[np.bool_]:
        """Which counts meet what every node must."""
        return (
            np.ones(len(counts), np.bool_)
            if self.how.within is None
            else self.how.within.passes(Leaves.of_counts(counts))
        )

    def level(self) -> bool:
        """Split the open nodes; tells whether any was."""
        counts = np.array([self.grown.counts[node] for node in self.grown.open], np.int64)
        if not len(counts):
            return False
        passing: Passing | None = None if self.how.within is None else self.passing
        level = Level(counts=counts, bits=self.bits, least=self.how.min_leaf, passing=passing)
        found = [self._gains(level, place) for place in range(len(self.numeric))]
        if not found:
            return False
        chosen = self._chosen(level, found)
        self._split(chosen, found)
        return bool((chosen >= 0).any())

    def _gains(self, level: Level, place: int) -> Gains:
        node, code, kind = self.rows.listed(place)
        if self.numeric[place]:
            return number_gains(level, node, code, kind, penalty=self.how.criterion == "gain-ratio")
        width = len(self.rows.marks[place])
        if self.binary[place]:
            return value_gains(level, node, code, kind, width)
        found = category_gains(level, node, code, kind, width)
        used = np.array([place in self.grown.used[node] for node in self.grown.open], np.bool_)
        found.gain[used] = -np.inf
        return found

    def _chosen(self, level: Level, found: list[Gains]) -> Whole:
        """The attribute of each node, or -1."""
        gain = np.array([one.gain for one in found])
        worth = np.array([one.gain for one in found])
        good = gain > _NOTHING
        if self.how.criterion == "gain-ratio":
            average = np.where(good, gain, 0).sum(axis=0) / np.maximum(good.sum(axis=0), 1)
            good &= gain >= average - _NOTHING
            parted = np.array([one.parted for one in found])
            good &= parted > _NOTHING
            worth = np.divide(gain, parted, out=np.full(gain.shape, -np.inf), where=good)
        good &= (level.counts.max(axis=1) < level.sizes) & (level.sizes >= 2 * self.how.min_leaf)
        worth = np.where(good, worth, -np.inf)
        best = worth.argmax(axis=0)
        return np.where(good.any(axis=0), best, -1)

    def _split(self, chosen: Whole, found: list[Gains]) -> None:
        """Make the children, and send the records to them."""
        opened: list[int] = []
        places = sorted(set(chosen[chosen >= 0].tolist()))
        partings = [self._part(place, np.flatnonzero(chosen == place), found[place], opened) for place in places]
        self.grown.open = opened
        self.rows.move(partings)

    def _part(self, place: int, some: Whole, gains: Gains, opened: list[int]) -> Parting:
        """Count the parts of the nodes that an attribute splits, make them nodes, and open them."""
        width = 2 if self.binary[place] else len(self.rows.marks[place])
        classes = len(self.rows.classes)
        node, code, kind = self.rows.listed(place)
        slot = np.full(len(self.grown.open), -1, np.int64)
        slot[some] = np.arange(len(some))
        here = slot[node] >= 0
        node, code, kind = node[here], code[here], kind[here]
        side = sides(gains.cut[node], code, numeric=self.numeric[place]) if self.binary[place] else code
        held, inverse = np.unique(slot[node] * width + side, return_inverse=True)
        counts = np.bincount(inverse * classes + kind, minlength=len(held) * classes).reshape(-1, classes)
        sizes = counts.sum(axis=1)
        first = np.searchsorted(held, np.arange(len(some) + 1) * width)
        goes = np.full(len(some) * width, -1, np.int64)
        for n, open_place in enumerate(some.tolist()):
            parts = range(int(first[n]), int(first[n + 1]))
            labels = self._labels(place, open_place, [int(held[p]) % width for p in parts], sizes[list(parts)], gains)
            new = self.grown.split(self.grown.open[open_place], place, labels, [counts[p] for p in parts])
            goes[held[parts.start : parts.stop]] = len(opened) + np.arange(len(parts))
            opened += new
        cut = gains.cut[some] if self.binary[place] else None
        goes = goes.reshape(len(some), width)
        return Parting(place=place, nodes=some, cut=cut, numeric=self.numeric[place], goes=goes)

    def _labels(self, place: int, node: int, sides: list[int], sizes: Whole, gains: Gains) -> list[Label]:
        held = self.grown.held(self.grown.open[node], place)
        if not self.binary[place]:
            largest = sides[int(sizes.argmax())]
            absent = set(held) - set(sides)
            return [tuple(sorted({side, *(absent if side == largest else ())})) for side in sides]
        if not self.numeric[place]:
            one = int(gains.cut[node])
            return [tuple(code for code in held if isinstance(code, int) and code != one), (one,)]
        lower, upper = (float(self.rows.marks[place][rank]) for rank in (gains.cut[node], gains.above[node]))
        cut = _threshold(self.rows.attributes[place].domain, lower, upper)
        (low, high) = held[0]  # type: ignore[misc]
        spans: list[Spans] = [((low, cut),), ((cut, high),)]
        return list(spans)


def _bits(rows: int) -> NDArray[np.float64]:
    found = np.arange(rows + 1, dtype=np.float64)
    found[1:] *= np.log2(found[1:])
    return found


def _threshold(domain: Categories | Numbers, low: float, high: float) -> float:
    """A cut between two neighbouring values: a mark of the grid, or a round number in the middle half between them."""
    if isinstance(domain, Numbers) and domain.grid is not None:
        return grid_cut(domain, (low + high + 1) // 2)
    return roundest(low + (high - low) / 4, high - (high - low) / 4)
