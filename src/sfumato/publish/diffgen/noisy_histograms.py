"""Noisy counts of every attribute by the class, made to agree, each value with the variance of its noise.

Reading them costs nothing: they follow from noisy counts that were paid for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import Noisy
from sfumato.publish.looking import Counts
from sfumato.publish.noisy_table import Attribute

MOST_CELLS = 16
"""A number is counted in no more cells than these: the noise of all cells of an interval adds up."""
UNIT = 2**20
"""Variances are whole numbers of this part of 1."""
Blocks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """One attribute as it was counted."""

    blocks: Blocks
    """For each declared value, the cell in which it was counted."""
    noisy: Noisy
    """Cells x classes."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.noisy.values)


def blocks_of(attribute: Attribute) -> Blocks:
    """In which cell each declared value is counted: by itself, of a long grid with its neighbours; public."""
    number = np.arange(len(attribute.values), dtype=np.int64)
    if attribute.kind != "number" or len(number) <= MOST_CELLS:
        return number
    return number * MOST_CELLS // len(number)


def in_blocks(counts: Counts, blocks: Blocks) -> Counts:
    """Values x classes as cells x classes."""
    found = np.zeros((int(blocks.max(initial=-1)) + 1, counts.shape[1]), np.int64)
    np.add.at(found, blocks, counts)
    return found


def agreed(found: Sequence[Histogram]) -> list[Counts]:
    """For each attribute, values x classes and, last, the variance of the noise of one class.

    All attributes count the same records, so their totals are made equal: to the mean of all, each weighed by its
    noise. What that changes is spread evenly over the cells, and a cell evenly over its values.
    """
    weights = np.array([1 / (one.cells * max(one.noisy.variance, 1e-12)) for one in found])
    totals = np.stack([one.noisy.values.sum(axis=0) for one in found])
    total = weights @ totals / weights.sum()
    return [_spread(one, total) for one in found]


def _spread(one: Histogram, total: NDArray[np.float64]) -> Counts:
    counts = one.noisy.values + (total - one.noisy.values.sum(axis=0)) / one.cells
    noise = np.full((one.cells, 1), one.noisy.variance * UNIT)
    each = np.hstack([counts, noise])[one.blocks] / np.bincount(one.blocks)[one.blocks][:, None]
    return np.diff(np.rint(each.cumsum(axis=0)), axis=0, prepend=0.0).astype(np.int64)
