"""The model of a table: a class-rooted tree, fitted to noisy tables only, so making it costs nothing.

A few attributes, the core, depend on each other and the class as they were counted together. Every other one depends
on the class and on at most one other attribute. Each is a chain of levels: its coarse group given the class and the
other's coarse group, its fine group given that and the class, its label given that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.marginals.coded_levels import Grouping, Levels
from sfumato.publish.marginals.core_table import Core
from sfumato.publish.marginals.shrinking import TINY, mean_of, nearest, raked, shrunk

Reals = NDArray[np.float64]


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
    measured = {frozenset(one.places): one for one in edges}
    beside: dict[int, Reals] = {}
    shares: dict[int, Reals] = {}
    for place in order:
        above, mine = parents[place], levels[place]
        own = _coarse_by_class(mine, totals, with_class.get(place), edges, place)
        if above < 0:
            beside[place] = _independent(mine, totals) if own is None else own
            joint = beside[place][None]
        else:
            joint = _joint(measured[frozenset((above, place))], above, beside[above], own, mine, totals)
            beside[place] = joint.sum(axis=0)
        shares[place] = (
            _inside(mine, totals) if place in inner else _labelled(joint, mine, with_class.get(place), totals)
        )
    return Model(
        totals=totals,
        order=tuple(order),
        parents=tuple(parents),
        shares=tuple(shares[place] for place in range(len(levels))),
        groups=tuple(one.coarse for one in levels),
        core=inner,
        cells=(cells / cells.sum(axis=0)).T,
    )


def known_rows(
    levels: Sequence[Levels], totals: Reals, tables: Sequence[ClassTable], core: Core | None
) -> dict[int, Reals]:
    """Fine groups x classes of every attribute that was counted with the class, by place."""
    found: dict[int, Reals] = {}
    if core is not None:
        every = core.rows(totals)
        found = {place: core.alone(every, number) for number, place in enumerate(core.places)}
    return found | {one.place: classed(levels[one.place], totals, one) for one in tables}


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
    made = np.zeros((mine.coarse.size, with_class.shape[1]))
    np.add.at(made, above, with_class)
    return made


def _independent(mine: Levels, totals: Reals) -> Reals:
    return np.outer(mine.coarse.summed(mine.rows), totals / max(float(totals.sum()), TINY))


def _coarse_by_class(
    mine: Levels, totals: Reals, with_class: Reals | None, edges: Sequence[Edge], place: int
) -> Reals | None:
    """Coarse groups x classes, where anything was counted with the class; from all tables that tell."""
    if with_class is not None:
        return _upwards(mine, with_class)
    some = [one for one in edges if place in one.places and one.counts.shape[2] > 1]
    if not some:
        return None
    said = [(one.turned(place).sum(axis=1), one.variance * one.turned(place).shape[1]) for one in some]
    noisy, variance = mean_of(said)
    plain = np.maximum(_independent(mine, totals), TINY)
    return raked(shrunk(noisy, plain, variance), [((1,), plain.sum(axis=1)), ((0,), totals)])


def _joint(one: Edge, above: int, up: Reals, own: Reals | None, mine: Levels, totals: Reals) -> Reals:
    """Parent groups x groups x classes: rows that agree with the parent, and with the attribute's own classes."""
    noisy, kinds = one.turned(above), len(totals)
    given = _independent(mine, totals) if own is None else own
    plain = up[:, None, :] * (given / np.maximum(given.sum(axis=0), TINY))[None]
    if noisy.shape[2] < kinds:
        pairs = plain.sum(axis=2)
        made = shrunk(noisy[..., 0], np.maximum(pairs, TINY), one.variance)
        plain = plain * (made / np.maximum(pairs, TINY))[..., None]
        kept = [((2,), raked(made, [((0,), pairs.sum(axis=0)), ((1,), pairs.sum(axis=1))]))]
    else:
        plain, kept = shrunk(noisy, np.maximum(plain, TINY), one.variance), []
    lower = [] if own is None else [((0,), own)]
    return raked(plain, [*kept, *lower, ((1,), up)])


def _inside(mine: Levels, totals: Reals) -> Reals:
    """Fine groups x classes x labels: shares of labels within their group, alike in all classes."""
    labels = len(mine.rows)
    rows = np.maximum(mine.rows, TINY)
    made = np.zeros((mine.fine.size, len(totals), labels))
    made[mine.fine.of_label, :, np.arange(labels)] = (rows / mine.fine.summed(rows)[mine.fine.of_label])[:, None]
    return made


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
    for one in edges:
        near[one.places[0]].append(one.places[1])
        near[one.places[1]].append(one.places[0])
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
