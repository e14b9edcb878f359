"""Feasible nodes over some of the columns, and where their frequency sets come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.lattice.nodes import Checker
from sfumato.algorithms.problem import Levels, Problem
from sfumato.core.run_context import Work
from sfumato.counts.keys import distinct, weighed
from sfumato.metrics.information_loss import Height
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.model import Model
from sfumato.tables.hierarchy import Hierarchy

# The part of a requirement that can rule nodes out, and a problem seen from one of its nodes.


def monotone_part(problem: Problem) -> Problem | None:
    """The same table with only the models by which every coarser node than a feasible one is feasible.

    Claim: a node that is feasible for the whole problem is feasible for the part, and so is every coarser node. Where
        the whole problem is monotone, the part is feasible at the same nodes.
    How: without suppression the models that merging keeps; with it those that growth and removal keep. What these
        suppress is suppressed by the whole requirement too. The group of suppressed rows is not judged. None where no
        model is left, or under the wildcard reading of missing quasi-identifiers.
    """
    models = tuple(model for model in problem.models if _kept(model, suppressing=problem.limit > 0))
    columns = {column for model in models for column in model.columns}
    tallies = {name: tally for name, tally in problem.cells.tallies.items() if name in columns}
    part = replace(
        problem,
        cells=replace(problem.cells, tallies=tallies, measures={}),
        models=models,
        metric=Height(),
        target=None,
        suppressed="remove",
    )
    return part if models and Checker(part).monotone else None


def _kept(model: Model, *, suppressing: bool) -> bool:
    return model.kept_by_growth and model.kept_by_removal if suppressing else model.kept_by_merging


def raised(problem: Problem, root: Levels) -> Problem:
    """The problem with one node as its table: the node's classes are the cells, its levels the lowest ones."""
    chosen = [h.levels[n] for h, n in zip(problem.hierarchies, root, strict=True)]
    cells, _ = problem.cells.recoded([level.parent for level in chosen], [level.labels for level in chosen])
    hierarchies = tuple(_from(h, n) for h, n in zip(problem.hierarchies, root, strict=True))
    return replace(problem, cells=cells, hierarchies=hierarchies)


def _from(hierarchy: Hierarchy, root: int) -> Hierarchy:
    """The levels from ``root`` on."""
    if not root:
        return hierarchy
    levels = tuple(
        replace(level, parent=hierarchy.lift(root, root + n)) for n, level in enumerate(hierarchy.levels[root:])
    )
    missing = None if hierarchy.missing is None else int(hierarchy.levels[root].parent[hierarchy.missing])
    return replace(hierarchy, levels=levels, missing=missing)


# Judging nodes by class sizes alone, where that is the whole requirement.


_DENSE = 2**21


class Sizes:
    """Tells of nodes whether they are k-anonymous within the suppression limit, and nothing else about them."""

    def __init__(self, problem: Problem) -> None:
        """Label every cell at every level of its column."""
        self.k = asked_k(problem.models)
        self.rows = problem.cells.rows
        self.most = min(problem.limit, self.rows - 1)
        self.weights = problem.cells.sizes.astype(np.float64)
        self.cells = problem.cells.count
        self.columns = [
            [(level.parent[codes], len(level.labels)) for level in h.levels]
            for h, codes in zip(problem.hierarchies, problem.cells.keys, strict=True)
        ]

    @staticmethod
    def suffice(problem: Problem) -> bool:
        """Whether class sizes are all that the requirement is about."""
        return all(isinstance(model, KAnonymity) for model in problem.models)

    def passes(self, levels: Levels) -> bool:
        """Whether no more rows than allowed are in classes smaller than k."""
        visible_columns = [
            column[level] for column, level in zip(self.columns, levels, strict=True) if column[level][1] > 1
        ]
        sizes = self._counted([codes for codes, _ in visible_columns], [labels for _, labels in visible_columns])
        return float(sizes[sizes < self.k].sum()) <= self.most

    def _counted(self, codes: list[NDArray[np.int32]], radices: list[int]) -> NDArray[np.float64]:
        """Rows per class, with zeros in between where all combinations fit into an array."""
        space = 1
        for radix in radices:
            space *= radix
        if space > min(_DENSE, 16 * self.cells + 1024):
            ids, count = distinct(codes, radices, self.cells)
            return weighed(ids, self.weights, count)
        keys = np.zeros(self.cells, np.int32)
        for column, radix in zip(codes, radices, strict=True):
            keys *= np.int32(radix)
            keys += column
        return np.bincount(keys, weights=self.weights).astype(np.float64)


# The cube: the frequency sets of all subsets of the columns at their lowest levels, each counted from a larger one.


Columns = tuple[int, ...]


class Cube:
    """Every subset of the columns with its classes: the others are at the top and split nothing.

    How: from all columns down, leaving out one column at a time. Each set is counted from that of one column more which
        has the fewest classes, and not from the table.
    Cost: 2^q sets of q columns, all held at once.
    Source: LeFevre, DeWitt, Ramakrishnan 2005, section 3.3.2 (bottom-up precomputation); document 000, section
        20.3.1.2.
    """

    def __init__(self, problem: Problem, work: Work) -> None:
        """Count all sets."""
        every = tuple(range(len(problem.hierarchies)))
        self._sets: dict[Columns, Problem] = {every: problem}
        for size in range(len(every) - 1, 0, -1):
            for columns in combinations(every, size):
                self._sets[columns] = self._without(columns, every)
            work.advance("cube", len(self._sets), 2 ** len(every) - 1)

    def __len__(self) -> int:
        """How many sets there are."""
        return len(self._sets)

    def at(self, columns: Columns) -> Problem:
        """The problem over some columns: the lowest levels of these, the top of the others."""
        return self._sets[columns]

    def _without(self, columns: Columns, every: Columns) -> Problem:
        larger = [tuple(sorted((*columns, c))) for c in every if c not in columns]
        parent = min(larger, key=lambda superset: self._sets[superset].cells.count)
        (gone,) = set(parent) - set(columns)
        source = self._sets[parent]
        return raised(source, tuple(h.height if c == gone else 0 for c, h in enumerate(source.hierarchies)))


# Which nodes over some of the columns are feasible: a breadth-first walk, and where its frequency sets come from.


Mask = NDArray[np.bool_]
Counts = Literal["super-roots", "cube", "table"]
"""Where frequency sets come from: rolled up from a super-root that is counted from the table, the same from a cube of
all subsets, or each from the table."""


class Subsets:
    """Judges nodes over subsets of the columns of a monotone problem, and counts what it did.

    A node over some columns is the node of the whole lattice that has all other columns at the top: they show one label
    and split nothing. So what holds along the lattice holds between subsets, for every model.
    """

    def __init__(self, part: Problem, work: Work, counts: Counts = "super-roots") -> None:
        """Nothing is judged yet; the problem must be monotone, as ``monotone_part`` is."""
        self.part = part
        self.work = work
        self.cube = Cube(part, work) if counts == "cube" else None
        self.whole = _judging(part) if counts == "table" and Sizes.suffice(part) else None
        self.counts = counts
        self.heights: Levels = tuple(h.height for h in part.hierarchies)
        self.nodes = prod(height + 2 for height in self.heights)
        self.checked = 0
        self.tagged = 0
        self.rolled_up = 0

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Levels of each of the columns."""
        return tuple(self.heights[c] + 1 for c in columns)

    def feasible(self, columns: Columns, candidates: Mask) -> Mask:
        """The feasible ones of the candidates; every feasible node over these columns must be among them.

        How: from the lowest candidates up; whatever is coarser than a feasible one is marked without a check. All are
            rolled up from the super-root, the coarsest node that is finer than every candidate.
        """
        marked = np.zeros(candidates.shape, np.bool_)
        nodes = np.argwhere(candidates)
        if not len(nodes):
            return marked
        root = nodes.min(axis=0)
        passes = self._from(columns, root)
        checked = 0
        for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
            if not marked[tuple(node)]:
                checked += 1
                if passes(self._whole(columns, node - root, 0)):
                    marked[tuple(slice(level, None) for level in node)] = True
        self.work.spend(checked * self.part.cells.count * len(columns))
        self.checked += checked
        self.tagged += len(nodes) - checked
        self.rolled_up += self._rolled(checked, at_root=bool(candidates[tuple(root)]), whole=columns)
        self.work.advance("subsets", self.checked + self.tagged, self.nodes)
        return marked

    def _rolled(self, checked: int, *, at_root: bool, whole: Columns) -> int:
        """How many of the sets that were judged were not counted from the table."""
        if self.counts == "table":
            return 0
        return checked - (at_root and (self.cube is None or len(whole) == len(self.heights)))

    def _from(self, columns: Columns, root: NDArray[np.int64]) -> Callable[[Levels], bool]:
        """Judges nodes above the super-root, whose levels count from there."""
        if self.cube is not None:
            return _judging(raised(self.cube.at(columns), self._whole(columns, root, 0)))
        low = self._whole(columns, root, self.heights)
        if self.counts == "super-roots":
            return _judging(raised(self.part, low))
        every = self.whole or _counting(self.part)
        return lambda levels: every(tuple(a + b for a, b in zip(low, levels, strict=True)))

    def _whole(self, columns: Columns, levels: NDArray[np.int64], others: Levels | int) -> Levels:
        """The levels of all columns: the given ones, and those of ``others`` elsewhere."""
        whole = list(others) if isinstance(others, tuple) else [others] * len(self.heights)
        for column, level in zip(columns, levels, strict=True):
            whole[column] = int(level)
        return tuple(whole)


def _judging(problem: Problem) -> Callable[[Levels], bool]:
    """Judges nodes of a problem: by class sizes where that is the whole requirement."""
    if Sizes.suffice(problem):
        return Sizes(problem).passes
    checker = Checker(problem)
    return lambda levels: checker.judge(levels).feasible


def _counting(problem: Problem) -> Callable[[Levels], bool]:
    """The same with nothing remembered: each node is counted from the table."""
    return lambda levels: Checker(problem).judge(levels).feasible
