"""Judging nodes by class sizes alone, where that is the whole requirement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.keys import distinct, weighed
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.publish.problem import Levels, Problem

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
        shown = [column[level] for column, level in zip(self.columns, levels, strict=True) if column[level][1] > 1]
        sizes = self._counted([codes for codes, _ in shown], [labels for _, labels in shown])
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
