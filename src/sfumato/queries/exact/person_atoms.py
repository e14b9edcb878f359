"""Atoms: people whom no answered question has told apart are one column of every system of equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cutting:
    """What a set of people does to atoms: those that it divides get a second atom for the people inside."""

    mask: Mask
    """The people of the set."""
    divided: Counts
    """The atoms that lie partly inside; the k-th of them gives its people inside to atom ``before + k``."""
    sizes: Counts
    """The sizes of all atoms after the cut."""
    inside: Mask
    """Which atoms lie in the set after the cut."""


class Atoms:
    """The people of a table, divided by the questions that were answered.

    >>> atoms = Atoms(4)
    >>> atoms.apply(atoms.cut(np.array([True, True, False, False])))
    >>> atoms.sizes.tolist(), atoms.codes.tolist()
    ([2, 2], [1, 1, 0, 0])
    """

    def __init__(self, people: int) -> None:
        self.codes = np.zeros(people, np.int64)
        self.sizes: Counts = np.array([people], np.int64)

    def cut(self, mask: Mask) -> Cutting:
        """What a set would do; nothing is changed."""
        held = np.bincount(self.codes[mask], minlength=len(self.sizes)).astype(np.int64)
        divided = np.flatnonzero((held > 0) & (held < self.sizes))
        kept = self.sizes.copy()
        kept[divided] -= held[divided]
        inside = np.concatenate([held == self.sizes, np.ones(len(divided), bool)])
        inside[: len(self.sizes)] &= self.sizes > 0
        return Cutting(mask=mask, divided=divided, sizes=np.concatenate([kept, held[divided]]), inside=inside)

    def apply(self, cutting: Cutting) -> None:
        """Divide the atoms."""
        self.codes, self.sizes = self.coded(cutting), cutting.sizes

    def coded(self, cutting: Cutting) -> Counts:
        """Everybody's atom after a cut."""
        new = np.arange(len(self.sizes))
        new[cutting.divided] = len(self.sizes) + np.arange(len(cutting.divided))
        return np.where(cutting.mask, new[self.codes], self.codes)

    def within(self, mask: Mask) -> Mask:
        """Which atoms lie in a set that divides none of them."""
        first = np.zeros(len(self.sizes), np.int64)
        first[self.codes] = np.arange(len(self.codes))
        return np.asarray(mask[first] & (self.sizes > 0), bool)
