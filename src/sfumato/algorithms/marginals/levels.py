"""Coarser levels of an attribute by noisy counts, and noisy tables made to add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut, cut_of_nodes
from sfumato.algorithms.private_table import Attribute, Errors
from sfumato.tables.labels import Ends
from sfumato.tables.table import Codes
from sfumato.tables.taxonomy import TOP, Taxonomy

# From noisy tables to tables that add up: projection, fitting to margins, and shrinking by what noise explains.
#
# All of it reads noisy counts only, so it costs nothing.


Reals = NDArray[np.float64]
ROUNDS = 30
"""How often a table is fitted to its margins in turn."""
STEPS = 6
"""How often the spread of a table's true cells is estimated again."""
TINY = 1e-12
"""Stands for a share of 0."""


def nearest(table: Reals, totals: Reals) -> Reals:
    """The nearest table (by least squares) that is not negative and whose columns add up to some totals.

    >>> nearest(np.array([[5.0], [3.0], [-2.0]]), np.array([6.0])).ravel()
    array([4., 2., 0.])
    """
    falling = -np.sort(-table, axis=0)
    ranks = np.arange(1, len(table) + 1).reshape(-1, *[1] * (table.ndim - 1))
    excess = (falling.cumsum(axis=0) - totals) / ranks
    last = np.maximum((falling > excess).sum(axis=0) - 1, 0)
    level = np.take_along_axis(excess, last[None], axis=0)
    return np.where(totals > 0, np.maximum(table - level, 0.0), 0.0)


def shrunk(noisy: Reals, plain: Reals, variance: float) -> Reals:
    """Cells between what was counted and what a plainer model says, nearer to the latter where noise explains more.

    A true cell is taken to be its plain value times 1 + g, with g of mean 0 and one spread s for the whole table. Its
    best linear estimate moves from the plain value by the part e²s² / (e²s² + variance) of the difference. s² is what
    the differences show beyond noise (empirical Bayes, by moments). Nothing is negative.
    """
    away, square = noisy - plain, plain**2
    spread = 1.0
    for _ in range(STEPS):
        weight = square / np.maximum(square * spread + variance, TINY) ** 2
        spread = float((weight * (away**2 - variance)).sum() / max(float((weight * square).sum()), TINY))
        if spread <= 0:
            return plain
    signal = square * spread
    return np.asarray(np.maximum(plain + away * (signal / np.maximum(signal + variance, TINY)), plain / 64))


def raked(table: Reals, margins: Sequence[tuple[tuple[int, ...], Reals]]) -> Reals:
    """A table fitted in turn to margins: each is given with the axes that it adds up over. The last is met best."""
    for _ in range(ROUNDS):
        for over, margin in margins:
            sums = table.sum(axis=over, keepdims=True)
            table = table * (np.expand_dims(margin, over) / np.maximum(sums, TINY))
    return table


def mean_of(noisy_tables: Sequence[tuple[Reals, float]]) -> tuple[Reals, float]:
    """What several noisy tables say together, each weighed by its noise, and the variance of that."""
    precision = sum(1 / max(variance, TINY) for _, variance in noisy_tables)
    total = sum((table / max(variance, TINY) for table, variance in noisy_tables), np.zeros_like(noisy_tables[0][0]))
    return total / precision, 1 / precision


# Ways to coarsen an attribute: labels from the declared domain alone, and groups of labels by noisy counts.
#
# A label is what is published. Groups of labels are what tables of several attributes are counted by: labels with few
# rows are gathered, so that the noise of such tables stays small. Noisy counts decide that, so it costs nothing.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """One attribute, as it is published."""

    place: int
    """The attribute's place among all."""
    attribute: Attribute
    """Its declared domain."""
    cut: ColumnCut
    """The label of every leaf or cell of the grid."""
    nodes: Codes
    """The node of each label in the attribute's tree; of a number, nothing."""

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.cut.labels)


def binned(place: int, attribute: Attribute, most: int) -> Bins:
    """The finest level of a tree with at most ``most`` labels (else the coarsest), or as many intervals of a range."""
    if attribute.tree is None:
        cut, nodes = interval_cut(attribute, _starts(len(attribute.values), most)), np.zeros(0, np.int32)
    else:
        nodes = _level(attribute.tree, most)
        cut, nodes = cut_of_nodes(attribute.tree, nodes), np.unique(nodes)
    return Bins(place=place, attribute=attribute, cut=cut, nodes=nodes)


def _level(tree: Taxonomy, most: int) -> Codes:
    """For each leaf its node on the deepest level that has few enough; a leaf that lies higher reads as itself."""
    nodes = tree.leaf
    for nodes in _climbs(tree, tree.leaf):
        if len(np.unique(nodes)) <= most:
            break
    return nodes


def _climbs(tree: Taxonomy, nodes: Codes) -> Iterator[Codes]:
    """Nodes as they are on every level, the deepest first, down to the one below the root."""
    depth = np.zeros(len(tree.labels), np.int32)
    for node, above in enumerate(tree.parent.tolist()):
        depth[node] = 0 if above < 0 else depth[above] + 1
    for most in range(int(depth[nodes].max(initial=0)), 0, -1):
        nodes = np.where(depth[nodes] > most, tree.parent[nodes], nodes)
        yield nodes


def steps_of(bins: Bins) -> list[Codes]:
    """Groups of labels that the domain alone makes: levels of a tree; of a number, 1, 2, 4, 8 and 16 neighbours."""
    if bins.attribute.tree is None:
        return [np.arange(bins.size, dtype=np.int32) // wide for wide in (1, 2, 4, 8, 16)]
    levels = _climbs(bins.attribute.tree, bins.nodes)
    return [np.unique(nodes, return_inverse=True)[1].reshape(-1).astype(np.int32) for nodes in levels]


def _starts(cells: int, most: int) -> NDArray[np.int64]:
    """Where intervals begin: at every cell if these are few, else half of them equally far apart, half doubling.

    Intervals that double tell small numbers apart where nearly all are small.
    """
    if cells <= most:
        return np.arange(cells)
    doubling = 2 ** np.arange(1, (cells + 1).bit_length()) - 1
    doubling = doubling[doubling < cells]
    wide = max(most - len(doubling), (most + 1) // 2)
    return np.union1d(np.arange(0, cells, -(-cells // wide)), doubling[: most - wide])


def interval_cut(attribute: Attribute, starts: NDArray[np.int64]) -> ColumnCut:
    """The cut with an interval from each of some cells of the grid, ascending from 0, up to the next."""
    cells = len(attribute.values)
    bounds = [*starts.tolist(), cells]
    wide = np.diff(bounds)
    ends = Ends(low=attribute.low, high=attribute.high, low_known=True, high_known=True)
    edges = [*(attribute.edge(cell) for cell in starts.tolist()), attribute.high]
    labels = [ends.named(span, first=not n, last=n == len(starts) - 1) for n, span in enumerate(pairwise(edges))]
    return ColumnCut(
        labels=tuple(labels) if len(labels) > 1 else (TOP,),
        of_code=np.repeat(np.arange(len(starts), dtype=np.int32), wide),
        sizes=wide * float(attribute.grid),
        steps=(wide - 1) / max(cells - 1, 1),
        edges=tuple(edges[1:-1]),
    )


def gathered(bins: Bins, counts: Reals, least: float) -> Codes:
    """For each label its group, numbered from 0: groups have about ``least`` rows, as far as noisy counts tell.

    Numbers are gathered with their neighbours. Labels of a tree are gathered with the next siblings that have few rows
    too, and if all of these are few together, with those of the node above.
    """
    if bins.attribute.tree is None:
        return _in_order(counts, least)
    return _climbed(bins.attribute.tree, bins.nodes, counts, least)


def _in_order(counts: Reals, least: float) -> Codes:
    """Neighbours together until they have enough; what remains at the end goes to the last group."""
    groups, number, held = np.zeros(len(counts), np.int32), 0, 0.0
    for place, count in enumerate(counts.tolist()):
        groups[place] = number
        held += count
        if held >= least:
            number, held = number + 1, 0.0
    return np.minimum(groups, max(number - 1, 0)) if held < least else groups


def _climbed(tree: Taxonomy, nodes: Codes, counts: Reals, least: float) -> Codes:
    """Labels with enough rows alone; the others with their siblings, and so on upwards."""
    waiting: dict[int, list[int]] = {}
    groups, number = np.zeros(len(nodes), np.int32), 0
    places: Sequence[int] = np.argsort(-nodes, kind="stable").tolist()
    own = {int(nodes[place]): place for place in places}
    for node in range(len(tree.labels) - 1, -1, -1):
        held = waiting.pop(node, []) + ([own[node]] if node in own else [])
        if not held:
            continue
        if node == 0 or counts[held].sum() >= least:
            held.sort()
            inner = _in_order(counts[held], least)
            groups[held], number = number + inner, number + int(inner.max()) + 1
        else:
            waiting.setdefault(int(tree.parent[node]), []).extend(held)
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int32)


# An attribute on its three levels: published labels, groups of labels beside the class, and groups beside others.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Labels of one attribute in groups."""

    of_label: Codes
    """For each label, its group."""
    size: int
    """How many groups there are."""

    def summed(self, table: Reals) -> Reals:
        """The sums of some figures over the labels (first axis) of each group."""
        sums = np.zeros((self.size, *table.shape[1:]))
        np.add.at(sums, self.of_label, table)
        return sums


def grouping(of_label: Codes) -> Grouping:
    """A grouping whose numbers start at 0."""
    return Grouping(of_label=of_label, size=int(of_label.max(initial=0)) + 1)


@dataclass(slots=True, kw_only=True, eq=False)
class Levels:
    """One attribute: its noisy counts, and how its labels are gathered."""

    bins: Bins
    """The published labels."""
    noisy: Reals
    """Noisy counts of the labels."""
    variance: float
    """Of the noise of a count."""
    total: float
    """All rows."""
    fine: Grouping
    """Groups that are counted together with the class."""
    coarse: Grouping
    """Groups that are counted together with another attribute: made of the fine ones."""
    rows: Reals = field(init=False)
    """Counts of the labels that add up to all rows, none negative."""

    def __post_init__(self) -> None:
        self.recount(self.noisy, self.variance, self.total)

    @property
    def errors(self) -> Errors:
        """How noisy the labels' counts are; what other tables say about them only lowers that."""
        deviation = np.full(self.bins.size, np.sqrt(self.variance))
        return Errors(column=self.bins.attribute.name, labels=self.bins.cut.labels, deviation=deviation)

    @property
    def groupings(self) -> list[Grouping]:
        """How the labels may be counted with the class: gathered by noisy counts, and as the domain alone says."""
        candidates = [self.fine, *(grouping(step) for step in steps_of(self.bins))]
        return list(
            {candidate.of_label.tobytes(): candidate for candidate in candidates if candidate.size > 1}.values()
        )

    def codes(self, level: Grouping) -> Codes:
        """For each declared value (by code), its group."""
        return level.of_label[self.bins.cut.of_code]

    def recount(self, noisy: Reals, variance: float, total: float) -> None:
        """Newer counts. Within a fine group, labels are nearer to the same count where noise explains more."""
        self.noisy, self.variance, self.total = noisy, variance, total
        sums = nearest(self.fine.summed(noisy)[:, None], np.array([total]))[:, 0]
        labels = np.bincount(self.fine.of_label, minlength=self.fine.size)
        estimate = shrunk(noisy, np.maximum(sums / labels, TINY)[self.fine.of_label], variance)
        self.rows = estimate * (sums / np.maximum(self.fine.summed(estimate), TINY))[self.fine.of_label]

    def refine(self, fine: Grouping) -> None:
        """Other fine groups; coarse ones are made of them."""
        self.fine, self.coarse = fine, _nested(fine, self.coarse)
        self.recount(self.noisy, self.variance, self.total)


def levels_of(bins: Bins, noisy: Reals, variance: float, total: float, *, fine: float, coarse: float) -> Levels:
    """Groups with about so many rows at least, as the noisy counts tell; a coarse group is made of fine ones."""
    rows = nearest(noisy[:, None], np.array([total]))[:, 0]
    small = grouping(gathered(bins, rows, fine))
    large = _nested(small, grouping(gathered(bins, rows, max(coarse, fine))))
    return Levels(bins=bins, noisy=noisy, variance=variance, total=total, fine=small, coarse=large)


def _nested(small: Grouping, large: Grouping) -> Grouping:
    """The finest groups that are made of groups of both: a small one that lies in two large ones joins them."""
    root = np.arange(large.size)
    for group in range(small.size):
        mine = np.unique(root[large.of_label[small.of_label == group]])
        root[np.isin(root, mine)] = mine[0]
    return grouping(np.unique(root[large.of_label], return_inverse=True)[1].reshape(-1).astype(np.int32))
