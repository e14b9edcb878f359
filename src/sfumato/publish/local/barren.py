"""Nodes of a lattice at which no class of what is left has enough rows: they need not be looked at.

A class at a node lies within one at every coarser node, and what is left only gets less. So a node without large enough
classes stays so, and with it every finer node. One such node is raised, column by column, as far as it stays so, and
everything below it is ruled out at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.chance import Chance
from sfumato.publish.local.groups import Groups
from sfumato.publish.problem import Levels

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
        told = self._told(node)
        if not self._small(told):
            return False
        if self._known.size:
            self._raise(list(node), told)
        return True

    def _told(self, node: Levels) -> Hashes:
        """The sum of each cell that is left."""
        keys = self.groups.pool.keys
        told = np.zeros(keys.shape[1], np.uint64)
        for numbers, codes, level in zip(self._numbers, keys, node, strict=True):
            told += numbers[level][codes]
        return told

    def _raise(self, node: list[int], told: Hashes) -> None:
        """Go up by each column in turn as far as the node stays barren, and rule out what lies below."""
        keys = self.groups.pool.keys
        for column in self._order:
            low, high = node[column], self._heights[column]
            others = told - self._numbers[column][low][keys[column]]
            while low < high:
                middle = (low + high + 1) // 2
                if self._small(others + self._numbers[column][middle][keys[column]]):
                    low = middle
                else:
                    high = middle - 1
            told = others + self._numbers[column][low][keys[column]]
            node[column] = low
        self._known[tuple(slice(level + 1) for level in node)] = True

    def _small(self, told: Hashes) -> bool:
        """Whether no class has enough rows; those that could are sought by a part of their sums first."""
        sizes = self.groups.pool.sizes
        bits = max(len(told), 2).bit_length() + 2
        parts = (told >> np.uint64(64 - bits)).astype(np.int64)
        enough = np.bincount(parts, weights=sizes, minlength=1 << bits) >= self.groups.least
        if not enough.any():
            return True
        large = enough[parts]
        _, ids = np.unique(told[large], return_inverse=True)
        return bool(np.bincount(ids, weights=sizes[large]).max() < self.groups.least)


def _lifted(parent: NDArray[np.int32], labels: int, draw: np.random.Generator) -> Hashes:
    """For each value of a column, the number of its label at a level."""
    return draw.integers(0, 2**64, size=labels, dtype=np.uint64)[parent]
