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
from sfumato.mine.edge_labels import Label, Spans, grid_cells, grid_cut, largest_below
from sfumato.mine.grown_tree import GrownTree
from sfumato.mine.leaf_privacy import Leaves, TreeRequirement
from sfumato.mine.level_splits import Gains, Level, Passing, Whole, category_gains, number_gains, value_gains
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
        if not records.count or (records.codes < 0).any():
            raise DataError("a tree is learnt from records with a known class, at least one")
        if any(bool((column < 0).any()) for one, column in _categories(records) if len(one.values)):
            raise DataError("a tree is learnt from values of the domain; some records have others")
        growing = _Growing(self, records)
        if self.within is not None and not growing.passing(growing.grown.counts[0][None, :])[0]:
            raise Infeasible(f"the records as one leaf do not meet {self.within.name}, so no tree can; ask for less")
        for depth in range(self.max_depth):
            if not growing.level(depth):
                break
        whole = growing.grown
        return (whole if self.confidence is None else collapsed(whole, self.confidence)).document(records)


def learnt_tree(records: Records, **options: Any) -> TreeDocument:
    """A tree learnt with some options of ``TreeLearner``."""
    return TreeLearner(**options)(records)


def _categories(records: Records) -> list[tuple[Categories, NDArray[Any]]]:
    pairs = zip(records.attributes, records.columns, strict=True)
    return [(one.domain, column) for one, column in pairs if isinstance(one.domain, Categories)]


class _Growing:
    """Rows of the open nodes, sorted by node, and for each numeric attribute also by its rank."""

    def __init__(self, how: TreeLearner, records: Records) -> None:
        self.how, self.records = how, records
        self.kind = records.codes.astype(np.int64)
        self.bits = _bits(records.count)
        self.codes, self.values, self.below = [], [], []
        for one, column in zip(records.attributes, records.columns, strict=True):
            codes, values = _ranked(one.domain, column)
            self.codes.append(codes)
            self.values.append(values)
            self.below.append(largest_below(one.domain, column) if isinstance(one.domain, Numbers) else 0.0)
        self.numeric = [one.numeric for one in records.attributes]
        self.binary = [how.categories == "one" or one for one in self.numeric]
        counts = np.bincount(self.kind, minlength=len(records.classes))
        self.grown = GrownTree(counts, [one.whole for one in records.attributes])
        self.node = np.zeros(records.count, np.int64)
        self.rows = np.arange(records.count)
        self.orders = {
            place: np.argsort(self.codes[place], kind="stable") for place, yes in enumerate(self.numeric) if yes
        }

    def passing(self, counts: Whole) -> NDArray[np.bool_]:
        """Which counts meet what every node must."""
        return (
            np.ones(len(counts), np.bool_)
            if self.how.within is None
            else self.how.within.passes(Leaves.of_counts(counts))
        )

    def level(self, depth: int) -> bool:
        """Split the open nodes; tells whether any was."""
        counts = np.array([self.grown.counts[node] for node in self.grown.open], np.int64)
        if not len(counts):
            return False
        passing: Passing | None = None if self.how.within is None else self.passing
        level = Level(counts=counts, bits=self.bits, least=self.how.min_leaf, passing=passing)
        found = [self._gains(level, place) for place in range(len(self.codes))]
        if not found:
            return False
        chosen = self._chosen(level, found)
        self._split(chosen, found)
        return bool((chosen >= 0).any())

    def _gains(self, level: Level, place: int) -> Gains:
        if self.numeric[place]:
            rows = self.orders[place]
            codes = self.codes[place][rows]
            return number_gains(
                level, self.node[rows], codes, self.kind[rows], penalty=self.how.criterion == "gain-ratio"
            )
        rows, width = self.rows, len(self.values[place])
        if self.binary[place]:
            return value_gains(level, self.node[rows], self.codes[place][rows], self.kind[rows], width)
        found = category_gains(level, self.node[rows], self.codes[place][rows], self.kind[rows], width)
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
        """Make the children, send the rows to them, and forget the rows of leaves."""
        place_of = np.full(len(self.node), -1, np.int64)
        opened: list[int] = []
        for place in sorted(set(chosen[chosen >= 0].tolist())):
            some = np.flatnonzero(chosen == place)
            rows = self.rows[np.isin(self.node[self.rows], some)]
            side = self._sides(place, rows, found[place])
            self._part(place, some, rows, side, found[place], place_of, opened)
        self.node, self.grown.open = place_of, opened
        self._sorted()

    def _sides(self, place: int, rows: Whole, gains: Gains) -> Whole:
        codes = self.codes[place][rows]
        if not self.binary[place]:
            return codes
        cut = gains.cut[self.node[rows]]
        return np.asarray(codes > cut if self.numeric[place] else codes == cut, np.int64)

    def _part(
        self, place: int, some: Whole, rows: Whole, side: Whole, gains: Gains, place_of: Whole, opened: list[int]
    ) -> None:
        """Count the parts of the nodes that an attribute splits, make them nodes, and open them."""
        width = 2 if self.binary[place] else len(self.values[place])
        classes = len(self.records.classes)
        slot = np.full(len(self.grown.open), -1, np.int64)
        slot[some] = np.arange(len(some))
        keys = slot[self.node[rows]] * width + side
        held, inverse = np.unique(keys, return_inverse=True)
        counts = np.bincount(inverse * classes + self.kind[rows], minlength=len(held) * classes).reshape(-1, classes)
        sizes = counts.sum(axis=1)
        first = np.searchsorted(held, np.arange(len(some) + 1) * width)
        for n, open_place in enumerate(some.tolist()):
            parts = range(int(first[n]), int(first[n + 1]))
            labels = self._labels(place, open_place, [int(held[p]) % width for p in parts], sizes[list(parts)], gains)
            new = self.grown.split(self.grown.open[open_place], place, labels, [counts[p] for p in parts])
            for part, child in zip(parts, new, strict=True):
                held[part] = len(opened)
                opened.append(child)
        place_of[rows] = held[inverse]

    def _labels(self, place: int, node: int, sides: list[int], sizes: Whole, gains: Gains) -> list[Label]:
        held = self.grown.held(self.grown.open[node], place)
        if not self.binary[place]:
            largest = sides[int(sizes.argmax())]
            absent = set(held) - set(sides)
            return [tuple(sorted({side, *(absent if side == largest else ())})) for side in sides]
        if not self.numeric[place]:
            one = int(gains.cut[node])
            return [tuple(code for code in held if isinstance(code, int) and code != one), (one,)]
        lower, upper = (float(self.values[place][rank]) for rank in (gains.cut[node], gains.above[node]))
        cut = _threshold(self.records.attributes[place].domain, lower, upper, self.below[place])
        (low, high) = held[0]  # type: ignore[misc]
        spans: list[Spans] = [((low, cut),), ((cut, high),)]
        return list(spans)

    def _sorted(self) -> None:
        """Rows of open nodes by node; numeric orders keep theirs within a node."""
        for place, rows in self.orders.items():
            kept = rows[self.node[rows] >= 0]
            self.orders[place] = kept[np.argsort(self.node[kept], kind="stable")]
        kept = self.rows[self.node[self.rows] >= 0]
        self.rows = kept[np.argsort(self.node[kept], kind="stable")]


def _bits(rows: int) -> NDArray[np.float64]:
    found = np.arange(rows + 1, dtype=np.float64)
    found[1:] *= np.log2(found[1:])
    return found


def _ranked(domain: Categories | Numbers, column: NDArray[Any]) -> tuple[Whole, NDArray[Any]]:
    """Codes in order of size, and what they stand for: values, numbers, or cells of the grid."""
    if isinstance(domain, Categories):
        return column.astype(np.int64), np.arange(len(domain.values))
    if not bool(((column >= domain.low) & (column <= domain.high)).all()):
        raise DataError("a tree is learnt from numbers of the domain; some records have others")
    values, codes = np.unique(grid_cells(domain, column), return_inverse=True)
    return codes.astype(np.int64), values


def _threshold(domain: Categories | Numbers, low: float, high: float, below: float) -> float:
    """A cut between two neighbouring values: a mark of the grid, or a round number in the middle half between them."""
    if isinstance(domain, Numbers) and domain.grid is not None:
        return grid_cut(domain, (low + high + 1) // 2, below)
    return roundest(low + (high - low) / 4, high - (high - low) / 4)
