"""Homogeneity and background-knowledge attacks: names the sensitive value most matching rows have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.guarantees import about
from sfumato.attacks.posterior import SLACK, Counted, Posterior, Reals, counted, holding, spread
from sfumato.attacks.subject import Ints, Mask, Subject
from sfumato.core.arguments import at_least, one_of, text
from sfumato.core.randomness import Chance

# Naming the sensitive value that most of the rows that fit a person have.
#
# Whoever knows a person's quasi-identifiers need not find their row. If all rows that fit say the same, the value is
# known.


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


def check_options(trials: int, column: str | None) -> None:
    """Refuse options that no attack on a sensitive column can have."""
    at_least("trials", trials, 1)
    if column is not None:
        text("column", column)


def chosen(subject: Subject, column: str | None, among: Callable[[str], bool] = bool) -> str | None:
    """The column that is meant: the named one, or the first sensitive one of the right kind."""
    return column if column is not None else next((name for name in subject.sensitive if among(name)), None)


def unfit(subject: Subject, column: str | None) -> str:
    """Why nothing can be read off about a column; empty if it can."""
    if not subject.quasi:
        return "there are no quasi-identifiers"
    if column is None:
        return "there is no sensitive column of the right kind" if subject.sensitive else "there is no sensitive column"
    apart = () if subject.groups is None else [name for name in subject.groups.columns if name != subject.group][:1]
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
        check_options(self.trials, self.column)

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


# Reading off a sensitive value with the help of a few facts about what it is not.


MOST_VALUES = 1000
"""Of a column with more values than this, a fact about one value tells nothing."""
FACTS = 3
"""Rates are told for up to so many facts, besides the number that is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Somebody knows a person's quasi-identifiers, and m values of the sensitive column that they do not have.

    A Japanese patient seldom has a heart disease; a neighbour was seen at work and has no flu. The attacker keeps the
    rows that fit, strikes out the values that this person cannot have, and names the most frequent one that is left. If
    the fitting rows have m + 1 different values, m facts can lay the last one bare. It takes one pass over the release,
    and the facts. The guesser has the same facts, and strikes them out of the public shares of the values.

    The facts are drawn from the other values of the rows that fit: at random, or in the worst case the most frequent
    ones. Figures: rate_0 to rate_3, how often the attacker is right with so many facts; surely_known, the share of
        people of whom one value is left. Where fewer other values are there, the attacker knows all of them.
    Source: Machanavajjhala et al. 2006, l-diversity; Martin et al. 2007, Worst-case background knowledge.
    """

    name: ClassVar[str] = "background"
    threat: ClassVar[str] = "attribute disclosure"

    m: int = 1
    """How many values the attacker knows that they do not have."""
    choice: str = "random"
    """Which ones: "random", or "worst", the most frequent of the others."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("m", self.m, 0)
        one_of("choice", self.choice, ("random", "worst"))
        check_options(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column)
        why = unfit(subject, column)
        if why or column not in subject.people.columns:
            return why or f"the people have no column {column!r}"
        many = subject.people[column].n_unique()
        return f"column {column!r} has {many} different values; use proximity" if many > MOST_VALUES else ""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column) or ""
        count = counted(subject, column)
        facts = self._told(count, subject.some(self.trials, chance), chance)
        others = None
        if subject.control is not None and column in subject.control.columns:
            others = self._told(count, subject.some(self.trials, chance, control=True), chance)
        hits, sure = facts.hits(self.m)
        rates = {f"rate_{m}": float(facts.hits(m)[0].sum()) / max(len(facts.truth), 1) for m in range(FACTS + 1)}
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers, and {self.m} of the values of {column} that they do not have",
            does=f"name their {column}",
            rate=_rate(facts, hits),
            naive=Rate(hits=float(facts.guesses(self.m).sum()), trials=len(hits)),
            control=None if others is None else _rate(others, others.hits(self.m)[0]),
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures=rates | {"surely_known": float((sure >= SLACK).mean()) if len(sure) else 0.0},
        )

    def _told(self, count: Counted, people: pl.DataFrame, chance: Chance) -> _Facts:
        posterior, truth = count.posterior(people), count.truth(people)
        person, entry = _entries(posterior)
        other = posterior.code[entry] != truth[person]
        first = -posterior.weight[entry] if self.choice == "worst" else chance.generator().random(len(entry))
        order = np.lexsort((first, ~other, person))
        starts = np.searchsorted(person, np.arange(len(truth)))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - starts[person]
        return _Facts(
            posterior=posterior, truth=truth, person=person, entry=entry, rank=np.where(other, rank, len(count.values))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Facts:
    """What people are told, and in which order somebody learns of the other values that they are not theirs."""

    posterior: Posterior
    truth: Ints
    person: Ints
    entry: Ints
    rank: Ints

    def hits(self, m: int) -> tuple[Reals, Reals]:
        """How likely each person's value is named after m facts, and how sure the attacker is."""
        posterior = self.posterior
        return _best(self.person, posterior.weight[self.entry], posterior.code[self.entry], self.rank >= m, self.truth)

    def guesses(self, m: int) -> Reals:
        """The same facts with the public shares alone."""
        blind, width = self.posterior.blind(), len(self.posterior.values)
        person, entry = _entries(blind)
        known = self.rank < m
        facts = np.zeros((len(self.truth), width), np.bool_)
        facts[self.person[known], self.posterior.code[self.entry[known]]] = True
        code = blind.code[entry]
        return _best(person, blind.weight[entry], code, ~facts[person, code], self.truth)[0]


def _entries(posterior: Posterior) -> tuple[Ints, Ints]:
    """All pairs of a person and an entry of their view."""
    seen = np.flatnonzero(posterior.view >= 0)
    place, entry = spread(posterior.starts, posterior.view[seen])
    return seen[place], entry


def _best(person: Ints, weight: Reals, code: Ints, left: Mask, truth: Ints) -> tuple[Reals, Reals]:
    """Name the most frequent value that is left: how likely each person's is named, and the share of the named one."""
    person, weight, code = person[left], weight[left], code[left]
    most, total = np.zeros(len(truth)), np.zeros(len(truth))
    np.maximum.at(most, person, weight)
    np.add.at(total, person, weight)
    named = weight >= most[person] * SLACK
    many = np.bincount(person[named], minlength=len(truth))
    right = named & (code == truth[person])
    hits = np.zeros(len(truth))
    hits[person[right]] = 1.0 / many[person[right]]
    return hits, most / np.maximum(total, 1e-300)


def _rate(facts: _Facts, hits: Reals) -> Rate:
    return Rate(hits=float(hits.sum()), trials=len(hits), failed=int((facts.posterior.view < 0).sum()))
