"""What learners on randomized answers share: columns, cells, gini splits, counts of regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.collection.channels import (
    Channel,
    Evidence,
    Reals,
    Whole,
    category_channel,
    evidence,
    exact,
    number_channel,
)
from sfumato.collection.joint_distribution import reconstruct_joint
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits, declared_place
from sfumato.collection.reconstruction import Stopping, reconstruct
from sfumato.core.errors import DataError, ParameterError, listed

# Columns of whatever frame or array a learner is given, in the order of the questions; and their cells.


Asked = NoisyNumber | KeptCategory | UnaryBits


def columns_of(table: Any, questions: Sequence[Asked]) -> list[Any]:
    """One array per question: by name from a frame, by place from an array."""
    refuse_others(questions)
    if hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        for question in questions:
            if question.name not in names:
                raise DataError(f"there is no column {question.name!r}; the table has {listed(names)}")
        return [np.asarray(table[question.name]) for question in questions]
    given = np.asarray(table)
    if given.ndim != 2 or given.shape[1] != len(questions):
        raise DataError(f"X must have {len(questions)} columns, one for each question; its shape is {given.shape}")
    return [given[:, place] for place in range(len(questions))]


def refuse_others(questions: Sequence[Asked]) -> None:
    """Refuse questions that have no cells: sets of items have none."""
    good = [isinstance(question, Asked) and question.kind != "items" for question in questions]
    if not good or not all(good):
        raise ParameterError(
            "questions must be numbers, kept categories or unary bits, at least one; not "
            f"{[getattr(question, 'kind', type(question).__name__) for question in questions]}"
        )


def channel_of(question: Asked, cells: int) -> Channel:
    """The cells of a question; numbers have at most so many.

    Of unary bits the outcomes are known where answers are; here each cell is an outcome of its own.
    """
    if isinstance(question, KeptCategory):
        return category_channel(question)
    if isinstance(question, UnaryBits):
        return exact(question.name, question.values, np.zeros(0, np.int64)).channel
    return number_channel(question, min(cells, question.steps + 1))


def shown_evidence(question: Asked, answers: Any, cells: int) -> Evidence:
    """Shown answers as evidence, in the same cells."""
    if not isinstance(question, NoisyNumber):
        return evidence(question, [str(answer) for answer in answers])
    return evidence(question, np.asarray(answers, np.float64), cells=min(cells, question.steps + 1))


def true_cells(question: Asked, channel: Channel, values: Any) -> Whole:
    """The cell of every original value; numbers outside the range fall into its ends."""
    if channel.edges is not None:
        given = np.asarray(values, np.float64)
        if np.isnan(given).any():
            raise DataError(f"column {question.name!r}: NaN is no value; leave such rows out")
        return np.asarray(np.searchsorted(channel.edges[1:-1], given, side="right"), np.int64)
    if isinstance(question, NoisyNumber):
        raise TypeError("a channel of numbers has edges")
    known = {str(value): declared_place(question.name, str(value), question.values) for value in set(values)}
    return np.fromiter((known[str(value)] for value in values), np.int64, len(values))


def classes_of(y: Any, rows: int) -> tuple[Any, Whole]:
    """The classes, and the place of every label among them."""
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(codes) != rows:
        raise DataError(f"y must have a label for each of the {rows:,} rows, not {len(codes):,}")
    if len(labels) < 2:
        raise DataError(f"y must have at least two classes; it has {listed(labels)} alone")
    return labels, np.asarray(codes, np.int64).reshape(-1)


def cells_for(answers: int) -> int:
    """How many cells so many answers can tell apart: a hundred answers each, from 10 to 100 cells.

    Source: Agrawal and Srikant 2000, section 4.1.
    """
    return int(np.clip(answers // 100, 10, 100))


# Binary splits by the gini index on counts of cells, and pruning by doubt.


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Below a number of a column or from it on; or some of its categories, and all others."""

    column: int
    """The column, by its place."""
    threshold: float
    """The smallest number of the upper part; NaN where categories are split."""
    gain: float
    """By how much the gini index falls."""
    chosen: frozenset[int] = frozenset()
    """Of categories: the cells of the first part."""

    def first(self, values: Reals | Whole) -> Flags:
        """Which records go to the first part, by their numbers or by the cells of their categories."""
        if self.chosen:
            return np.isin(values, list(self.chosen))
        return np.asarray(values < self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A node of a tree."""

    counts: Reals
    """Records of every class."""
    split: Split | None = None
    """None in a leaf."""
    children: tuple[Node, ...] = ()
    """The first part of the split, and the other."""

    @property
    def errors(self) -> float:
        """Records of other classes than the most frequent one."""
        return float(self.counts.sum() - self.counts.max())

    @property
    def leaves(self) -> int:
        """How many there are below, or 1."""
        return sum(child.leaves for child in self.children) if self.children else 1


def is_worth(counts: Reals, least: int) -> bool:
    """Whether a node has several classes, and records for two parts."""
    return bool((counts > 0).sum() > 1 and counts.sum() >= 2 * least)


def best_of(splits: Iterable[Split | None]) -> Split | None:
    """The split with the lowest gini index, the first of equal ones; None where there is none."""
    best: Split | None = None
    for split in splits:
        if split is not None and (best is None or split.gain > best.gain):
            best = split
    return best


def split_on(column: int, table: Reals, edges: Reals | None, least: float) -> Split | None:
    """The best split by one column: of numbers, whose cells begin at edges, or of categories.

    None where every part would have too few records, or nothing is gained.
    """
    if edges is None:
        some = subset_of(table, least)
        return None if some is None else Split(column=column, threshold=nan, gain=some[1], chosen=some[0])
    cut = split_of(table, least)
    return None if cut is None else Split(column=column, threshold=float(edges[cut[0]]), gain=cut[1])


def subset_of(table: Reals, least: float) -> tuple[frozenset[int], float] | None:
    """The best division of categories into two parts, by counts of categories x classes, and what it gains.

    Categories in the order of a class's share are cut once; of more than two classes, the orders of all their shares.
    Both parts have at least so many rows.

    Claim: of two classes no division is better, where the best one has enough rows in both parts, as any has with
        ``least`` = 1 and whole counts. Where it has not, only other cuts of the same order are tried: another division
        may be allowed and gain more.
    Source: Breiman, Friedman, Olshen and Stone 1984, theorem 4.5.

    >>> subset_of(np.array([[5.0, 1], [0, 6], [4, 0]]), 1)[0]
    frozenset({1})
    """
    there = np.flatnonzero(table.sum(axis=1) > 0)
    shares = table[there] / table[there].sum(axis=1, keepdims=True)
    best: tuple[frozenset[int], float] | None = None
    for class_code in range(1 if table.shape[1] == 2 else table.shape[1]):
        order = there[np.argsort(shares[:, class_code], kind="stable")]
        cut = split_of(table[order], least) if len(order) > 1 else None
        if cut is not None and (best is None or cut[1] > best[1]):
            best = frozenset(order[: cut[0]].tolist()), cut[1]
    return best


def split_of(table: Reals, least: float) -> tuple[int, float] | None:
    """The best place to cut counts of cells x classes, whole or real, and what it gains.

    >>> split_of(np.array([[5.0, 0], [4, 1], [0, 6]]), 1)[0]
    2
    """
    below = np.cumsum(table, axis=0)[:-1]
    whole = table.sum(axis=0)
    left, total = below.sum(axis=1), float(whole.sum())
    right = total - left
    good = (left >= least) & (right >= least)
    if not good.any():
        return None
    parts = (below**2).sum(axis=1) / np.maximum(left, 1e-300) + ((whole - below) ** 2).sum(axis=1) / np.maximum(
        right, 1e-300
    )
    gains = np.where(good, (parts - (whole**2).sum() / total) / total, -1.0)
    place = int(gains.argmax())
    return (place + 1, float(gains[place])) if gains[place] > 1e-12 else None


def pruned(node: Node, doubts: float) -> Node:
    """The tree without the parts that save no more errors than chance would.

    A part of so many leaves is kept where it saves more than ``doubts`` standard deviations of the errors of the node,
    and at least half an error for each of its leaves.
    """
    if node.split is None:
        return node
    kept = Node(counts=node.counts, split=node.split, children=tuple(pruned(child, doubts) for child in node.children))
    share = node.errors / max(float(node.counts.sum()), 1.0)
    chance = doubts * np.sqrt(node.errors * (1 - share))
    saved = node.errors - _left(kept)
    return kept if saved > max(chance, kept.leaves / 2) else Node(counts=node.counts)


def _left(node: Node) -> float:
    return sum(_left(child) for child in node.children) if node.children else node.errors


# Shown records in cells of the original, as many in each as were reconstructed.
#
# Numbers have an order: the lowest shown values go to the lowest cells. Categories have none: of all records that show
# the same, each category gets its part by Bayes' rule, and which of them go there is drawn by lot.
# Source: Agrawal and Srikant 2000, section 4.1 (numbers).


def whole_counts(shares: Reals, total: int) -> Whole:
    """Whole numbers with these shares that add up to a total: the largest remainders are rounded up.

    >>> whole_counts(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    exact = shares / shares.sum() * total
    counts = np.asarray(np.floor(exact), np.int64)
    up = np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]
    counts[up] += 1
    return counts


def associated(seen: Evidence, answers: Any, stopping: Stopping | None, lots: Whole) -> Whole:
    """The cell of every record, by what it shows; ``lots`` are a place for each in a random order."""
    distribution = reconstruct(seen, stopping=stopping)
    cells = np.empty(seen.answers, np.int64)
    if seen.channel.edges is not None:
        counts = whole_counts(distribution.shares, seen.answers)
        cells[np.argsort(answers, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
        return cells
    order = np.lexsort((lots, seen.codes))
    ends = np.cumsum(seen.counts).astype(np.int64)
    likely = seen.channel.matrix * distribution.shares
    for outcome in np.flatnonzero(seen.counts).tolist():
        held = order[ends[outcome] - int(seen.counts[outcome]) : ends[outcome]]
        part = likely[outcome] if likely[outcome].sum() > 0 else distribution.shares
        cells[held] = np.repeat(np.arange(seen.channel.cells), whole_counts(part, len(held)))
    return cells


def by_class(seen: Evidence, answers: Any, classes: Whole, many: int, stopping: Stopping | None, lots: Whole) -> Whole:
    """The same with a distribution of every class by itself."""
    cells = np.empty(seen.answers, np.int64)
    for class_code in range(many):
        held = np.flatnonzero(classes == class_code)
        if len(held):
            cells[held] = associated(seen.take(held), answers[held], stopping, lots[held])
    return cells


# Class counts of regions from joint distributions: every set of columns is reconstructed once for each class.


Region = dict[int, tuple[float, float] | frozenset[int]]
"""For some columns, from where to where; of categories, which cells."""
_CELLS = (100, 40, 20)
"""Cells of a column by itself, in a pair, and among three: a joint of more cells would be spread too thinly."""
_ENDS = Stopping(limit=0.001)
"""Joints are followed further than single columns."""


@dataclass(slots=True, eq=False)
class JointCounts:
    """Shown answers to several questions, and true classes."""

    questions: Sequence[Asked]
    """The columns."""
    shown: Sequence[Any]
    """What each of them shows."""
    classes: Whole
    """The class of every record."""
    many: int
    """How many classes there are."""
    stopping: Stopping | None = None
    """When an iteration ends."""
    _known: dict[tuple[int, ...], Reals] = field(default_factory=dict)
    _seen: dict[tuple[int, int], Evidence] = field(default_factory=dict)

    def table(self, columns: tuple[int, ...]) -> Reals:
        """Classes x cells of these columns: estimated counts."""
        if columns not in self._known:
            seen = [self.evidence(column, len(columns)) for column in columns]
            parts = []
            for class_code in range(self.many):
                held = np.flatnonzero(self.classes == class_code)
                some = [each.take(held) for each in seen]
                parts.append(reconstruct_joint(some, stopping=self.stopping or _ENDS).counts)
            self._known[columns] = np.array(parts)
        return self._known[columns]

    def evidence(self, column: int, together: int) -> Evidence:
        """The answers to a question, in as many cells as so many columns together can have."""
        key = column, _CELLS[together - 1] if isinstance(self.questions[column], NoisyNumber) else 0
        if key not in self._seen:
            self._seen[key] = shown_evidence(self.questions[column], self.shown[column], _CELLS[together - 1])
        return self._seen[key]

    def within(self, region: Region, column: int) -> tuple[Reals, Reals | None]:
        """Cells of a column x classes: the counts of a region, from the joint of its columns and this one; its edges.

        Of a cell that lies partly in the region a part counts: all its values are alike.
        """
        columns = tuple(sorted({*region, column}))
        table = self.table(columns)
        for axis, axis_column in enumerate(columns):
            if axis_column in region:
                inside = _inside(self.evidence(axis_column, len(columns)).channel, region[axis_column])
                table = np.moveaxis(np.moveaxis(table, axis + 1, -1) * inside, -1, axis + 1)
        others = tuple(axis + 1 for axis, axis_column in enumerate(columns) if axis_column != column)
        return np.asarray(table.sum(axis=others).T), self.evidence(column, len(columns)).channel.edges


def _inside(channel: Channel, part: tuple[float, float] | frozenset[int]) -> Reals:
    """How much of each cell lies in a part of a column."""
    if channel.edges is None or isinstance(part, frozenset):
        return np.isin(np.arange(channel.cells), list(part)).astype(np.float64)
    low, high = part
    below, above = np.maximum(channel.edges[:-1], low), np.minimum(channel.edges[1:], high)
    return np.asarray(np.clip(above - below, 0, None) / np.diff(channel.edges))


@dataclass(frozen=True, slots=True, kw_only=True)
class JointGrowing:
    """Grows a tree on joint counts alone."""

    counts: JointCounts
    """Where they come from."""
    max_depth: int
    """At most so many splits on a path."""
    min_leaf: int
    """Every leaf stands for at least so many people."""

    def node(self, region: Region, depth: int = 0) -> Node:
        """A node with everything below it."""
        mine = self.counts.within(region, next(iter(region), 0))[0].sum(axis=0)
        if depth >= self.max_depth or not is_worth(mine, self.min_leaf):
            return Node(counts=mine)
        split = self._best(region)
        if split is None:
            return Node(counts=mine)
        return Node(
            counts=mine,
            split=split,
            children=tuple(self.node({**region, split.column: part}, depth + 1) for part in self._parts(region, split)),
        )

    def _parts(self, region: Region, split: Split) -> list[tuple[float, float] | frozenset[int]]:
        """What the two parts of a split hold of its column."""
        question, held = self.counts.questions[split.column], region.get(split.column)
        if isinstance(question, NoisyNumber):
            low, high = held if isinstance(held, tuple) else (float(question.low), float(question.high))
            return [(low, split.threshold), (split.threshold, high)]
        cells = held if isinstance(held, frozenset) else frozenset(range(len(question.values)))
        return [cells & split.chosen, cells - split.chosen]

    def _best(self, region: Region) -> Split | None:
        """The best split by any column, or by those above where there are as many as a joint can have."""
        columns = range(len(self.counts.questions)) if len(region) < len(_CELLS) else region
        return best_of(split_on(column, *self.counts.within(region, column), self.min_leaf) for column in columns)
