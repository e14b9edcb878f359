"""Moving dates back: the extraction period and the weekdays of visits rule out most shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.subject import Subject, measured
from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftedDates:
    """They know the period that the records are from and on which weekdays people come, and want the true dates.

    A shift that would put one of a person's dates outside the period, or on a day when nobody comes, is not theirs. The
    attacker strikes these out and takes one of the others at random. It is right for one of so many people as shifts
    remain. The naive guesser takes any shift.

    Figures: shifts, how many there are; median_shifts and fewest_shifts, how many remain for a person;
        surely_moved_back, the share of people for whom one remains.
    Needs: moved dates, and the key: only the steward can say what the true period is.
    Does not show: what an attacker learns who knows a true date of a person, which moves back all others.
    """

    name: ClassVar[str] = "date-shift"
    threat: ClassVar[str] = "method"

    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return "" if subject.shifts is not None and subject.shifts.people else "no dates were moved by a key"

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """None: moving dates is pseudonymization, and no claim rests on it."""
        return None

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Count the shifts that remain."""
        if subject.shifts is None or not subject.shifts.people:
            raise ParameterError(f"subject cannot be attacked: {self.fits(subject)}")
        remaining = subject.shifts.possible()
        some = np.sort(chance.generator().permutation(len(remaining))[: self.trials])
        figures = measured(subject.shifts)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the period that the records are from, and on which weekdays people come",
            does="move a person's dates back to the true days",
            rate=Rate(hits=float((1 / np.maximum(remaining[some], 1)).sum()), trials=len(some)),
            naive=Rate(hits=len(some) / subject.shifts.every, trials=len(some)),
            limit=limit,
            worst=1 / max(figures["fewest_shifts"], 1),
            figures=figures,
            exact=True,
        )
