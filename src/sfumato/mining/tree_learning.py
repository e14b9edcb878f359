"""C4.5 from counts: best splits of a level, growth level by level, pessimistic pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between, one_of
from sfumato.core.errors import DataError, Infeasible
from sfumato.mining.attributes import Label, Spans, grid_cut
from sfumato.mining.leaf_privacy import Leaves, TreeRequirement
from sfumato.mining.node_rows import GrownTree, NodeRows, Parting, RecordRows, sides
from sfumato.mining.records import Records
from sfumato.mining.tree_document import MOST_TREE_DEPTH, TreeDocument
from sfumato.tables.labels import roundest
from sfumato.tables.schema import Categories, Numbers

# The best split of every node of a level at once: gains of categories and of thresholds, from counts.
#
# Rows are the records of the level's nodes, sorted by node. ``bits[n]`` is n log2 n, looked up instead of computed;
# the information of counts is bits of their sum less the sum of their bits.


Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Passing = Callable[[Whole], Flags]
"""Which counts (parts x classes) may be a leaf of their own."""
_BLOCK = 2**23
"""So many counts are made at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """The nodes whose splits are looked for."""

    counts: Whole
    """Nodes x classes."""
    bits: Reals
    """n log2 n for every n up to the records of the table."""
    least: int
    """How many records a part must have; of a category, two of its parts."""
    passing: Passing | None = None
    """What every part must meet."""

    @property
    def sizes(self) -> Whole:
        """Records per node."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def information(self) -> Reals:
        """Bits per node: records times entropy."""
        return np.asarray(self.bits[self.sizes] - self.bits[self.counts].sum(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gains:
    """What one attribute gains in each node, in bits per record; minus infinity where it cannot split."""

    gain: Reals
    """The information gain."""
    parted: Reals
    """The information of the parts themselves, by which the gain is divided."""
    cut: Whole
    """Of numbers, the last rank of the lower part; of one value against the others, that value."""
    above: Whole
    """Of numbers, the first rank of the upper part that a record has."""


def _tables(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Iterator[tuple[slice, Whole]]:
    """Counts of nodes x values x classes, some nodes at a time."""
    nodes, classes = level.counts.shape
    step = max(_BLOCK // (width * classes), 1)
    for first in range(0, nodes, step):
        last = min(first + step, nodes)
        low, high = np.searchsorted(node, (first, last))
        keys = ((node[low:high] - first) * width + value[low:high]) * classes + kind[low:high]
        yield (
            slice(first, last),
            np.bincount(keys, minlength=(last - first) * width * classes).reshape(-1, width, classes),
        )


def value_gains(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Gains:
    """Binary splits: the best value of each node against all others."""
    nodes, classes = level.counts.shape
    gain, parted, cut = np.full(nodes, -np.inf), np.zeros(nodes), np.full(nodes, -1, np.int64)
    for some, table in _tables(level, node, value, kind, width):
        sizes, information = level.sizes[some][:, None], level.information[some][:, None]
        rest = level.counts[some][:, None, :] - table
        part = table.sum(axis=2)
        other = sizes - part
        good = (part >= level.least) & (other >= level.least)
        if level.passing is not None:
            held = [level.passing(side.reshape(-1, classes)).reshape(part.shape) for side in (table, rest)]
            good &= held[0] & held[1]
        inside = level.bits[part] + level.bits[other] - level.bits[table].sum(axis=2) - level.bits[rest].sum(axis=2)
        gained = np.where(good, (information - inside) / np.maximum(sizes, 1), -np.inf)
        best = gained.argmax(axis=1)
        rows = np.arange(len(best))
        gain[some], cut[some] = gained[rows, best], best
        apart = level.bits[sizes[:, 0]] - level.bits[part[rows, best]] - level.bits[other[rows, best]]
        parted[some] = apart / np.maximum(sizes[:, 0], 1)
    return Gains(gain=gain, parted=parted, cut=cut, above=cut)


def category_gains(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Gains:
    """Multi-way splits: one part for each value that occurs."""
    nodes, classes = level.counts.shape
    gain, parted = np.full(nodes, -np.inf), np.zeros(nodes)
    for some, table in _tables(level, node, value, kind, width):
        information, sizes = level.information[some], level.sizes[some]
        part = table.sum(axis=2)
        good = (part >= level.least).sum(axis=1) >= 2
        if level.passing is not None:
            held = level.passing(table.reshape(-1, classes)).reshape(part.shape)
            good &= (held | (part == 0)).all(axis=1)
        here = level.bits[part]
        inside = here.sum(axis=1) - level.bits[table].sum(axis=(1, 2))
        gain[some] = np.where(good, (information - inside) / np.maximum(sizes, 1), -np.inf)
        parted[some] = (level.bits[sizes] - here.sum(axis=1)) / np.maximum(sizes, 1)
    none = np.full(nodes, -1, np.int64)
    return Gains(gain=gain, parted=parted, cut=none, above=none)


def number_gains(level: Level, node: Whole, rank: Whole, kind: Whole, *, penalty: bool = True) -> Gains:
    """Binary splits: the best threshold of each node; rows are sorted by node, then by rank.

    With ``penalty`` a gain is lowered by log2 of the thresholds tried over the records (C4.5, release 8), and a part
    needs a tenth of the average class, up to 25 records.
    """
    nodes, classes = level.counts.shape
    gain, parted = np.full(nodes, -np.inf), np.zeros(nodes)
    cut, above = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    places = np.flatnonzero((node[1:] == node[:-1]) & (rank[1:] != rank[:-1]))
    if not len(places):
        return Gains(gain=gain, parted=parted, cut=cut, above=above)
    sizes, information = level.sizes, level.information
    ends = np.cumsum(sizes)
    left_size = places + 1 - (ends - sizes)[node[places]]
    least = np.full(nodes, level.least)
    if penalty:
        least = np.maximum(level.least, np.minimum(sizes // (10 * classes), 25))
    fits = (left_size >= least[node[places]]) & (sizes[node[places]] - left_size >= least[node[places]])
    places, left_size = places[fits], left_size[fits]
    gained = _threshold_gains(level, node, kind, places, left_size)
    good = np.isfinite(gained)
    places, left_size, gained = places[good], left_size[good], gained[good]
    owners = node[places]
    if not len(places):
        return Gains(gain=gain, parted=parted, cut=cut, above=above)
    starts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    best = np.maximum.reduceat(gained, starts)
    tries = np.diff(np.append(starts, len(owners)))
    who = owners[starts]
    top = np.flatnonzero(gained == np.repeat(best, tries))
    first = top[np.searchsorted(top, starts)]
    size, left = sizes[who], left_size[first]
    charge = np.log2(tries) / size if penalty else 0.0
    gain[who] = (information[who] + best) / size - charge
    parted[who] = (level.bits[size] - level.bits[left] - level.bits[size - left]) / size
    cut[who], above[who] = rank[places[first]], rank[places[first] + 1]
    return Gains(gain=gain, parted=parted, cut=cut, above=above)


def _threshold_gains(level: Level, node: Whole, kind: Whole, places: Whole, left_size: Whole) -> Reals:
    """Minus the information inside both parts, for each threshold; minus infinity where a part is not allowed."""
    classes = level.counts.shape[1]
    gains = np.empty(len(places))
    before = np.cumsum(level.counts, axis=0) - level.counts
    running = np.zeros(classes, np.int64)
    step, done = max(_BLOCK // (2 * classes), 1), 0
    for first in range(0, len(node), step):
        some = kind[first : first + step]
        sums = np.zeros((len(some), classes), np.int32)
        sums[np.arange(len(some)), some] = 1
        np.cumsum(sums, axis=0, out=sums)
        upto = int(np.searchsorted(places, first + len(some)))
        here = places[done:upto]
        left = sums[here - first] + running - before[node[here]]
        whole = level.counts[node[here]]
        right, mine = whole - left, left_size[done:upto]
        inside = level.bits[mine] + level.bits[whole.sum(axis=1) - mine]
        inside -= level.bits[left].sum(axis=1) + level.bits[right].sum(axis=1)
        gains[done:upto] = -inside
        if level.passing is not None and len(here):
            gains[done:upto][~(level.passing(left) & level.passing(right))] = -np.inf
        running += sums[-1]
        done = upto
    return gains


# Pessimistic pruning: a part of a tree stays where it is expected to make fewer errors than a leaf in its place.


_SAVED = 0.1
"""A part that is expected to save less than so many errors is cut off."""


def pessimistic_errors(sizes: Reals, errors: Reals, confidence: float) -> Reals:
    """How many of so many records a leaf is expected to misclassify at the worst, given those it does.

    The upper limit of a binomial share at the confidence, as C4.5 approximates it.

    >>> pessimistic_errors(np.array([6.0, 9.0, 1.0]), np.zeros(3), 0.25).round(3).tolist()
    [1.238, 1.285, 0.75]
    """
    sizes, errors = np.asarray(sizes, np.float64), np.asarray(errors, np.float64)
    none = sizes * (1 - confidence ** (1 / np.maximum(sizes, 1)))
    some = _limit(sizes, np.maximum(errors, 1.0), confidence)
    return np.asarray(np.where(errors < 1e-6, none, np.where(errors < 1, none + errors * (some - none), some)))


def _limit(sizes: Reals, errors: Reals, confidence: float) -> Reals:
    """The same for one error or more."""
    square = NormalDist().inv_cdf(1 - confidence) ** 2
    half = errors + 0.5
    spread = np.sqrt(np.maximum(square * (half * (1 - half / np.maximum(sizes, 1)) + square / 4), 0))
    share = (half + square / 2 + spread) / (sizes + square)
    return np.asarray(np.where(half >= sizes, errors + 0.67 * (sizes - errors), sizes * share))


def collapsed(tree: GrownTree, confidence: float) -> GrownTree:
    """The tree without the parts that are not worth their nodes, from below."""
    counts = np.array(tree.counts, np.int64)
    sizes = counts.sum(axis=1).astype(np.float64)
    alone = pessimistic_errors(sizes, sizes - counts.max(axis=1), confidence)
    below = np.zeros(len(sizes))
    for node in range(len(sizes) - 1, -1, -1):
        expected = float(alone[node])
        if tree.attribute[node] >= 0:
            if expected <= below[node] + _SAVED:
                tree.attribute[node] = -1
            else:
                expected = float(below[node])
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += expected
    return tree


# C4.5: a tree with multi-way splits of categories and binary splits of numbers, grown level by level from counts.


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
        self.numeric = [attribute.numeric for attribute in rows.attributes]
        self.binary = [how.categories == "one" or is_numeric for is_numeric in self.numeric]
        self.grown = GrownTree(counts, [attribute.whole for attribute in rows.attributes])

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
        gains = [self._gains(level, place) for place in range(len(self.numeric))]
        if not gains:
            return False
        chosen = self._chosen(level, gains)
        self._split(chosen, gains)
        return bool((chosen >= 0).any())

    def _gains(self, level: Level, place: int) -> Gains:
        node, code, kind = self.rows.listed(place)
        if self.numeric[place]:
            return number_gains(level, node, code, kind, penalty=self.how.criterion == "gain-ratio")
        width = len(self.rows.marks[place])
        if self.binary[place]:
            return value_gains(level, node, code, kind, width)
        gains = category_gains(level, node, code, kind, width)
        used = np.array([place in self.grown.used[node] for node in self.grown.open], np.bool_)
        gains.gain[used] = -np.inf
        return gains

    def _chosen(self, level: Level, gains: list[Gains]) -> Whole:
        """The attribute of each node, or -1."""
        gain = np.array([column_gains.gain for column_gains in gains])
        worth = np.array([column_gains.gain for column_gains in gains])
        good = gain > _NOTHING
        if self.how.criterion == "gain-ratio":
            average = np.where(good, gain, 0).sum(axis=0) / np.maximum(good.sum(axis=0), 1)
            good &= gain >= average - _NOTHING
            parted = np.array([column_gains.parted for column_gains in gains])
            good &= parted > _NOTHING
            worth = np.divide(gain, parted, out=np.full(gain.shape, -np.inf), where=good)
        good &= (level.counts.max(axis=1) < level.sizes) & (level.sizes >= 2 * self.how.min_leaf)
        worth = np.where(good, worth, -np.inf)
        best = worth.argmax(axis=0)
        return np.where(good.any(axis=0), best, -1)

    def _split(self, chosen: Whole, gains: list[Gains]) -> None:
        """Make the children, and send the records to them."""
        opened: list[int] = []
        places = sorted(set(chosen[chosen >= 0].tolist()))
        partings = [self._part(place, np.flatnonzero(chosen == place), gains[place], opened) for place in places]
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
            cut_code = int(gains.cut[node])
            return [tuple(code for code in held if isinstance(code, int) and code != cut_code), (cut_code,)]
        lower, upper = (float(self.rows.marks[place][rank]) for rank in (gains.cut[node], gains.above[node]))
        cut = _threshold(self.rows.attributes[place].domain, lower, upper)
        (low, high) = held[0]  # type: ignore[misc]
        spans: list[Spans] = [((low, cut),), ((cut, high),)]
        return list(spans)


def _bits(rows: int) -> NDArray[np.float64]:
    bits = np.arange(rows + 1, dtype=np.float64)
    bits[1:] *= np.log2(bits[1:])
    return bits


def _threshold(domain: Categories | Numbers, low: float, high: float) -> float:
    """A cut between two neighbouring values: a mark of the grid, or a round number in the middle half between them."""
    if isinstance(domain, Numbers) and domain.grid is not None:
        return grid_cut(domain, (low + high + 1) // 2)
    return roundest(low + (high - low) / 4, high - (high - low) / 4)
