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

from sfumato.attacks.frame.posterior import SLACK, Posterior, Reals, counted, holding
from sfumato.attacks.frame.promises import about
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
    release. The guesser names the most frequent value of the whole release for everybody. Where people have several
    rows, the attacker names the value that most people have at least once, and is right if the person has it.

    Diversity of ``l`` values bounds no share, but it says that no value is certain. Where some value is certain in
    spite of such a claim, only the people who are given away are attacked.

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
        count, people = holding(subject, column), subject.some(self.trials, chance)
        posterior, truth, person = count.owned(people)
        guessed = posterior.highest(posterior.weight)[1]
        hits = posterior.hits(guessed, truth, person)
        failed = posterior.view < 0
        naive = posterior.blind()
        blind = naive.hits(naive.highest(naive.weight)[1], truth, person)
        sure = posterior.per_person(posterior.highest(posterior.share)[0])
        certain = sure >= SLACK
        bound = _never_certain(subject, column) if certain.any() else None
        tried = certain if bound is not None else np.ones(len(sure), np.bool_)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's {_known(subject, column)} and that they are in the release",
            does=f"name their {column}",
            rate=Rate(
                hits=float(hits[tried].sum()),
                trials=int(tried.sum()),
                failed=int((failed & tried).sum()),
                exact=bound is not None,
            ),
            naive=Rate(hits=float(blind[tried].sum()), trials=int(tried.sum())),
            control=None if bound is not None else self._control(subject, column, chance),
            limit=bound or limit,
            worst=float(sure.max(initial=0)),
            figures={"surely_known": mean(certain), "confidence": mean(sure)},
            note="" if bound is None else "only people whose value is certain were attacked",
        )

    def _control(self, subject: Subject, column: str, chance: Chance) -> Rate | None:
        """The same on people who are not in the release, who have one row each."""
        if subject.control is None or column not in subject.control.columns:
            return None
        count, others = holding(subject, column), subject.some(self.trials, chance, control=True)
        return rated(most_frequent, count.posterior(others), count.truth(others))


def _never_certain(subject: Subject, column: str) -> Limit | None:
    """The share that no value of a class reaches, by claims of l different values, which bound no other share."""
    largest = int(subject.classes[1].max(initial=1))
    promised = [
        promise
        for promise in about(subject.promises, column, 2, len(subject.quasi))
        if promise.spare and not promise.values
    ]
    if subject.exempt or not promised:
        return None
    tightest = max(promised, key=lambda promise: promise.spare)
    return Limit(value=max(1 - tightest.spare / largest, 0.0), why=tightest.why)


def _known(subject: Subject, column: str) -> str:
    return f"quasi-identifiers but {column}," if column in subject.guarded else "quasi-identifiers"


def most_frequent(posterior: Posterior, truth: Ints) -> Reals:
    """Name the value that most fitting rows have; one at random where several have most."""
    return posterior.hits(posterior.highest(posterior.weight)[1], truth)
