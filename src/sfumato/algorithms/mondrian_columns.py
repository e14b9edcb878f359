"""The ordered columns that Mondrian cuts, the values of each group, and what labels cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.labels import ranks, spans
from sfumato.algorithms.problem import Problem
from sfumato.counts.keys import Ids, places_of, total, weighed
from sfumato.counts.tally import Tally
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import Reals, Ruler
from sfumato.tables.hierarchy import Hierarchy

# What is cut: every value by its place in its column's order, and what a label over several values costs.


Codes = NDArray[np.int32]
Cost = Callable[[Ruler], Reals]
Yardstick = Literal["hierarchy", "boxes", "means", "widths"]
"""What a group's values cost: by the labels of an output, or by the width of their range."""
Kind = Literal["levels", "range", "values"]
"""Values of a column are priced together by their lowest label, by their range, or by how many they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The values of all columns, numbered through: each column's in their order, after those of the column before."""

    keys: Codes
    """Columns x cells: the value of each cell."""
    labels: Codes
    """Levels x values: the label of each value, by its first value. Low hierarchies repeat their top."""
    prices: Reals
    """Levels x values: what that label costs a row."""
    place: Reals
    """Of each value, where it lies in the range, or what it adds to a set."""
    kinds: tuple[Kind, ...]
    """For each column, how its values are priced together."""
    firsts: Ids
    """For each column, the number of its first value."""
    spans: Ids
    """For each column, how many values it has."""


def columns(problem: Problem, yardstick: Yardstick) -> Columns:
    """The columns of a problem, priced."""
    deepest = max((hierarchy.height for hierarchy in problem.hierarchies), default=0)
    parts = [_column(problem, c, yardstick, deepest) for c in range(len(problem.hierarchies))]
    first = np.cumsum([0, *(len(part.place) for part in parts)])
    return Columns(
        keys=np.concatenate([part.keys + start for part, start in zip(parts, first[:-1], strict=True)], dtype=np.int32),
        labels=np.concatenate(
            [part.labels + start for part, start in zip(parts, first[:-1], strict=True)], axis=1, dtype=np.int32
        ),
        prices=np.concatenate([part.prices for part in parts], axis=1),
        place=np.concatenate([part.place for part in parts]),
        kinds=tuple(kind for part in parts for kind in part.kinds),
        firsts=first[:-1],
        spans=np.diff(first),
    )


def _column(problem: Problem, column: int, yardstick: Yardstick, deepest: int) -> Columns:
    hierarchy, rank = problem.hierarchies[column], ranks(problem, column)
    order = np.argsort(rank)
    levels = [min(number, hierarchy.height) for number in range(deepest + 1)]
    cost = _cost(problem, yardstick)
    kind, place = _together(problem, column, yardstick, cost)
    return Columns(
        keys=rank[problem.cells.keys[column]].astype(np.int32)[np.newaxis],
        labels=np.array([_by_first(hierarchy.levels[n].parent[order]) for n in levels]),
        prices=np.array([cost(Ruler.at(hierarchy, n))[hierarchy.levels[n].parent[order]] for n in levels]),
        place=place[order],
        kinds=(kind,),
        firsts=np.zeros(1, np.int64),
        spans=np.array([len(place)]),
    )


def _by_first(labels: Codes) -> Codes:
    """Labels named by the first value that has them."""
    first = np.zeros(int(labels.max()) + 1, np.int32)
    first[labels[::-1]] = np.arange(len(labels), dtype=np.int32)[::-1]
    return first[labels]


def _cost(problem: Problem, yardstick: Yardstick) -> Cost:
    """What labels cost: by the metric, where it adds up cells; otherwise by the loss metric."""
    plain: Any = LossMetric().cost
    cost: Cost = plain if yardstick == "widths" else getattr(problem.metric, "cost", plain)
    return cost


def _together(problem: Problem, column: int, yardstick: Yardstick, cost: Cost) -> tuple[Kind, Reals]:
    """How values are priced together, and what each brings to it, by code."""
    hierarchy, numbers = problem.hierarchies[column], problem.number(column)
    if yardstick == "widths":
        return "range", _costs_along(ranks(problem, column).astype(np.float64) if numbers is None else numbers, 1.0)
    scale = problem.scale(column) if yardstick == "boxes" else numbers
    if scale is not None and yardstick != "hierarchy":
        return "range", _costs_along(scale, _whole(hierarchy, scale, cost))
    if yardstick == "boxes":
        return "values", _each(hierarchy)
    return "levels", np.zeros(len(hierarchy.levels[0].labels))


def _costs_along(numbers: Reals, width: float) -> Reals:
    """Where numbers lie, from 0 to ``width``; a missing one is more than 1 away from all others."""
    known = numbers[~np.isnan(numbers)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return np.where(np.isnan(numbers), width + 2.0, (numbers - low) / max(high - low, 1e-300) * width)


def _whole(hierarchy: Hierarchy, numbers: Reals, cost: Cost) -> float:
    """What the range from the smallest to the largest number costs."""
    known = np.flatnonzero(~np.isnan(numbers))
    if not len(known):
        return 0.0
    low, high = known[numbers[known].argmin()], known[numbers[known].argmax()]
    ruler = Ruler(
        sizes=np.array([spans(hierarchy, numbers)(int(low), int(high))]),
        steps=np.array([float(hierarchy.height)]),
        total=hierarchy.total,
        height=hierarchy.height,
        continuous=hierarchy.continuous,
    )
    return float(cost(ruler)[0])


def _each(hierarchy: Hierarchy) -> Reals:
    """What each value adds to a set; a missing one beside others costs everything."""
    place = np.full(len(hierarchy.levels[0].labels), 1.0 / max(hierarchy.total - 1.0, 1.0))
    if hierarchy.missing is not None:
        place[hierarchy.missing] = 2.0
    return place


# Which values of a column every group has, how many rows of each, and in what order they are cut.


Flags = NDArray[np.bool_]
_ROOM = 2**16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """The cells of some groups, one group after the other."""

    cells: Ids
    at: Ids
    """The group of each cell, numbered from 0."""
    sizes: Ids
    """The rows of each cell."""
    starts: Ids
    """Where each group begins in the order of all cells."""
    lengths: Ids
    """How many cells each group has."""
    firsts: Ids
    """Where each group begins among these cells."""
    whole: Ids
    """How many rows each group has."""

    @classmethod
    def of(cls, order: Ids, sizes: Ids, starts: Ids, ends: Ids) -> Held:
        """The groups that lie from ``starts`` to ``ends`` in an order of cells."""
        lengths = ends - starts
        firsts = np.cumsum(lengths) - lengths
        at = np.repeat(np.arange(len(starts)), lengths)
        cells = order[np.arange(len(at)) + (starts - firsts)[at]]
        rows = sizes[cells]
        return cls(
            cells=cells, at=at, sizes=rows, starts=starts, lengths=lengths, firsts=firsts,
            whole=total(at, rows, len(starts)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values:
    """The values of one column in each group that can be cut there, in the order in which they are cut."""

    groups: Ids
    """The groups."""
    starts: Ids
    """Where the values of each group begin."""
    ends: Ids
    """And where they end."""
    at: Ids
    """For each value, the place of its group among ``groups``."""
    codes: Ids
    """The value."""
    rows: Ids
    """How many rows of the group have it."""
    upto: Ids
    """The same, with those of all values before it in the group."""
    parted: Flags
    """Whether a cut may lie after it."""
    of_cells: Ids
    """For each cell of these groups, one group after the other, the place of its value here; empty unless asked for."""
    cells: Flags
    """Which of the cells are in these groups; empty likewise."""


def values_of(columns: Columns, held: Held, column: int, *, ordered: bool, single: bool, cells: bool) -> Values:
    """The values of a column; groups with one value are left out unless ``single``."""
    first, span = columns.firsts[column], columns.spans[column]
    keys = columns.keys[column][held.cells] + (held.at * span - first)
    distinct_keys, numbers, rows = _counted(keys, held.sizes, len(held.whole) * span, numbers=cells)
    group = distinct_keys // span
    many = np.bincount(group, minlength=len(held.whole))
    kept = many > (0 if single else 1)
    inside, within = kept[group], kept[held.at] if cells else kept[:0]
    at, codes, rows = (
        (np.cumsum(kept) - 1)[group[inside]],
        (distinct_keys - (group * span - first))[inside],
        rows[inside],
    )
    of_cells = (np.cumsum(inside) - 1)[numbers[within]] if cells else numbers
    lengths = many[kept]
    ends = np.cumsum(lengths)
    parted = np.ones(len(at), np.bool_)
    if not ordered and len(at):
        child = _children(columns, at, codes, rows, ends - lengths, span, first)
        order = np.argsort(child, kind="stable")
        codes, rows, child = codes[order], rows[order], child[order]
        parted[:-1] = child[1:] != child[:-1]
        if cells:
            back = np.empty(len(order), np.int64)
            back[order] = np.arange(len(order))
            of_cells = back[of_cells]
    parted[ends - 1] = False
    upto = np.cumsum(rows)
    upto -= np.repeat((upto - rows)[ends - lengths], lengths)
    return Values(
        groups=np.flatnonzero(kept), starts=ends - lengths, ends=ends, at=at, codes=codes, rows=rows, upto=upto,
        parted=parted, of_cells=of_cells, cells=within,
    )  # fmt: skip


def _counted(keys: Ids, sizes: Ids, space: int, *, numbers: bool = True) -> tuple[Ids, Ids, Ids]:
    """The distinct keys in ascending order, the place of each key among them if asked for, and the rows of each."""
    if space <= 8 * len(keys) + _ROOM:
        rows = np.bincount(keys, sizes, space)
        distinct_keys = np.flatnonzero(rows > 0)
        if not numbers:
            return distinct_keys, keys[:0], rows[distinct_keys].astype(np.int64)
        number = np.empty(space, np.int64)
        number[distinct_keys] = np.arange(len(distinct_keys))
        return distinct_keys, number[keys], rows[distinct_keys].astype(np.int64)
    distinct_keys, place = np.unique(keys, return_inverse=True)
    return distinct_keys, place.reshape(-1), total(place.reshape(-1), sizes, len(distinct_keys))


def _children(columns: Columns, at: Ids, codes: Ids, rows: Ids, starts: Ids, span: int, first: int) -> Ids:
    """For each value, the rank of the child of its group's lowest common label; frequent children first.

    Groups keep their order.
    """
    levels = np.zeros(len(starts), np.int64)
    for labels in columns.labels:
        own = labels[codes]
        levels += np.logical_or.reduceat(own != own[starts][at], starts)
    child: Codes = columns.labels[np.maximum(levels - 1, 0)[at], codes]
    distinct_keys, numbers, had = _counted(at * span + (child - first), rows, len(starts) * span)
    order = np.lexsort([distinct_keys, -had, distinct_keys // span])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[numbers]


def by_class(target: Tally, held: Held, values: Values) -> Reals:
    """Values x classes: the rows of every class that have each value."""
    cells = held.cells[values.cells]
    which, entries = places_of(target.owners, cells)
    classes = len(target.values)
    keys = values.of_cells[which] * classes + target.codes[entries]
    return weighed(keys, target.counts[entries].astype(np.float64), len(values.codes) * classes).reshape(-1, classes)


# What rows cost under one label for the first or last values of a group, and what a cut there tells of the class.


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """For each value of a group, what a row costs under one label for all values up to it, and from it on."""

    front: Reals
    back: Reals


def priced(columns: Columns, column: int, values: Values) -> Costs:
    """The costs of a column."""
    anchors = values.starts[values.at]
    mirrored = (len(values.groups) - 1 - values.at)[::-1]
    lasts = len(values.codes) - values.ends[values.at][::-1]
    codes = values.codes[::-1]
    return Costs(
        _prices_along(columns, column, values.at, values.codes, anchors),
        _prices_along(columns, column, mirrored, codes, lasts)[::-1],
    )


def _prices_along(columns: Columns, column: int, at: Ids, codes: Ids, anchors: Ids) -> Reals:
    """What the values from the first of each group, its anchor, up to each cost together."""
    kind = columns.kinds[column]
    if kind == "levels":
        level = np.zeros(len(codes), np.int64)
        for labels in columns.labels:
            own = labels[codes]
            level += own != own[anchors]
        apart = at * (len(columns.labels) + 1)
        return np.asarray(columns.prices[np.maximum.accumulate(level + apart) - apart, codes])
    if kind == "range":
        apart = at * columns.labels.shape[1]
        high = columns.place[np.maximum.accumulate(codes + apart) - apart]
        low = columns.place[np.minimum.accumulate(codes - apart) + apart]
        return np.asarray(np.minimum(high - low, 1.0))
    steps = np.arange(len(codes)) - anchors
    alone = np.cumsum(columns.place[codes] > 1.0)
    alone = alone - (alone - (columns.place[codes] > 1.0))[anchors]
    each = columns.place[codes].min()
    return np.where(steps == 0, 0.0, np.where(alone > 0, 1.0, np.minimum(steps * each, 1.0)))


def bits(x: Reals) -> Reals:
    """Each number times its logarithm to base 2; 0 for 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(x > 0.0, x * np.log2(x), 0.0))


def informed(values: Values, classes: Reals, whole: Ids) -> tuple[Reals, Reals]:
    """What cuts after and inside every value tell about the class, in bits per row."""
    rows = whole[values.groups][values.at].astype(np.float64)
    upto = np.cumsum(classes, axis=0)
    upto -= (upto - classes)[values.starts][values.at]
    every = upto[values.ends - 1][values.at]
    before = values.upto - values.rows
    gains = []
    for inside in range(2):
        share = (
            np.minimum(np.maximum((rows.astype(np.int64) + 1) // 2 - before, 0) / values.rows, 1.0) if inside else 1.0
        )
        cut = before + share * values.rows
        known = bits(rows) - bits(cut) - bits(rows - cut)
        for k in range(classes.shape[1]):
            left = upto[:, k] - classes[:, k] + share * classes[:, k]
            known = known + bits(left) + bits(every[:, k] - left) - bits(every[:, k])
        gains.append(np.asarray(np.maximum(known / rows, 0.0)))
    return gains[0], gains[1]
