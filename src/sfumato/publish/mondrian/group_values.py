"""Which values of a column every group has, how many rows of each, and in what order they are cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import Ids, places_of, total, weighed
from sfumato.group.tally import Tally
from sfumato.publish.mondrian.ordered_columns import Codes, Columns
from sfumato.utility.view import Reals

Marks = NDArray[np.bool_]
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
    parted: Marks
    """Whether a cut may lie after it."""
    of_cells: Ids
    """For each cell of these groups, one group after the other, the place of its value here; empty unless asked for."""
    cells: Marks
    """Which of the cells are in these groups; empty likewise."""


def values_of(made: Columns, held: Held, column: int, *, ordered: bool, single: bool, cells: bool) -> Values:
    """The values of a column; groups with one value are left out unless ``single``."""
    first, span = made.firsts[column], made.spans[column]
    keys = made.keys[column][held.cells] + (held.at * span - first)
    found, numbers, rows = _counted(keys, held.sizes, len(held.whole) * span, numbers=cells)
    group = found // span
    many = np.bincount(group, minlength=len(held.whole))
    kept = many > (0 if single else 1)
    inside, within = kept[group], kept[held.at] if cells else kept[:0]
    at, codes, rows = (np.cumsum(kept) - 1)[group[inside]], (found - (group * span - first))[inside], rows[inside]
    of_cells = (np.cumsum(inside) - 1)[numbers[within]] if cells else numbers
    lengths = many[kept]
    ends = np.cumsum(lengths)
    parted = np.ones(len(at), np.bool_)
    if not ordered and len(at):
        child = _children(made, at, codes, rows, ends - lengths, span, first)
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
        found = np.flatnonzero(rows > 0)
        if not numbers:
            return found, keys[:0], rows[found].astype(np.int64)
        number = np.empty(space, np.int64)
        number[found] = np.arange(len(found))
        return found, number[keys], rows[found].astype(np.int64)
    found, place = np.unique(keys, return_inverse=True)
    return found, place.reshape(-1), total(place.reshape(-1), sizes, len(found))


def _children(made: Columns, at: Ids, codes: Ids, rows: Ids, starts: Ids, span: int, first: int) -> Ids:
    """For each value, the rank of the child of its group's lowest common label; frequent children first.

    Groups keep their order.
    """
    levels = np.zeros(len(starts), np.int64)
    for labels in made.labels:
        own = labels[codes]
        levels += np.logical_or.reduceat(own != own[starts][at], starts)
    child: Codes = made.labels[np.maximum(levels - 1, 0)[at], codes]
    found, numbers, had = _counted(at * span + (child - first), rows, len(starts) * span)
    order = np.lexsort([found, -had, found // span])
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
