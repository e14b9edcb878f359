"""The deFinetti attack: naive Bayes learned from classes by expectation maximization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.candidates import Reals, Shown
from sfumato.attacks.finding import Finding, Limit
from sfumato.attacks.learners import LEAST, Entries, guessed, unlearnable
from sfumato.attacks.subject import Ints, Subject, by_value
from sfumato.core.arguments import above, at_least
from sfumato.core.randomness import Chance

# Naive Bayes learned from rows whose sensitive values are known by group only, by expectation and maximization.
#
# Which of a group's values is which row's is not told. But if some values go with some quasi-identifiers, groups in
# which they are together tell of it; what is learned there says more about the other groups, and so on.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """For each column the logarithm of how likely each of its values is beside each sensitive value."""

    tables: tuple[Reals, ...]
    """A row per sensitive value and a column per value of the column."""

    def score(self, features: Ints, row: Ints, value: Ints) -> Reals:
        """How well rows and sensitive values go together, as a sum of logarithms; unknown cells say nothing."""
        total = np.zeros(len(row))
        for table, codes in zip(self.tables, features, strict=True):
            code = codes[row]
            total += np.where(code >= 0, table[value, np.maximum(code, 0)], 0.0)
        return total

    def assign(self, pairs: Entries, features: Ints) -> Reals:
        """How likely each pair is, by what was learned, within what the groups allow."""
        return assign(self, pairs, features)


def learn(
    published: Shown, features: Ints, unit: Ints, widths: tuple[int, ...], *, rounds: int, smoothing: float
) -> Learned:
    """Begin with the shares of each group, then learn and assign in turn.

    Cost: for each round one pass over pairs of a row and a value of its group, for each column.
    """
    pairs = Entries.of(published, unit)
    weight = published.shares[unit[pairs.row], pairs.value]
    learned = _counted(pairs, weight, features, widths, len(published.values), smoothing)
    for _ in range(rounds):
        weight = assign(learned, pairs, features)
        learned = _counted(pairs, weight, features, widths, len(published.values), smoothing)
    return learned


def assign(learned: Learned, pairs: Entries, features: Ints) -> Reals:
    """How likely each pair is, by what was learned, within what the groups allow."""
    score = learned.score(features, pairs.row, pairs.value)
    top = np.full(pairs.rows, -np.inf)
    np.maximum.at(top, pairs.row, score)
    return pairs.balanced(np.maximum(np.exp(score - top[pairs.row]), LEAST))


def _counted(
    pairs: Entries, weight: Reals, features: Ints, widths: tuple[int, ...], values: int, smoothing: float
) -> Learned:
    tables: list[NDArray[np.float64]] = []
    for width, codes in zip(widths, features, strict=True):
        code = codes[pairs.row]
        known = code >= 0
        counts = np.bincount(pairs.value[known] * width + code[known], weight[known], values * width)
        table = counts.reshape(values, width)
        overall = table.sum(axis=0) / max(float(table.sum()), LEAST)
        table = table + smoothing * width * np.maximum(overall, LEAST)
        tables.append(np.log(table / table.sum(axis=1, keepdims=True)))
    return Learned(tables=tuple(tables))


# The deFinetti attack: learn across groups which sensitive values go with which quasi-identifiers.


@dataclass(frozen=True, slots=True, kw_only=True)
class DeFinetti:
    """Somebody has a release whose groups hide which value is whose, and a register; they want a sensitive value.

    l-diversity counts each group by itself: with three values in a group the attacker should be right once in three.
    But the same values occur in other groups beside other people. The attacker learns naive Bayes from all groups at
    once: begin with the shares of the groups, then learn how columns go with values and assign values to rows within
    each group, in turn. It takes a few passes over the table, and no knowledge beside the release. On a
    generalized table the groups are the classes and the rows are the people of the attacker's register.

    The naive guesser here reads the release, but does not learn from it, and takes the better of a fitting
    row's group, of all rows that fit together, and of the most frequent value. So the excess is what the method gives
    away. Control people are guessed by what was learned, without a group: what works on them is statistics, not a leak.

    Source: Kifer 2009.
    """

    name: ClassVar[str] = "definetti"
    threat: ClassVar[str] = "method"

    column: str | None = None
    """The sensitive column; the first one where nothing is said."""
    values: tuple[str, ...] = ()
    """The only values to bet on, where one is believed more than its claim allows; none means a guess for all."""
    trials: int = 2000
    """At most so many people are guessed."""
    rounds: int = 30
    """How often the attacker learns and assigns."""
    smoothing: float = 1.0
    """How many rows the attacker's belief that columns do not depend on each other is worth."""
    rows: int = 100_000
    """The attacker learns from groups that have about so many rows, of a large group from some; and guesses in all."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)
        at_least("rounds", self.rounds, 0)
        at_least("rows", self.rows, 1)
        above("smoothing", self.smoothing, 0)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unlearnable(subject, self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, DeFinetti]]:
        """On all values, and on those that claims protect more than others."""
        return by_value(self, subject, self.column or next(iter(subject.sensitive), None))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Learn, guess, and count."""
        return guessed(self, subject, chance, limit, self._learned, "by learning from all groups at once")

    def _learned(self, published: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Learned:
        return learn(published, features, unit, widths, rounds=self.rounds, smoothing=self.smoothing)
