"""The core: a few attributes in one table with the class, so that nothing is believed about them twice."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.marginals.shrinking import nearest

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Core:
    """Noisy counts of the fine groups of a few attributes, together and in every class."""

    places: tuple[int, ...]
    """The attributes."""
    sizes: tuple[int, ...]
    """How many groups each has."""
    counts: Reals
    """Cells x classes; a cell is a group of every attribute, the last one running fastest."""
    variance: float
    """Of the noise of a count."""

    @property
    def groups(self) -> Codes:
        """Attributes x cells: the group of each attribute in each cell."""
        return np.array(np.unravel_index(np.arange(prod(self.sizes)), self.sizes), np.int32)

    def rows(self, totals: Reals) -> Reals:
        """Cells x classes: the nearest rows that add up to the classes' totals."""
        return nearest(self.counts, totals)

    def alone(self, rows: Reals, number: int) -> Reals:
        """Groups x classes of one of the attributes, by its number."""
        every = rows.reshape(*self.sizes, rows.shape[1])
        return np.asarray(every.sum(axis=tuple(axis for axis in range(len(self.sizes)) if axis != number)))
