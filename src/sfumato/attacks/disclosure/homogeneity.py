"""Naming the sensitive value that most of the rows that fit a person have.

Whoever knows a person's quasi-identifiers need not find their row. If all rows that fit say the same, the value is
known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.posterior import SLACK, Posterior, Reals, counted
from sfumato.attacks.frame.subject import Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, text
from sfumato.ground.chance import Chance

Judge = Callable[[Posterior, Ints], Reals]
"""How likely the value of each person is named, from what fitting rows say and from the code of their own value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """The three runs of an attack that reads off a sensitive value."""

    people: pl.DataFrame
    """Who was attacked."""
    posterior: Posterior
    """What the release tells about them."""
    truth: Ints
    """The codes of their own values."""
    rate: Rate
    """The target run."""
    naive: Rate
    """The guesser."""
    control: Rate | None
    """The control run."""


def runs(subject: Subject, column: str, trials: int, chance: Chance, judge: Judge, blind: Judge | None = None) -> Runs:
    """Judge some people, the same people by somebody without the release, and control people who have the column."""
    count = counted(subject, column)
    people = subject.some(trials, chance)
    posterior, truth = count.posterior(people), count.truth(people)
    control = None
    if subject.control is not None and column in subject.control.columns:
        others = subject.some(trials, chance, control=True)
        control = rated(judge, count.posterior(others), count.truth(others))
    naive = (judge(posterior.blind(), truth) if blind is None else blind(posterior, truth)).sum()
    return Runs(
        people=people,
        posterior=posterior,
        truth=truth,
        rate=rated(judge, posterior, truth),
        naive=Rate(hits=float(naive), trials=len(truth)),
        control=control,
    )


def rated(judge: Judge, posterior: Posterior, truth: Ints) -> Rate:
    """How often a judge is right; people whom no row fits are trials that failed."""
    return Rate(hits=float(judge(posterior, truth).sum()), trials=len(truth), failed=int((posterior.view < 0).sum()))


def mean(figures: NDArray[np.generic]) -> float:
    """An average; 0 of nothing."""
    return float(figures.mean()) if len(figures) else 0.0


def asked(trials: int, column: str | None) -> None:
    """Refuse options that no attack on a sensitive column can have."""
    at_least("trials", trials, 1)
    if column is not None:
        text("column", column)


def chosen(subject: Subject, column: str | None, among: Callable[[str], bool] = bool) -> str | None:
    """The column that is meant: the named one, or the first sensitive one of the right kind."""
    return column if column is not None else next((one for one in subject.sensitive if among(one)), None)


def unfit(subject: Subject, column: str | None) -> str:
    """Why nothing can be read off about a column; empty if it can."""
    if not subject.quasi:
        return "there are no quasi-identifiers"
    if column is None:
        return "there is no sensitive column of the right kind" if subject.sensitive else "there is no sensitive column"
    apart = () if subject.groups is None else [one for one in subject.groups.columns if one != subject.group][:1]
    if column not in subject.sensitive or column not in (*subject.release.columns, *apart):
        return f"column {column!r} is not among the sensitive columns that are shown"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Homogeneity:
    """Somebody knows all quasi-identifiers of a person, and that they are in the release.

    The attacker wants this person's sensitive value, not their row, keeps the rows that fit, and names the value that
    most of them have. Where all have the same, it is certain, however many rows there are. It takes one pass over the
    release. The guesser names the most frequent value of the whole release for everybody.

    Figures: surely_known, the share of people whose fitting rows all have one value; confidence, the average share of
        the named value. The surest guess is ``worst``.
    Source: Machanavajjhala et al. 2006, l-diversity; Aggarwal 2015, section 20.3.2.
    """

    name: ClassVar[str] = "homogeneity"
    threat: ClassVar[str] = "attribute disclosure"

    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        asked(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unfit(subject, chosen(subject, self.column))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column) or ""
        found = runs(subject, column, self.trials, chance, most_frequent)
        sure = found.posterior.per_person(found.posterior.highest(found.posterior.share)[0])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's {_known(subject, column)} and that they are in the release",
            does=f"name their {column}",
            rate=found.rate,
            naive=found.naive,
            control=found.control,
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures={"surely_known": mean(sure >= SLACK), "confidence": mean(sure)},
        )


def _known(subject: Subject, column: str) -> str:
    return f"quasi-identifiers but {column}," if column in subject.guarded else "quasi-identifiers"


def most_frequent(posterior: Posterior, truth: Ints) -> Reals:
    """Name the value that most fitting rows have; one at random where several have most."""
    return posterior.hits(posterior.highest(posterior.weight)[1], truth)
