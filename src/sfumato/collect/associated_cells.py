"""Shown records in cells of the original: the lowest shown values go to the lowest cells, as many as each should have.

Source: Agrawal and Srikant 2000, section 4.2.
"""

from __future__ import annotations

import numpy as np

from sfumato.collect.channels import Evidence
from sfumato.collect.noise_laws import Reals, Whole
from sfumato.collect.reconstruct import Stopping, reconstruct


def whole_counts(shares: Reals, total: int) -> Whole:
    """Whole numbers with these shares that add up to a total: the largest remainders are rounded up.

    >>> whole_counts(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    exact = shares / shares.sum() * total
    found = np.asarray(np.floor(exact), np.int64)
    up = np.argsort(found - exact, kind="stable")[: total - int(found.sum())]
    found[up] += 1
    return found


def associated(seen: Evidence, shown: Reals, stopping: Stopping | None) -> Whole:
    """The cell of every record, in the order of their shown values."""
    found = reconstruct(seen, stopping=stopping)
    counts = whole_counts(found.shares, seen.answers)
    cells = np.empty(seen.answers, np.int64)
    cells[np.argsort(shown, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return cells


def by_class(seen: Evidence, shown: Reals, classes: Whole, many: int, stopping: Stopping | None) -> Whole:
    """The same with a distribution of every class by itself."""
    cells = np.empty(seen.answers, np.int64)
    for one in range(many):
        held = np.flatnonzero(classes == one)
        if len(held):
            cells[held] = associated(seen.take(held), shown[held], stopping)
    return cells
