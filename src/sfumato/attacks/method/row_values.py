"""All pairs of a row and a sensitive value that its group has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attacks.frame.assignment import Reals, Shown
from sfumato.attacks.frame.subject import Ints

BALANCES = 6
"""How often rows and values of a group are brought into balance in turn."""
LEAST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entries:
    """All pairs of a row and a value of its group."""

    row: Ints
    """The row."""
    value: Ints
    """The value."""
    slot: Ints
    """The group and value, as one number."""
    wanted: Reals
    """For each slot, how many rows have the value."""
    rows: int
    """How many rows there are."""

    @classmethod
    def of(cls, found: Shown, unit: Ints) -> Entries:
        """For rows in these units; a unit whose rows are not as many as its values is scaled."""
        where, value = np.nonzero(found.counts)
        starts = np.searchsorted(where, np.arange(len(found.counts) + 1))
        many = np.diff(starts)[unit]
        row = np.repeat(np.arange(len(unit)), many)
        slot = starts[unit][row] + np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        present = np.bincount(unit, minlength=len(found.counts))
        scale = present / np.maximum(found.counts.sum(axis=1), 1)
        wanted = found.counts[where, value] * scale[where]
        return cls(row=row, value=value[slot], slot=slot, wanted=wanted, rows=len(unit))

    def balanced(self, weight: Reals) -> Reals:
        """Weights scaled so that each row has one value and each value its number of rows (Sinkhorn)."""
        for _ in range(BALANCES):
            weight = weight * (self.wanted / np.maximum(self._by_slot(weight), LEAST))[self.slot]
            weight = weight / np.maximum(np.bincount(self.row, weight, self.rows), LEAST)[self.row]
        return weight

    def _by_slot(self, weight: Reals) -> Reals:
        return np.asarray(np.bincount(self.slot, weight, len(self.wanted)), np.float64)
