"""How many rows of each code groups have: what least squares over many groups needs of that matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attacks.frame.assignment import Reals
from sfumato.attacks.frame.subject import Ints

_BLOCK = 2**20
"""So many numbers of the matrix are written out at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """The matrix of every second group, entry by entry."""

    groups: Ints
    """Which groups."""
    rows: Reals
    """How many rows each has."""
    width: int
    """How many codes there are."""
    number: Ints
    """For each entry, the place of its group; ascending."""
    code: Ints
    """Its code."""
    count: Reals
    """Its rows."""

    @classmethod
    def of(cls, number: Ints, code: Ints, width: int, groups: int, half: int) -> GroupRows:
        """The groups whose number is even (0) or odd (1); ``number`` and ``code`` of each row."""
        mine = number % 2 == half
        keys, count = np.unique(number[mine] // 2 * width + code[mine], return_counts=True)
        chosen = np.arange(half, groups, 2)
        rows = np.asarray(np.bincount(keys // width, count, len(chosen)), np.float64)
        return cls(chosen, rows, width, keys // width, keys % width, count.astype(np.float64))

    def products(self) -> Reals:
        """Codes x codes: the products of a group's rows by its size, summed over the groups."""
        found = np.zeros((self.width, self.width))
        step = max(_BLOCK // self.width, 1)
        for first in range(0, len(self.groups), step):
            begin, end = np.searchsorted(self.number, [first, first + step])
            here = self.rows[first : first + step, np.newaxis]
            block = np.zeros((len(here), self.width))
            block[self.number[begin:end] - first, self.code[begin:end]] = self.count[begin:end]
            found += block.T @ (block / here)
        return found

    def totals(self, shares: Reals) -> Reals:
        """Codes x values: a group's rows times its shares, summed over the groups."""
        weighed = self.count * shares[self.number].T
        return np.stack([np.bincount(self.code, one, self.width) for one in weighed], axis=1)

    def means(self, chances: Reals) -> Reals:
        """Groups x values: the mean over the rows of each group."""
        weighed = self.count * chances[self.code].T
        sums = [np.bincount(self.number, one, len(self.groups)) for one in weighed]
        return np.asarray(np.stack(sums, axis=1) / self.rows[:, np.newaxis])
