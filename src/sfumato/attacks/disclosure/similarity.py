"""Learning about a sensitive value without learning it: how its share moved, what the values have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.disclosure.homogeneity import asked, chosen, mean, most_frequent, runs, unfit
from sfumato.attacks.frame.posterior import SLACK, Posterior, Reals, counted
from sfumato.attacks.frame.subject import Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit
from sfumato.ground.arguments import above, at_least
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewness:
    """Somebody knows a person's quasi-identifiers, and how frequent each sensitive value is among all people.

    One in a hundred has HIV; among the rows that fit them it is every second. That is no certainty, and much to learn
    all the same. The attacker keeps the rows that fit, looks for values whose share there is at least twice their share
    in the whole release, and names the most frequent one of these; where there is none, nothing is said, and the trial
    did not work. It takes one pass over the release. The guesser says the same value of anybody, and is right as often
    as the value is frequent.

    Figures: ratio_worst and ratio_mean, by how much the share of a value rises at most, over all people and on average
        over people; moved, the share of people of whom the attacker says something; distance, the average of half the
        sum of the differences between shares (the variational distance of t-closeness).
    Source: Li, Li and Venkatasubramanian 2007, t-closeness; Aggarwal 2015, section 20.3.3.
    """

    name: ClassVar[str] = "skewness"
    threat: ClassVar[str] = "attribute disclosure"

    factor: float = 2.0
    """From this ratio of shares on the attacker speaks."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        above("factor", self.factor, 1)
        asked(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unfit(subject, chosen(subject, self.column))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column) or ""
        found = runs(subject, column, self.trials, chance, self._named, self._guessed)
        posterior = found.posterior
        ratio = posterior.per_person(posterior.highest(_ratio(posterior))[0])
        speaks = posterior.per_person(posterior.highest(self._score(posterior))[0])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers and the overall shares of {column}",
            does=f"name their {column} where its share among the fitting rows is {self.factor:g} times the overall one",
            rate=found.rate,
            naive=found.naive,
            control=found.control,
            limit=limit,
            worst=float(speaks.max(initial=0)),
            figures={
                "ratio_worst": float(ratio.max(initial=0)),
                "ratio_mean": mean(ratio[posterior.view >= 0]),
                "moved": mean(speaks > 0),
                "distance": mean(posterior.per_person(_distance(posterior))[posterior.view >= 0]),
            },
        )

    def _score(self, posterior: Posterior) -> Reals:
        return np.where(_ratio(posterior) >= self.factor * SLACK, posterior.share, 0.0)

    def _named(self, posterior: Posterior, truth: Ints) -> Reals:
        score = self._score(posterior)
        return posterior.hits(posterior.highest(score)[1] & (score > 0), truth)

    def _guessed(self, posterior: Posterior, truth: Ints) -> Reals:
        """How frequent the named values are among all people; their average where several are named."""
        score = self._score(posterior)
        named = posterior.highest(score)[1] & (score > 0)
        views = len(posterior.starts) - 1
        known = np.bincount(posterior.of_entry, weights=np.where(named, _overall(posterior), 0.0), minlength=views)
        return posterior.per_person(
            known / np.maximum(np.bincount(posterior.of_entry, weights=named, minlength=views), 1)
        )


def _overall(posterior: Posterior) -> Reals:
    """The overall share of each entry's value."""
    return np.asarray(posterior.overall[posterior.code] / max(float(posterior.overall.sum()), 1e-300))


def _ratio(posterior: Posterior) -> Reals:
    return np.asarray(posterior.share / np.maximum(_overall(posterior), 1e-300))


def _distance(posterior: Posterior) -> Reals:
    """Half the sum of the differences; what a view does not have counts with its overall share."""
    views, overall = len(posterior.starts) - 1, _overall(posterior)
    there = np.bincount(posterior.of_entry, weights=np.abs(posterior.share - overall), minlength=views)
    return np.asarray((there + 1 - np.bincount(posterior.of_entry, weights=overall, minlength=views)) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """Somebody knows a person's quasi-identifiers, and which sensitive values mean much the same.

    Three fitting rows say gastritis, gastric ulcer and stomach cancer: three values, and yet the attacker knows that
    they have a disease of the stomach. The attacker reads the public tree over the values, replaces each value by the
    node above it, and names the node that most of the fitting rows lie under. It takes one pass over the
    release. The guesser names the most frequent node of the whole release.

    Figures: surely_known, the share of people whose fitting rows all lie under one node; diverse_and_known, of whom
        this holds although the rows have two values or more; confidence, the average share of the named node.
    Source: Li, Li and Venkatasubramanian 2007, t-closeness; Aggarwal 2015, section 20.3.3.
    """

    name: ClassVar[str] = "similarity"
    threat: ClassVar[str] = "attribute disclosure"

    level: int = 1
    """How many levels up; values without so many nodes above them stand for themselves at their highest."""
    column: str | None = None
    """The sensitive column; the first one with a tree where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("level", self.level, 1)
        asked(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column, subject.trees.__contains__)
        why = unfit(subject, column)
        return why or ("" if column in subject.trees else f"column {column!r} has no tree over its values")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column, subject.trees.__contains__) or ""
        found = runs(_lifted(subject, column, self.level), column, self.trials, chance, most_frequent)
        sure = found.posterior.per_person(found.posterior.highest(found.posterior.share)[0])
        plain = counted(subject, column).posterior(found.people)
        several = plain.per_person(np.diff(plain.starts).astype(np.float64)) > 1
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers and the tree over {column}",
            does=f"name the group of values that their {column} is in",
            rate=found.rate,
            naive=found.naive,
            control=found.control,
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures={
                "surely_known": mean(sure >= SLACK),
                "diverse_and_known": mean((sure >= SLACK) & several),
                "confidence": mean(sure),
            },
        )


def _lifted(subject: Subject, column: str, level: int) -> Subject:
    """The same release and people with nodes in place of sensitive values."""
    nodes = {value: (value, *above)[min(level, len(above))] for value, above in subject.trees[column].items()}

    def lift(frame: pl.DataFrame) -> pl.DataFrame:
        if column not in frame.columns:
            return frame
        return frame.with_columns(pl.col(column).cast(pl.String).fill_null("").replace(nodes))

    return replace(
        subject,
        release=lift(subject.release),
        people=lift(subject.people),
        control=None if subject.control is None else lift(subject.control),
        groups=None if subject.groups is None else lift(subject.groups),
    )
