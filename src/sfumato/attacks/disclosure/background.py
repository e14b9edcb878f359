"""Reading off a sensitive value with the help of a few facts about what it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.disclosure.homogeneity import asked, chosen, unfit
from sfumato.attacks.frame.posterior import SLACK, Counted, Posterior, Reals, counted, spread
from sfumato.attacks.frame.subject import Ints, Mask, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.chance import Chance

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
        asked(self.trials, self.column)

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
        found = self._told(count, subject.some(self.trials, chance), chance)
        others = None
        if subject.control is not None and column in subject.control.columns:
            others = self._told(count, subject.some(self.trials, chance, control=True), chance)
        hits, sure = found.hits(self.m)
        rates = {f"rate_{m}": float(found.hits(m)[0].sum()) / max(len(found.truth), 1) for m in range(FACTS + 1)}
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers, and {self.m} of the values of {column} that they do not have",
            does=f"name their {column}",
            rate=_rate(found, hits),
            naive=Rate(hits=float(found.guesses(self.m).sum()), trials=len(hits)),
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


def _rate(found: _Facts, hits: Reals) -> Rate:
    return Rate(hits=float(hits.sum()), trials=len(hits), failed=int((found.posterior.view < 0).sum()))
