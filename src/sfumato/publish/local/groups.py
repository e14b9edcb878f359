"""The groups that a local recoding has made so far, and the cells that are left over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct_lifted, total
from sfumato.models.judge import judge
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.publish.problem import Levels, Problem


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
