"""Shown records in cells of the original, as many in each as were reconstructed.

Numbers have an order: the lowest shown values go to the lowest cells. Categories have none: of all records that show
the same, each category gets its part by Bayes' rule, and which of them go there is drawn by lot.
Source: Agrawal and Srikant 2000, section 4.1 (numbers).
"""

from __future__ import annotations

from typing import Any

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


def associated(seen: Evidence, shown: Any, stopping: Stopping | None, lots: Whole) -> Whole:
    """The cell of every record, by what it shows; ``lots`` are a place for each in a random order."""
    found = reconstruct(seen, stopping=stopping)
    cells = np.empty(seen.answers, np.int64)
    if seen.channel.edges is not None:
        counts = whole_counts(found.shares, seen.answers)
        cells[np.argsort(shown, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
        return cells
    order = np.lexsort((lots, seen.codes))
    ends = np.cumsum(seen.counts).astype(np.int64)
    likely = seen.channel.matrix * found.shares
    for outcome in np.flatnonzero(seen.counts).tolist():
        held = order[ends[outcome] - int(seen.counts[outcome]) : ends[outcome]]
        part = likely[outcome] if likely[outcome].sum() > 0 else found.shares
        cells[held] = np.repeat(np.arange(seen.channel.cells), whole_counts(part, len(held)))
    return cells


def by_class(seen: Evidence, shown: Any, classes: Whole, many: int, stopping: Stopping | None, lots: Whole) -> Whole:
    """The same with a distribution of every class by itself."""
    cells = np.empty(seen.answers, np.int64)
    for one in range(many):
        held = np.flatnonzero(classes == one)
        if len(held):
            cells[held] = associated(seen.take(held), shown[held], stopping, lots[held])
    return cells
