"""Looking for a household: whoever knows all of its people finds one of them more easily than a single person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.identity.fitted_rows import fitting_rows
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Households:
    """Somebody knows the quasi-identifiers of everybody in a household, and that they are in the release.

    They want the row of any one of them: who has found one knows where the others must be. For each person they keep
    the rows that fit and pick one; they fail only if they pick wrong for everybody. With f_i rows that fit the i-th
    person the chance is 1 - prod(1 - 1/f_i). The guesser picks any row for each.

    Figures: largest, people in the largest household that was attacked; mean_size.
    Needs: ``[attack] group``, the column that tells who belongs together; any group of people that others know as one
        will do (a school class, a practice).
    Does not show: what the rows of a household have in common. Models that count people one by one promise nothing
        about groups.
    Source: Templ, Meindl and Kowarik 2013, Introduction to statistical disclosure control: hierarchical (household)
        risk, as in sdcMicro.
    """

    name: ClassVar[str] = "households"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many households are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if subject.together is None:
            return "no column tells who belongs together; name one as [attack] group"
        if subject.together not in subject.people.columns:
            return f"the original does not have {subject.together!r}"
        return subject.nothing_about("quasi") or ("" if subject.release.height else "the release has no rows")

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """None: models count people one by one, and promise nothing about groups."""
        return None

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some households."""
        of_person = subject.people[str(subject.together)].cast(pl.String).fill_null("")
        every = of_person.unique().sort()
        chosen = every[chance.generator().permutation(len(every))[: self.trials]]
        people = subject.people.filter(of_person.is_in(chosen.implode()))
        place = {name: at for at, name in enumerate(chosen.to_list())}
        home = np.array([place[name] for name in people[str(subject.together)].cast(pl.String).fill_null("")])
        rows = fitting_rows(subject, people)
        missed = np.where(rows > 0, 1.0 - 1.0 / np.maximum(rows, 1), 1.0)
        left = np.ones(len(chosen))
        np.multiply.at(left, home, missed)
        sizes = np.bincount(home, minlength=len(chosen))
        found = np.zeros(len(chosen), np.bool_)
        found[home[rows > 0]] = True
        guesses = 1.0 - (1.0 - 1.0 / max(subject.release.height, 1)) ** sizes
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"the quasi-identifiers of all people with one {subject.together}",
            does="pick the row of one of them",
            rate=Rate(hits=float((1.0 - left).sum()), trials=len(chosen), failed=int((~found).sum())),
            naive=Rate(hits=float(guesses.sum()), trials=len(chosen), exact=True),
            limit=limit,
            worst=float((1.0 - left).max()) if len(chosen) else None,
            figures={
                "largest": float(sizes.max(initial=0)),
                "mean_size": float(sizes.mean()) if len(chosen) else 0.0,
            },
            note="models count people one by one and promise nothing about groups",
        )
