"""Picking the row of a person whose quasi-identifiers are known, and how surely that works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import ABOUT, Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.identity.fitted_rows import fitting_people, fitting_rows, fitting_whole_rows
from sfumato.ground.arguments import at_least, between, one_of
from sfumato.ground.chance import Chance
from sfumato.ground.errors import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """Somebody knows all quasi-identifiers of a person, and that they are in the release.

    The attacker wants this person's row, reads the labels, keeps the rows that fit, and picks one of them at random,
    which is right with probability 1 / rows that fit. It takes one pass over the release. This is the prosecutor;
    without the release the attacker picks any row, and is right once in as many times as there are rows. Where no row
    fits, the attack could not be carried out. A person of the control file has no row: whatever is picked for them is
    wrong.

    ``about = "all"`` gives the attacker everything that is published about them: their quasi-identifiers and their own
    values in every other column. No model of quasi-identifiers promises anything against that. The figure shows how
    much the columns that are published unchanged single out.

    With a control file two more adversaries are counted among the figures. The journalist does not know who is in the
    release, starts from a row and picks one of the people of the whole population that fit it. The marketer does this
    for all rows, and counts how many are right.

    Needs: a release that tells the truth about the people in it. On a synthetic or perturbed table a row that fits is
        nobody's row, and the figure is the chance of a match, not of a re-identification.
    Cost: people times classes in the first column, and only the classes that still fit in the others.
    Source: El Emam and Dankar 2008, Protecting privacy using k-anonymity; El Emam 2013, Guide to the de-identification
        of personal health information.
    """

    name: ClassVar[str] = "linkage"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many people are attacked."""
    threshold: float = 0.2
    """A person whose chance is above this counts as at risk."""
    about: str = "quasi"
    """What the attacker knows: the quasi-identifiers, or ``all`` published columns."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("threshold", self.threshold, 0, 1)
        one_of("about", self.about, ABOUT)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return subject.nothing_about(self.about)

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        rows = self._fitting(subject, subject.some(self.trials, chance))
        chances = np.where(rows > 0, 1.0 / np.maximum(rows, 1), 0.0)
        trials, released = len(rows), subject.release.height
        figures = {
            "unique": float((rows == 1).mean()) if trials else 0.0,
            "at_risk": float((chances > self.threshold).mean()) if trials else 0.0,
            "marketer": float(chances.mean()) if trials else 0.0,
        }
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"{self._known(subject)} and that they are in the release",
            does="pick their row",
            rate=Rate(hits=float(chances.sum()), trials=trials, failed=int((rows == 0).sum())),
            naive=Rate(hits=trials / released if released else 0.0, trials=trials, exact=True),
            control=self._outsiders(subject, chance),
            limit=limit,
            worst=float(chances.max()) if trials else None,
            figures=figures | self._journalist(subject, chance),
            note=subject.not_looked_at() if self.whole(subject) else "",
            beyond=self.whole(subject) and limit is None,
        )

    def whole(self, subject: Subject) -> bool:
        """Whether the attacker knows more than the quasi-identifiers."""
        return self.about == "all" and bool(subject.beside)

    def _known(self, subject: Subject) -> str:
        if not self.whole(subject):
            return "a person's quasi-identifiers"
        return (
            f"everything that is published about a person (their quasi-identifiers, {listed(subject.beside, most=6)})"
        )

    def _fitting(self, subject: Subject, people: pl.DataFrame) -> Ints:
        return fitting_whole_rows(subject, people) if self.whole(subject) else fitting_rows(subject, people)

    def _journalist(self, subject: Subject, chance: Chance) -> dict[str, float]:
        if self.whole(subject):
            return {}
        return journalist(subject, chance, most=self.trials, threshold=self.threshold)

    def _outsiders(self, subject: Subject, chance: Chance) -> Rate | None:
        if subject.control is None or (self.whole(subject) and not subject.controlled):
            return None
        rows = self._fitting(subject, subject.some(self.trials, chance, control=True))
        return Rate(hits=0.0, trials=len(rows), failed=int((rows == 0).sum()))


def journalist(subject: Subject, chance: Chance, *, most: int, threshold: float) -> dict[str, float]:
    """The figures of somebody who knows the population, people and control together; none without a control file.

    The attacker picks a row, and one of the N people of the population that fit it: 1/N. Figures: the largest, the
    share of rows above the threshold, and the average, which is the marketer's share of right matches.
    """
    if subject.control is None or not subject.release.height:
        return {}
    labels, sizes, of_row = subject.classes
    rows = chance.generator().permutation(len(of_row))[:most]
    classes, of_chosen = np.unique(of_row[rows], return_inverse=True)
    everybody = pl.concat([frame.select(pl.col(list(subject.quasi)).cast(pl.String)) for frame in _population(subject)])
    behind = np.maximum(fitting_people(subject, labels[:, classes], everybody), sizes[classes])
    chances = 1.0 / behind[of_chosen.reshape(-1)]
    return {
        "journalist": float(chances.max()),
        "journalist_at_risk": float((chances > threshold).mean()),
        "marketer_of_population": float(chances.mean()),
    }


def _population(subject: Subject) -> tuple[pl.DataFrame, ...]:
    return (subject.people,) if subject.control is None else (subject.people, subject.control)
