"""The deFinetti attack: learn across groups which sensitive values go with which quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.attacks.frame.assignment import Shown
from sfumato.attacks.frame.subject import Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit
from sfumato.attacks.frame.variants import by_value
from sfumato.attacks.method.learned_guesses import guessed, unlearnable
from sfumato.attacks.method.naive_bayes import Learned, learn
from sfumato.ground.arguments import above, at_least
from sfumato.ground.chance import Chance


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

    def _learned(self, found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...]) -> Learned:
        return learn(found, features, unit, widths, rounds=self.rounds, smoothing=self.smoothing)
