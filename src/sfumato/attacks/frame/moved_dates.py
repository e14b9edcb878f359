"""Dates that a key moved, and which shifts the period and the weekdays of the true ones leave possible."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Shifts(Brief):
    """Dates that were moved, all of a person alike, and what is known about the true ones."""

    people: int
    """How many people have such dates."""
    person: Ints
    """The person of each published date, from 0."""
    day: Ints
    """The published day of each, as ``date.toordinal`` counts."""
    days: int
    """The most days that a date moves, either way."""
    weeks: bool
    """Whether dates move by whole weeks."""
    first: int
    """The first day of the period that the true dates are from."""
    last: int
    """Its last day."""
    weekdays: Mask
    """On which weekdays true dates fall, Monday first."""

    @property
    def every(self) -> int:
        """How many shifts there are."""
        return 2 * (self.days // WEEK) + 1 if self.weeks else 2 * self.days + 1

    def possible(self) -> Ints:
        """For each person, how many shifts move all of their dates into the period and onto those weekdays.

        >>> flags = np.array([True] * 5 + [False] * 2)
        >>> day = np.array([735_600])  # a Thursday
        >>> shifts = Shifts(people=1, person=np.array([0]), day=day, days=3, weeks=False, first=735_599, last=735_700,
        ...              weekdays=flags)
        >>> shifts.possible().tolist()  # 1 back is Wednesday; 1 forward Friday; 2 and 3 forward Saturday and Sunday
        [3]
        """
        low, high = np.full(self.people, -self.days), np.full(self.people, self.days)
        np.maximum.at(low, self.person, self.day - self.last)
        np.minimum.at(high, self.person, self.day - self.first)
        counts = np.zeros(self.people, np.int64)
        for rest in (0,) if self.weeks else range(WEEK):
            fits = np.ones(self.people, np.bool_)
            fits[self.person[~self.weekdays[(self.day - rest - 1) % WEEK]]] = False
            start = low + (rest - low) % WEEK
            counts += np.where(fits, np.maximum((high - start) // WEEK + 1, 0), 0)
        return counts

    def without_dates(self) -> Shifts:
        """The same people, of whom no date is published."""
        return replace(self, person=self.person[:0], day=self.day[:0])


def measured(shifts: Shifts) -> dict[str, float]:
    """How many shifts remain possible, of how many."""
    remaining: Ints = shifts.possible()
    return {
        "shifts": float(shifts.every),
        "median_shifts": float(np.median(remaining)),
        "fewest_shifts": float(remaining.min()),
        "surely_moved_back": float((remaining == 1).mean()),
    }
