"""The groups of a local recoding, made along lattice nodes from the cheapest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.problem import Levels, Problem
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct_lifted, total
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import Reals
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.model import judge
from sfumato.models.t_closeness import TCloseness

# The groups that a local recoding has made so far, and the cells that are left over.


class Groups:
    """Cells are placed into groups that pass; what is left must itself pass as one group, or may be suppressed.

    Shares are compared with those of the whole table, wherever the cells of a group come from.
    """

    def __init__(self, problem: Problem) -> None:
        # a row of nothing but stars is a class like others: none is left out where suppressed rows are published
        self.problem = problem = replace(problem, limit=0) if problem.suppressed == "star" else problem
        cells = problem.cells
        self.of: Ids = np.full(cells.count, -1, np.int64)
        self.count = 0
        self.left: Ids = np.arange(cells.count, dtype=np.int64)
        fixed = {name: cells.compared(name) for name in cells.tallies}
        self._all: Classes = replace(cells, tallies=fixed, population=None)
        self.pool = self._all
        self.least = asked_k(problem.models)
        self.by_size = all(isinstance(model, KAnonymity) for model in problem.models)
        self._steps: list[Ids] = []
        self._judged = tuple({name for model in problem.models for name in model.columns})

    def at(self, levels: Levels) -> tuple[Ids, int]:
        """The classes of what is left at a node of the lattice."""
        chosen = [h.levels[n] for h, n in zip(self.problem.hierarchies, levels, strict=True)]
        return distinct_lifted(
            self.pool.keys, [level.parent for level in chosen], [len(level.labels) for level in chosen]
        )

    def passing(self, ids: Ids, count: int) -> NDArray[np.bool_]:
        """Which groups of left cells every model accepts; cells with number -1 are in none."""
        sizes = total(ids[ids >= 0], self.pool.sizes[ids >= 0], count)
        fine = sizes >= self.least
        if self.by_size or not fine.any():
            return fine
        number = np.cumsum(fine) - 1
        inside = np.where(ids >= 0, np.where(fine[ids], number[ids], -1), -1)
        grouped = self._grouped(inside, sizes[fine])
        for model in self.problem.models:
            failing = np.flatnonzero(fine)[judge(model, grouped, self.problem.reading).failing]
            fine[failing] = False
            if not fine.any():
                return fine
            grouped = grouped if not len(failing) else self._grouped(self._kept(ids, fine), sizes[fine])
        return fine

    def fitting(self, ids: Ids, count: int) -> Ids:
        """The numbers of the groups that pass, -1 for cells of the others."""
        return np.where((ids >= 0) & self.passing(ids, count)[ids], ids, -1)

    def place(self, ids: Ids, count: int) -> None:
        """Put the left cells with a number into new groups, as long as what is left can still be published."""
        wanted = np.unique(ids[ids >= 0])
        chosen = np.zeros(count, np.bool_)
        self._choose(ids, wanted, chosen)
        taken = (ids >= 0) & chosen[ids]
        if not taken.any():
            return
        number = np.cumsum(chosen) - 1
        self.of[self.left[taken]] = self.count + number[ids[taken]]
        self.count += int(chosen.sum())
        self._steps.append(self.left[taken])
        self.left, self.pool = self.left[~taken], self.pool.take(~taken)

    def settle(self) -> None:
        """Undo the last placements until what is left passes as one group or may be suppressed."""
        while len(self.left) and not self._rest(np.ones(len(self.left), np.bool_)) and self._steps:
            back = self._steps.pop()
            self.of[back] = -1
            self.left = np.flatnonzero(self.of < 0)
            self.pool = self._all.take(self.of < 0)

    def rest_passes(self) -> bool:
        """Whether what is left passes as one group."""
        return bool(self.passing(np.zeros(len(self.left), np.int64), 1).all())

    def _choose(self, ids: Ids, wanted: Ids, chosen: NDArray[np.bool_]) -> None:
        """Choose all of the wanted groups, or what halving finds of them."""
        if not len(wanted):
            return
        chosen[wanted] = True
        if self._rest((ids < 0) | ~chosen[ids]):
            return
        chosen[wanted] = False
        if len(wanted) > 1:
            self._choose(ids, wanted[: len(wanted) // 2], chosen)
            self._choose(ids, wanted[len(wanted) // 2 :], chosen)

    def _rest(self, rest: NDArray[np.bool_]) -> bool:
        """Whether the marked cells could be published as one group, are none, or may be suppressed."""
        rows = self.pool.weight(rest)
        if rows == 0 or (rows <= self.problem.limit and all(m.kept_by_removal for m in self.problem.models)):
            return True
        return bool(self.passing(np.where(rest, 0, -1).astype(np.int64), 1).all())

    def _kept(self, ids: Ids, fine: NDArray[np.bool_]) -> Ids:
        number = np.cumsum(fine) - 1
        return np.where(ids >= 0, np.where(fine[ids], number[ids], -1), -1)

    def _grouped(self, ids: Ids, sizes: NDArray[np.int64]) -> Classes:
        """Groups of left cells with what the models count."""
        tallies = {name: self.pool.tally(name).merged(ids, len(sizes)) for name in self._judged}
        people = None if self.pool.people is None else self.pool.people.moved(ids)
        keys = np.zeros((0, len(sizes)), np.int32)
        return Classes(quasi=(), keys=keys, labels=(), sizes=sizes, tallies=tallies, people=people)


# Taking out of a group the largest part whose shares are close to those of the whole table.


Counts = NDArray[np.int64]
_STEPS = 20
_DENSE = 2**22


def carved(problem: Problem) -> TCloseness | None:
    """The requirement that a part of a group may meet where the group does not: t-closeness, not by entropy."""
    close = [model for model in problem.models if isinstance(model, TCloseness) and model.distance != "kl"]
    return min(close, key=lambda model: model.t, default=None)


class Carving:
    """Offers groups that pass, and of those that do not the part that does, where single rows can be told apart."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        single = bool((groups.pool.sizes == 1).all())
        self.model = carved(groups.problem) if single else None
        if self.model is not None and self.model.t > 0:
            tally = groups.pool.tally(self.model.column)
            self.codes = np.zeros(len(groups.of), np.int32)
            self.codes[tally.owners] = tally.codes
            self.shares = tally.overall / max(int(tally.overall.sum()), 1)
            self.least = max(groups.least, ceil(6 / self.model.t))
        else:
            self.model = None

    def offered(self, ids: Ids, count: int) -> Ids:
        """The groups' numbers, -1 for cells that are in no passing group."""
        if self.model is not None:
            ids = self._closer(ids, count)
        return self.groups.fitting(ids, count)

    def _closer(self, ids: Ids, count: int) -> Ids:
        """Of every group large enough, the largest part whose shares are within t."""
        sizes = np.bincount(ids, minlength=count)
        large = sizes >= self.least
        if not large.any() or int(large.sum()) * len(self.shares) > _DENSE:
            return np.where(large[ids], ids, -1)
        number = np.cumsum(large) - 1
        inside = np.flatnonzero(large[ids])
        codes = self.codes[self.groups.left[inside]]
        entry = number[ids[inside]] * len(self.shares) + codes
        held = np.bincount(entry, minlength=int(large.sum()) * len(self.shares)).reshape(-1, len(self.shares))
        left = np.bincount(self.codes[self.groups.left], minlength=len(self.shares))
        kept = closest(held, self.shares, self.model.t if self.model else 0.0, left)
        kept[kept.sum(axis=1) < self.least] = 0
        group_of = np.full(len(ids), -1, np.int64)
        some = np.flatnonzero(kept.any(axis=1)[entry // len(self.shares)])
        chosen = inside[some[_place_among(entry[some]) < kept.reshape(-1)[entry[some]]]]
        group_of[chosen] = ids[chosen]
        return group_of


def _place_among(entry: Ids) -> Ids:
    """For each of some numbers, how many equal ones come before it."""
    order = np.argsort(entry, kind="stable")
    place = np.empty(len(entry), np.int64)
    place[order] = np.arange(len(entry)) - np.searchsorted(entry[order], entry[order])
    return place


def closest(held: Counts, shares: NDArray[np.float64], t: float, left: Counts) -> Counts:
    """For each histogram, a largest part of it whose shares lie within ``t`` of the given ones; zeros if none is found.

    A part of m rows is within t in variational distance if at least (1 - t) m of them are needed by the shares; that
    can be had while the rows that the shares can use, the sum of min(held, share * m), are so many. The others are of
    the values that are most frequent, beside their shares, among all that is ``left``: it stays like the whole table.
    """
    rows = held.sum(axis=1).astype(np.float64)
    low, high = np.zeros(len(held)), rows.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = np.minimum(held, shares * middle[:, None]).sum(axis=1) >= (1 - t) * middle
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    whole = np.minimum(held, shares * rows[:, None]).sum(axis=1) >= (1 - t) * rows - 1e-9
    parts = np.where(whole[:, None], held, _filled(held, shares, np.floor(low), left))
    size = np.maximum(parts.sum(axis=1, keepdims=True), 1)
    far = np.maximum(parts / size - shares, 0).sum(axis=1) > t + 1e-12
    parts[far] = 0
    return parts


def _filled(held: Counts, shares: NDArray[np.float64], wanted: NDArray[np.float64], left: Counts) -> Counts:
    """So many rows of each histogram: what the shares ask for first, then what is too frequent among the rest."""
    needed = np.minimum(held, np.floor(shares * wanted[:, None])).astype(np.int64)
    room = wanted.astype(np.int64) - needed.sum(axis=1)
    order = np.argsort(-left / np.maximum(shares, 1e-12), kind="stable")
    spare = (held - needed)[:, order]
    more = np.clip(room[:, None] - (np.cumsum(spare, axis=1) - spare), 0, spare)
    needed[:, order] += more
    return needed


# Nodes of a lattice at which no class of what is left has enough rows: they need not be looked at.
#
# A class at a node lies within one at every coarser node, and what is left only gets less. So a node without large
# enough classes stays so, and with it every finer node. One such node is raised, column by column, as far as it stays
# so, and everything below it is ruled out at once.


Hashes = NDArray[np.uint64]
_MOST_NODES = 2**24
"""In larger lattices nodes are only tested one by one."""
_DRAWN = Chance(seed=1977)
"""The numbers by which classes are told apart are drawn; which ones they are does not change what is found."""


class Barren:
    """Which nodes have no class with as many rows as the models ask for at least.

    Claim: a node that is said to be barren is. A class is told by the sum of a random number for each of its labels:
    equal labels have equal sums, and classes that share a sum by chance are only taken for a larger one.
    """

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        hierarchies = groups.problem.hierarchies
        draw = _DRAWN.generator()
        self._numbers: list[list[Hashes]] = [
            [_lifted(level.parent, len(level.labels), draw) for level in hierarchy.levels] for hierarchy in hierarchies
        ]
        self._heights = [hierarchy.height for hierarchy in hierarchies]
        self._order = sorted(range(len(hierarchies)), key=lambda c: -self._heights[c])
        shape = [height + 1 for height in self._heights]
        self._known = np.zeros(shape if groups.problem.nodes <= _MOST_NODES else 0, np.bool_)

    def __call__(self, node: Levels) -> bool:
        """Whether a node is barren; then much that lies around it is ruled out too."""
        if self._known.size and self._known[node]:
            return True
        hashes = self._told(node)
        if not self._small(hashes):
            return False
        if self._known.size:
            self._raise(list(node), hashes)
        return True

    def _told(self, node: Levels) -> Hashes:
        """The sum of each cell that is left."""
        keys = self.groups.pool.keys
        hashes = np.zeros(keys.shape[1], np.uint64)
        for numbers, codes, level in zip(self._numbers, keys, node, strict=True):
            hashes += numbers[level][codes]
        return hashes

    def _raise(self, node: list[int], hashes: Hashes) -> None:
        """Go up by each column in turn as far as the node stays barren, and rule out what lies below."""
        keys = self.groups.pool.keys
        for column in self._order:
            low, high = node[column], self._heights[column]
            others = hashes - self._numbers[column][low][keys[column]]
            while low < high:
                middle = (low + high + 1) // 2
                if self._small(others + self._numbers[column][middle][keys[column]]):
                    low = middle
                else:
                    high = middle - 1
            hashes = others + self._numbers[column][low][keys[column]]
            node[column] = low
        self._known[tuple(slice(level + 1) for level in node)] = True

    def _small(self, hashes: Hashes) -> bool:
        """Whether no class has enough rows; those that could are sought by a part of their sums first."""
        sizes = self.groups.pool.sizes
        bits = max(len(hashes), 2).bit_length() + 2
        parts = (hashes >> np.uint64(64 - bits)).astype(np.int64)
        enough = np.bincount(parts, weights=sizes, minlength=1 << bits) >= self.groups.least
        if not enough.any():
            return True
        large = enough[parts]
        _, ids = np.unique(hashes[large], return_inverse=True)
        return bool(np.bincount(ids, weights=sizes[large]).max() < self.groups.least)


def _lifted(parent: NDArray[np.int32], labels: int, draw: np.random.Generator) -> Hashes:
    """For each value of a column, the number of its label at a level."""
    return draw.integers(0, 2**64, size=labels, dtype=np.uint64)[parent]


# Nodes of a lattice from the cheapest on, and local recoding along them.


def costs_of(problem: Problem) -> list[Reals]:
    """Per column and level, what a node costs; by the loss metric where the problem's own does not add up columns."""
    floors = problem.floors()
    if floors is not None:
        return floors
    counts = [
        total(codes.astype(np.int64), problem.cells.sizes, len(hierarchy.levels[0].labels))
        for codes, hierarchy in zip(problem.cells.keys, problem.hierarchies, strict=True)
    ]
    return LossMetric().floors(problem.hierarchies, counts) or []


def ascending(costs: Sequence[Reals]) -> Iterator[Levels]:
    """Every node of the lattice once, cheapest first; equal ones in lexicographic order.

    >>> import numpy as np
    >>> list(ascending([np.array([0.0, 2.0]), np.array([0.0, 1.0])]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    start = (0,) * len(costs)
    waiting = [(sum(float(c[0]) for c in costs), start)]
    known = {start}
    while waiting:
        cost, node = heappop(waiting)
        yield node
        for column, level in enumerate(node):
            if level + 1 < len(costs[column]):
                above = (*node[:column], level + 1, *node[column + 1 :])
                if above not in known:
                    known.add(above)
                    heappush(waiting, (cost + float(costs[column][level + 1] - costs[column][level]), above))


def ascend(groups: Groups, costs: Sequence[Reals], work: Work) -> int:
    """Place what passes at each node, cheapest node first; tell how many nodes were looked at or ruled out."""
    carving = Carving(groups)
    barren = Barren(groups)
    looked = 0
    for looked, node in enumerate(ascending(costs), start=1):  # noqa: B007  the last number is told
        work.spend(len(groups.left) * len(costs))
        if carving.model is not None or not barren(node):
            ids, count = groups.at(node)
            ids = carving.offered(ids, count)
            if (ids >= 0).any():
                groups.place(ids, count)
        if not len(groups.left) or work.expired:
            break
        if work.due:
            work.advance("place", len(groups.of) - len(groups.left), len(groups.of))
    return looked
