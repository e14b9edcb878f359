"""Where every part of epsilon went, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Event, Sequential
from sfumato.ground.errors import BudgetError


@dataclass(slots=True, kw_only=True)
class Purse:
    """A budget that is spent part by part; what is left at the end goes to the counts."""

    epsilon: Fraction
    """All of it."""
    parts: list[Event] = field(default_factory=list)
    """What was bought, in order."""

    @property
    def left(self) -> Fraction:
        """What has not been spent."""
        return self.epsilon - sum((epsilon_of(part) for part in self.parts), Fraction(0))

    def pay(self, event: Event) -> None:
        """Write down what was bought; more than there is cannot be bought."""
        if epsilon_of(event) > self.left:
            raise BudgetError(f"{epsilon_of(event)} of epsilon cannot be spent where {self.left} is left")
        self.parts.append(event)

    def closed(self, what: str) -> Event:
        """All that was bought, as one event whose epsilon is the whole budget."""
        if self.left:
            raise BudgetError(f"{self.left} of epsilon was not spent")
        return Sequential(parts=tuple(self.parts), what=what)


def share(epsilon: Fraction, kept: Fraction, choices: int) -> Fraction:
    """What one choice may cost, e'; ``kept`` is the part of the budget that is set aside for the counts.

    The thesis keeps a half, and makes a choice for every number and two for each specialization: e / 2(n + 2h).

    >>> share(Fraction(1), Fraction(1, 2), 1 + 2 * 2)
    Fraction(1, 10)
    """
    return epsilon * (1 - kept) / choices
