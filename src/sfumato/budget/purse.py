"""Where every part of a budget went, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.budget.accountants import Unit, cost_in, delta_of
from sfumato.budget.events import Concentrated, Event, Pure, Sequential, exactly
from sfumato.ground.errors import BudgetError, ParameterError

Cost = Pure | Concentrated
"""What a mechanism is to cost: it draws the least noise that this allows."""
LEAST = Fraction(1, 10**9)
"""No smaller budget: noise in the counts would not fit their numbers."""


def cost_of(unit: Unit, amount: Fraction, what: str) -> Cost:
    """An amount as what a mechanism is to cost."""
    return Pure(epsilon=amount, what=what) if unit == "epsilon" else Concentrated(rho=amount, what=what)


@dataclass(slots=True, kw_only=True)
class Purse:
    """A budget that is spent part by part; what is left at the end goes to the counts."""

    whole: Fraction
    """All of it."""
    unit: Unit = "epsilon"
    """What it is counted in: pure epsilon, or the rho of zCDP."""
    parts: list[Event] = field(default_factory=list)
    """What was bought, in order."""

    @property
    def left(self) -> Fraction:
        """What has not been spent."""
        return self.whole - sum((cost_in(self.unit, part) for part in self.parts), Fraction(0))

    def cost(self, amount: Fraction, what: str) -> Cost:
        """A part of the budget, as what a mechanism is to cost."""
        return cost_of(self.unit, amount, what)

    def pay(self, event: Event) -> None:
        """Write down what was bought; more than there is cannot be bought."""
        if cost_in(self.unit, event) > self.left or delta_of(event):
            raise BudgetError(f"{cost_in(self.unit, event)} of {self.unit} cannot be spent where {self.left} is left")
        self.parts.append(event)

    def closed(self, what: str) -> Event:
        """All that was bought, as one event that costs the whole budget."""
        if self.left:
            raise BudgetError(f"{self.left} of {self.unit} was not spent")
        return Sequential(parts=tuple(self.parts), what=what)


def budgeted(epsilon: Any, rho: Any) -> tuple[Fraction | None, Fraction | None]:
    """The two ways to give a budget, exactly one of which is given."""
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon must be given, or rho in its place; one of them")
    name, given = ("epsilon", epsilon) if rho is None else ("rho", rho)
    found = exactly(name, given)
    if found < LEAST:
        raise ParameterError(f"{name} must be at least {float(LEAST):g}, not {float(found):g}")
    return (found, None) if rho is None else (None, found)


def purse_of(epsilon: Fraction | None, rho: Fraction | None) -> Purse:
    """A purse with one of the two."""
    if epsilon is not None:
        return Purse(whole=epsilon)
    return Purse(whole=rho or Fraction(0), unit="rho")


def share(whole: Fraction, kept: Fraction, choices: int) -> Fraction:
    """What one choice may cost, e'; ``kept`` is the part of the budget that is set aside for the counts.

    The thesis keeps a half, and makes a choice for every number and two for each specialization: e / 2(n + 2h).

    >>> share(Fraction(1), Fraction(1, 2), 1 + 2 * 2)
    Fraction(1, 10)
    """
    return whole * (1 - kept) / choices
