"""The tree model of a table, fitted to noisy marginals, and the rows drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.marginals.levels import TINY, Grouping, Levels, mean_of, nearest, raked, shrunk
from sfumato.counts.keys import distinct, representatives
from sfumato.tables.table import Codes

# The core: a few attributes in one table with the class, so that nothing is believed about them twice.


Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Core:
    """Noisy counts of the fine groups of a few attributes, together and in every class."""

    places: tuple[int, ...]
    """The attributes."""
    sizes: tuple[int, ...]
    """How many groups each has."""
    counts: Reals
    """Cells x classes; a cell is a group of every attribute, the last one running fastest."""
    variance: float
    """Of the noise of a count."""

    @property
    def groups(self) -> Codes:
        """Attributes x cells: the group of each attribute in each cell."""
        return np.array(np.unravel_index(np.arange(prod(self.sizes)), self.sizes), np.int32)

    def rows(self, totals: Reals) -> Reals:
        """Cells x classes: the nearest rows that add up to the classes' totals."""
        return nearest(self.counts, totals)

    def alone(self, rows: Reals, number: int) -> Reals:
        """Groups x classes of one of the attributes, by its number."""
        every = rows.reshape(*self.sizes, rows.shape[1])
        return np.asarray(every.sum(axis=tuple(axis for axis in range(len(self.sizes)) if axis != number)))


# The model of a table: a class-rooted tree, fitted to noisy tables only, so making it costs nothing.
#
# A few attributes, the core, depend on each other and the class as they were counted together. Every other one depends
# on the class and on at most one other attribute. Each is a chain of levels: its coarse group given the class and the
# other's coarse group, its fine group given that and the class, its label given that.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassTable:
    """Noisy counts of an attribute's fine groups in every class."""

    place: int
    """The attribute."""
    counts: Reals
    """Fine groups x classes."""
    variance: float
    """Of the noise of a count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edge:
    """Noisy counts of two attributes' coarse groups together."""

    places: tuple[int, int]
    """The attributes."""
    counts: Reals
    """Groups of the first x groups of the second x classes; one class where it was not counted."""
    variance: float
    """Of the noise of a count."""

    def turned(self, above: int) -> Reals:
        """The counts with the attribute ``above`` first."""
        return self.counts if self.places[0] == above else np.swapaxes(self.counts, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """What rows are drawn from."""

    totals: Reals
    """Rows of every class."""
    order: tuple[int, ...]
    """The attributes, each after its parent."""
    parents: tuple[int, ...]
    """For each attribute, by place, its parent's place, or -1; one of the core has none."""
    shares: tuple[Reals, ...]
    """For each attribute, by place: parent groups x classes x labels; shares that add up to 1 over the labels. For one
    of the core, its own groups stand in place of a parent's."""
    groups: tuple[Grouping, ...]
    """For each attribute, by place, the coarse groups by which its children depend on it."""
    core: dict[int, Codes]
    """For each attribute of the core, by place, its group in every cell."""
    cells: Reals
    """Classes x cells of the core: shares that add up to 1 over the cells; one cell if there is no core."""


def fitted(
    levels: Sequence[Levels],
    totals: Reals,
    tables: Sequence[ClassTable] = (),
    edges: Sequence[Edge] = (),
    core: Core | None = None,
) -> Model:
    """The tree model nearest to the noisy tables: what several of them say is averaged, and shrunk by its noise."""
    with_class = known_rows(levels, totals, tables, core)
    inner = {} if core is None else dict(zip(core.places, core.groups, strict=True))
    cells = np.ones((1, len(totals))) if core is None else np.maximum(core.rows(totals), TINY)
    order, parents = _rooted(len(levels), list(with_class), edges)
    measured = {frozenset(edge.places): edge for edge in edges}
    class_counts: dict[int, Reals] = {}
    shares: dict[int, Reals] = {}
    for place in order:
        above, mine = parents[place], levels[place]
        own = _coarse_by_class(mine, totals, with_class.get(place), edges, place)
        if above < 0:
            class_counts[place] = _independent(mine, totals) if own is None else own
            joint = class_counts[place][None]
        else:
            joint = _joint(measured[frozenset((above, place))], above, class_counts[above], own, mine, totals)
            class_counts[place] = joint.sum(axis=0)
        shares[place] = (
            _inside(mine, totals) if place in inner else _labelled(joint, mine, with_class.get(place), totals)
        )
    return Model(
        totals=totals,
        order=tuple(order),
        parents=tuple(parents),
        shares=tuple(shares[place] for place in range(len(levels))),
        groups=tuple(level.coarse for level in levels),
        core=inner,
        cells=(cells / cells.sum(axis=0)).T,
    )


def known_rows(
    levels: Sequence[Levels], totals: Reals, tables: Sequence[ClassTable], core: Core | None
) -> dict[int, Reals]:
    """Fine groups x classes of every attribute that was counted with the class, by place."""
    rows: dict[int, Reals] = {}
    if core is not None:
        every = core.rows(totals)
        rows = {place: core.alone(every, number) for number, place in enumerate(core.places)}
    return rows | {table.place: classed(levels[table.place], totals, table) for table in tables}


def classed(mine: Levels, totals: Reals, table: ClassTable) -> Reals:
    """Fine groups x classes: rows that add up to the classes' totals and, nearly, to the attribute's own counts."""
    alone = mine.fine.summed(mine.rows)
    labels = np.bincount(mine.fine.of_label, minlength=mine.fine.size)
    sums = [(alone, mine.variance * float(labels.mean())), (table.counts.sum(axis=1), table.variance * len(totals))]
    rows = nearest(mean_of(sums)[0][:, None], np.array([totals.sum()]))[:, 0]
    return raked(np.maximum(nearest(table.counts, totals), TINY), [((1,), rows), ((0,), totals)])


def coarse_rows(mine: Levels, totals: Reals, known: Reals | None) -> Reals:
    """Coarse groups x classes, from fine ones if they are known."""
    return _independent(mine, totals) if known is None else _upwards(mine, known)


def _upwards(mine: Levels, with_class: Reals) -> Reals:
    """From fine groups to coarse ones."""
    above = np.zeros(mine.fine.size, np.int32)
    above[mine.fine.of_label] = mine.coarse.of_label
    sums = np.zeros((mine.coarse.size, with_class.shape[1]))
    np.add.at(sums, above, with_class)
    return sums


def _independent(mine: Levels, totals: Reals) -> Reals:
    return np.outer(mine.coarse.summed(mine.rows), totals / max(float(totals.sum()), TINY))


def _coarse_by_class(
    mine: Levels, totals: Reals, with_class: Reals | None, edges: Sequence[Edge], place: int
) -> Reals | None:
    """Coarse groups x classes, where anything was counted with the class; from all tables that tell."""
    if with_class is not None:
        return _upwards(mine, with_class)
    some = [edge for edge in edges if place in edge.places and edge.counts.shape[2] > 1]
    if not some:
        return None
    noisy_tables = [(edge.turned(place).sum(axis=1), edge.variance * edge.turned(place).shape[1]) for edge in some]
    noisy, variance = mean_of(noisy_tables)
    plain = np.maximum(_independent(mine, totals), TINY)
    return raked(shrunk(noisy, plain, variance), [((1,), plain.sum(axis=1)), ((0,), totals)])


def _joint(edge: Edge, above: int, up: Reals, own: Reals | None, mine: Levels, totals: Reals) -> Reals:
    """Parent groups x groups x classes: rows that agree with the parent, and with the attribute's own classes."""
    noisy, kinds = edge.turned(above), len(totals)
    given = _independent(mine, totals) if own is None else own
    plain = up[:, None, :] * (given / np.maximum(given.sum(axis=0), TINY))[None]
    if noisy.shape[2] < kinds:
        pairs = plain.sum(axis=2)
        joint = shrunk(noisy[..., 0], np.maximum(pairs, TINY), edge.variance)
        plain = plain * (joint / np.maximum(pairs, TINY))[..., None]
        kept = [((2,), raked(joint, [((0,), pairs.sum(axis=0)), ((1,), pairs.sum(axis=1))]))]
    else:
        plain, kept = shrunk(noisy, np.maximum(plain, TINY), edge.variance), []
    lower = [] if own is None else [((0,), own)]
    return raked(plain, [*kept, *lower, ((1,), up)])


def _inside(mine: Levels, totals: Reals) -> Reals:
    """Fine groups x classes x labels: shares of labels within their group, alike in all classes."""
    labels = len(mine.rows)
    rows = np.maximum(mine.rows, TINY)
    shares = np.zeros((mine.fine.size, len(totals), labels))
    shares[mine.fine.of_label, :, np.arange(labels)] = (rows / mine.fine.summed(rows)[mine.fine.of_label])[:, None]
    return shares


def _labelled(joint: Reals, mine: Levels, with_class: Reals | None, totals: Reals) -> Reals:
    """Parent groups x classes x labels: shares of labels within coarse groups, by class where that was counted."""
    labels, kinds = len(mine.rows), len(totals)
    inside = np.maximum(mine.rows, TINY)[:, None] * np.ones(kinds)
    if with_class is not None:
        groups = np.maximum(mine.fine.summed(inside), TINY)
        inside = inside / groups[mine.fine.of_label] * np.maximum(with_class, TINY)[mine.fine.of_label]
    inside = inside / np.maximum(mine.coarse.summed(inside), TINY)[mine.coarse.of_label]
    spread = np.moveaxis(joint, 1, 2)[..., mine.coarse.of_label] * inside.T[None]
    sums = spread.sum(axis=2, keepdims=True)
    otherwise = np.maximum(mine.rows, TINY) / np.maximum(mine.rows, TINY).sum()
    return np.where(sums > TINY, spread / np.maximum(sums, TINY), otherwise.reshape(1, 1, labels))


def _rooted(many: int, first: Sequence[int], edges: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """An order in which attributes follow their parents, and the parents; those with the class are roots first."""
    near: dict[int, list[int]] = {place: [] for place in range(many)}
    for edge in edges:
        near[edge.places[0]].append(edge.places[1])
        near[edge.places[1]].append(edge.places[0])
    order, parents, seen = list[int](), [-1] * many, set[int]()
    for root in [*first, *range(many)]:
        if root in seen:
            continue
        seen.add(root)
        waiting = [root]
        while waiting:
            place = waiting.pop(0)
            order.append(place)
            for other in near[place]:
                if other not in seen:
                    seen.add(other)
                    parents[other] = place
                    waiting.append(other)
    return order, parents


# Rows from a tree model: as many as it says, with its marginals up to rounding. This costs nothing.


Counts = NDArray[np.int64]
MOST = 2**20
"""How many rows are made at most; if the model says more, every row made stands for several."""


def rows_of(model: Model, dice: np.random.Generator) -> tuple[Codes, Counts, int]:
    """Columns x groups, groups x classes, and how many rows each row that was made stands for.

    Rows get a cell of the core, then column after column its values: among the rows of one class and one parent value
    (or group of the core), every value is given as often as its share says, up to rounding; which rows get it is drawn.
    """
    stands = max(-(-int(np.rint(model.totals).sum()) // MOST), 1)
    whole = np.rint(model.totals / stands).astype(np.int64)
    kinds, many = len(whole), len(model.order)
    kind = np.repeat(np.arange(kinds, dtype=np.int32), whole)
    groups = np.zeros((many, len(kind)), np.int32)
    cell = _given(kind, model.cells, dice)
    for place in model.order:
        above, shares = model.parents[place], model.shares[place]
        if place in model.core:
            group = model.core[place][cell] * kinds + kind
        else:
            group = kind if above < 0 else model.groups[above].of_label[groups[above]] * kinds + kind
        groups[place] = _given(group, shares.reshape(-1, shares.shape[2]), dice)
    if not len(kind):
        return groups, np.zeros((0, kinds), np.int64), stands
    sizes = [shares.shape[2] for shares in model.shares]
    ids, count = distinct(list(groups), sizes, len(kind)) if many else (np.zeros(len(kind), np.int64), 1)
    keys = groups[:, representatives(ids, count)]
    return keys, np.bincount(ids * kinds + kind, minlength=count * kinds).reshape(count, kinds) * stands, stands


def _given(group: Codes, shares: Reals, dice: np.random.Generator) -> Codes:
    """A value for every row: within each group as many of every value as its shares say, to whom is drawn."""
    sizes = np.bincount(group, minlength=len(shares))
    counts = apportioned(shares, sizes, dice.random(len(shares)))
    order = np.lexsort((dice.random(len(group)), group))
    values = np.empty(len(group), np.int32)
    values[order] = np.repeat(np.tile(np.arange(shares.shape[1], dtype=np.int32), len(shares)), counts.ravel())
    return values


def apportioned(shares: Reals, sizes: Counts, start: Reals) -> Counts:
    """Groups x values: whole numbers that add up to each group's size, each within 1 of its share.

    With a start that is drawn uniformly between 0 and 1 for each group, their means are the shares exactly.

    >>> apportioned(np.array([[0.5, 0.25, 0.25]]), np.array([6]), np.array([0.5]))
    array([[3, 2, 1]])
    """
    ends = np.floor(shares.cumsum(axis=1) * sizes[:, None] + start[:, None]).astype(np.int64)
    ends = np.minimum(ends, sizes[:, None])
    ends[:, -1] = sizes
    return np.diff(ends, axis=1, prepend=0)
