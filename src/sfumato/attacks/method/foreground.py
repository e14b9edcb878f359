"""The attack by foreground knowledge: what the release says about everybody is turned on single groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit
from sfumato.attacks.frame.variants import by_value
from sfumato.attacks.method.associations import mined
from sfumato.attacks.method.learned_guesses import guessed, unlearnable
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreground:
    """Somebody has the release and a register of everybody in it, and wants a person's sensitive value.

    The attacker knows nothing about illness, but the release shows that Japanese seldom have heart disease. In a group
    of a Japanese and an American with one heart disease the attacker need not toss a coin. The attacker takes from the
    whole release how likely each value is beside each value of a column, or of two, and keeps the column that tells
    most. In every group the attacker weighs all worlds in which the values lie as often as the group shows them. What
    was published to be useful is what the attacker uses; it takes one pass over the table and one over the groups.
    Unlike deFinetti, this attacker does not learn again from what was inferred, and uses one column, or two.

    The naive guesser reads the release, but does not learn from it. Control people are guessed by the association
    alone, without a group: what works on them is statistics.

    Source: Wong, Fu, Wang, Xu and Yu 2011; document 003, section 2.1.1.
    """

    name: ClassVar[str] = "foreground"
    threat: ClassVar[str] = "method"

    column: str | None = None
    """The sensitive column; the first one where nothing is said."""
    values: tuple[str, ...] = ()
    """The only values to bet on, where one is believed more than its claim allows; none means a guess for all."""
    trials: int = 2000
    """At most so many people are guessed."""
    rows: int = 100_000
    """The attacker learns from groups that have about so many rows, of a large group from some; and guesses in all."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)
        at_least("rows", self.rows, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unlearnable(subject, self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, Foreground]]:
        """On all values, and on those that claims protect more than others."""
        return by_value(self, subject, self.column or next(iter(subject.sensitive), None))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Take from the release what it says about everybody, weigh every group by it, and count."""
        return guessed(self, subject, chance, limit, mined, "by what the release says about everybody")
