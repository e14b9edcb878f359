"""Taking the nearest released row for a person's own, where values were changed and none need fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.neighbours import Space
from sfumato.attacks.frame.subject import Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRecord:
    """Somebody knows all quasi-identifiers of a person, and that they are in the release, perhaps with other values.

    Values were exchanged, so this person's own may fit nowhere: the attacker takes the row that is nearest to the known
    values, one at random where several are. It takes one search for each person. The guesser takes any row. A pick is
    right if the row was made from theirs, whatever of it was exchanged; what it then says may be somebody else's.

    Figures: told_right, how often a sensitive value of the row that the attacker takes is their own, on average over
        these columns; told_right_blind, the same of any row. Whoever finds the row and reads a value that was exchanged
        is wrong.
    Needs: to know whose row is whose; only whoever made the release does.
    Cost: a search among the released combinations for each person.
    Source: the distance-based record linkage of Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001, Disclosure
        control methods and information loss for microdata.
    """

    name: ClassVar[str] = "nearest-record"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many people are looked for."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if subject.own is None:
            return "it is not known whose row is whose; only whoever made the release knows"
        return subject.nothing_about("quasi")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Look for some people."""
        if subject.own is None:
            raise ParameterError(f"subject cannot be attacked: {self.fits(subject)}")
        chosen = np.sort(chance.generator().permutation(subject.people.height)[: self.trials])
        people, own = subject.people[chosen], subject.own[chosen]
        space = Space.of(subject, people, subject.quasi)
        near = [space.nearest(person)[1] for person in range(people.height)]
        hits = [
            1.0 / int(space.sizes[classes].sum()) if space.of_row[row] in classes else 0.0
            for classes, row in zip(near, own, strict=True)
        ]
        rows = max(subject.release.height, 1)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="a person's quasi-identifiers and that they are in the release",
            does="find their row by taking the nearest one",
            rate=Rate(hits=float(sum(hits)), trials=len(hits)),
            naive=Rate(hits=len(hits) / rows, trials=len(hits), exact=True),
            limit=limit,
            worst=max(hits, default=None),
            figures=_told(subject, people, [space.members(classes) for classes in near]),
            note=_swapped(subject),
        )


def _told(subject: Subject, people: pl.DataFrame, near: list[Ints]) -> dict[str, float]:
    """How often a sensitive value of the row that is taken is the person's own, and of any row."""
    shown = [name for name in subject.sensitive if name in subject.release.columns]
    if not shown or not near:
        return {}
    right, blind = [], []
    for name in shown:
        theirs = subject.release[name].cast(pl.String).fill_null("").to_numpy()
        mine = people[name].cast(pl.String).fill_null("").to_numpy()
        right += [float((theirs[rows] == value).mean()) for rows, value in zip(near, mine, strict=True)]
        values, counts = np.unique(theirs, return_counts=True)
        share = dict(zip(values.tolist(), (counts / len(theirs)).tolist(), strict=True))
        blind += [share.get(value, 0.0) for value in mine]
    return {"told_right": float(np.mean(right)), "told_right_blind": float(np.mean(blind))}


def _swapped(subject: Subject) -> str:
    shown = [name for name in subject.sensitive if name in subject.release.columns]
    return f"the row is found whether or not its {listed(shown, most=3)} was exchanged" if shown else ""
