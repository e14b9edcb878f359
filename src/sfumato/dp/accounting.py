"""What events cost: accountants, guarantees, budgets, and what remains when some noise is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log, log1p
from typing import Any, Literal

import numpy as np

from sfumato.core.errors import BudgetError, ParameterError
from sfumato.dp.events import Approximate, Concentrated, Event, Grouped, Parallel, Pure, Sequential, exactly, written

# Accountants: what events cost, in exact fractions.


Unit = Literal["epsilon", "rho"]
"""What costs are counted in: pure epsilon, or the rho of zCDP."""

_ORDERS = 200
"""Orders between which the best one is looked for; any of them gives a bound that holds."""
_RHO_DIGITS = 12
"""To so many digits a rho is rounded down."""


def epsilon_of(event: Event) -> Fraction:
    """The epsilon of an event, beside its delta: sequential parts add up, of parallel ones the largest counts.

    >>> epsilon_of(Sequential(parts=(Pure(epsilon=Fraction(1, 10)),) * 3))
    Fraction(3, 10)
    """
    match event:
        case Pure() | Approximate():
            return event.epsilon
        case Grouped():
            return event.rows * epsilon_of(event.part)
        case Sequential():
            return sum((epsilon_of(part) for part in event.parts), Fraction(0))
        case Parallel():
            return max((epsilon_of(part) for part in event.parts), default=Fraction(0))
        case Concentrated():
            raise ParameterError(
                f"event must have a pure epsilon, but {event.what or 'it'} is concentrated (Gaussian noise); "
                "account for it in zCDP"
            )


def rho_of(event: Event) -> Fraction:
    """The zCDP rho of an event, beside its delta; a pure epsilon is epsilon squared over two.

    A group of m rows costs m squared times as much (Bun and Steinke 2016, proposition 1.9).

    >>> rho_of(Pure(epsilon=Fraction(1, 2)))
    Fraction(1, 8)
    """
    match event:
        case Pure() | Approximate():
            return event.epsilon**2 / 2
        case Concentrated():
            return event.rho
        case Grouped():
            return event.rows**2 * rho_of(event.part)
        case Sequential():
            return sum((rho_of(part) for part in event.parts), Fraction(0))
        case Parallel():
            return max((rho_of(part) for part in event.parts), default=Fraction(0))


def cost_in(unit: Unit, event: Event) -> Fraction:
    """What an event costs, in pure epsilon or in the rho of zCDP."""
    return epsilon_of(event) if unit == "epsilon" else rho_of(event)


def delta_of(event: Event) -> Fraction:
    """The delta of an event: the probability that all of its bounds fail.

    Edges: what a delta becomes for a group of rows depends on epsilon too; such an event is refused.
    """
    match event:
        case Pure() | Concentrated():
            return Fraction(0)
        case Approximate():
            return event.delta
        case Grouped():
            inner = delta_of(event.part)
            if inner and event.rows > 1:
                raise ParameterError("event must have no delta within a group of rows; look at one row of each person")
            return inner
        case Sequential():
            return sum((delta_of(part) for part in event.parts), Fraction(0))
        case Parallel():
            return max((delta_of(part) for part in event.parts), default=Fraction(0))


def epsilon_at(rho: Fraction | float, delta: Fraction | float) -> float:
    """An epsilon for which rho-zCDP is (epsilon, delta)-private.

    Source: Canonne, Kamath and Steinke 2020, proposition 12; the order alpha is searched for, and each one would do.

    >>> round(epsilon_at(Fraction(1, 2), 1e-6), 3)
    5.222
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be between 0 and 1, not {float(delta)!r}")
    if not rho:
        return 0.0
    rho, delta = float(rho), float(delta)
    middle = 1 + (-log(delta) / rho) ** 0.5
    low, high = log(max(middle - 1, 1e-9)) - 7, log(max(middle - 1, 1e-9)) + 7
    for _ in range(_ORDERS):
        thirds = low + (high - low) / 3, high - (high - low) / 3
        if _at_order(rho, delta, thirds[0]) < _at_order(rho, delta, thirds[1]):
            high = thirds[1]
        else:
            low = thirds[0]
    return max(_at_order(rho, delta, (low + high) / 2), 0.0)


def _at_order(rho: float, delta: float, above: float) -> float:
    """The epsilon that the divergence of one order gives; ``above`` is the logarithm of the order less 1."""
    less = exp(above)
    order = 1 + less
    return order * rho + (order * (above - log1p(less)) - above - log(delta)) / less if less else inf


@lru_cache(maxsize=256)
def rho_at(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho, nearly the largest, that is (epsilon, delta)-private; a fraction of twelve digits.

    >>> float(rho_at(Fraction(1), Fraction(1, 10**6)))
    0.0243559703352
    """
    low, high = 0.0, float(epsilon) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_at(middle, delta) <= float(epsilon) else (low, middle)
    rho = Fraction(f"{low * (1 - 1e-9):.{_RHO_DIGITS}g}")
    if rho <= 0 or epsilon_at(rho, delta) > epsilon:
        raise ParameterError(
            f"epsilon must be large enough for a rho at delta = {float(delta):g}, not {float(epsilon):g}"
        )
    return rho


# What a private release promises: pure epsilon, epsilon with a delta, or the rho of zCDP.


KEYS = ("epsilon", "delta", "rho")
"""How a promise is written, in plans and in manifests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Exactly one of three: epsilon; epsilon and delta; rho."""

    epsilon: Fraction | None = None
    """The ratio of probabilities is at most e to this."""
    delta: Fraction | None = None
    """With epsilon: the probability of outputs for which that need not hold."""
    rho: Fraction | None = None
    """Zero-concentrated differential privacy."""

    def __post_init__(self) -> None:
        for name in KEYS:
            given: Any = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, exactly(name, given))
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("epsilon must be given, or rho in its place; one of them")
        if self.delta is not None and (self.rho is not None or self.delta >= 1):
            raise ParameterError("delta must be below 1, and goes with epsilon; rho needs none")

    @classmethod
    def of(cls, written_: Mapping[str, Any]) -> Promise:
        """The promise that some keys state; others are not looked at."""
        return cls(**{name: written_[name] for name in KEYS if name in written_})

    @property
    def unit(self) -> Unit:
        """What its parts are counted in: with a delta, in rho."""
        return "epsilon" if self.epsilon is not None and self.delta is None else "rho"

    def amount(self, discovered: Fraction = Fraction(0)) -> Fraction:
        """All that can be spent, in the unit; ``discovered`` is the part of delta that the domains took."""
        if self.rho is not None:
            return self.rho
        epsilon = self.epsilon or Fraction(0)
        return epsilon if self.delta is None else rho_at(epsilon, self.delta - discovered)

    def spent_by(self, event: Event) -> Fraction:
        """What an event costs, in the unit."""
        return cost_in(self.unit, event)

    def kept_by(self, event: Event) -> bool:
        """Whether an event costs all of the promise and no more; with a delta, no more."""
        delta = delta_of(event)
        if self.delta is None:
            return not delta and self.spent_by(event) == (self.epsilon if self.rho is None else self.rho)
        left = self.delta - delta
        return left > 0 and epsilon_at(rho_of(event), left) <= float(self.epsilon or 0)

    def to_json(self) -> dict[str, str]:
        """As a manifest has it."""
        return {name: str(getattr(self, name)) for name in KEYS if getattr(self, name) is not None}

    def __str__(self) -> str:
        """In words: epsilon = 1, delta = 1e-06."""
        return ", ".join(f"{name} = {written(getattr(self, name))}" for name in KEYS if getattr(self, name) is not None)


# Where every part of a budget went, exactly.


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
    budget = exactly(name, given)
    if budget < LEAST:
        raise ParameterError(f"{name} must be at least {float(LEAST):g}, not {float(budget):g}")
    return (budget, None) if rho is None else (None, budget)


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


# Which epsilon is left against somebody who knows some of the shares of noise.
#
# Let r be the number of unknown shares over the number of shares that make one whole noise. What is unknown of the
# noise is the difference D of two Polya numbers of shape r, whatever the known shares are. A count that a record moves
# by one is then as private as the largest ratio of neighbouring probabilities of D says.
#
# Claim: for r of 1 or more that epsilon is the one of the whole noise. For r below 1 it is ln(P[D = 0] / P[D = 1]).
# Proof: let P(k) be the probability of a Polya number. P(k) / P(k+1) = (k+1) / (p (k+r)), where p = e^-epsilon; for r
#     < 1 it falls with k and is above 1. P[D = d] / P[D = d+1] is the mean of P(j+d) / P(j+d+1) over j with weights
#     proportional to P(j) P(j+d+1). With larger d each of these ratios is smaller, and the weights move to larger j,
#     because P(k+1) / P(k) grows with k: so the mean falls with d, and is largest at d = 0. D is symmetric. For r >= 1
#     all ratios are at most 1 / p.
# As epsilon goes to 0 it does not go to 0 with it unless r is a half or more: for smaller r it stays above ln((1-r)/r).
# Source: the law of the shares is that of Goryczka and Xiong 2015; the bound is ours.


_SMALL = 46.0
"""e to minus this is nothing beside a sum of which it is a part, for the bound below adds it."""
_ROUNDING = 1e-7
"""More than rounding can change the ratio of two sums of up to a million addends."""
_MILLIONTHS = 10**6
"""Bounds are rounded up to millionths."""
_LARGE = 30
"""From here on p is nothing beside 1, and the ratio is 1 / (p r) at most."""


@lru_cache(maxsize=1024)
def remaining_epsilon(epsilon: Fraction, unknown: Fraction) -> Fraction:
    """An upper bound on the epsilon of a count, where ``unknown`` is the part of a whole noise that is not known.

    >>> remaining_epsilon(Fraction(1, 2), Fraction(1)), remaining_epsilon(Fraction(1, 2), Fraction(1, 2))
    (Fraction(1, 2), Fraction(227509, 200000))
    """
    budget, part = exactly("epsilon", epsilon), exactly("unknown", unknown)
    if part >= 1:
        return budget
    if budget >= _LARGE:
        return budget + Fraction(ceil(log(1 / part) * _MILLIONTHS) + 1, _MILLIONTHS)
    p, r = exp(-float(budget)), float(part)
    number = np.arange(ceil(_SMALL / float(budget)) + 2)
    with np.errstate(divide="ignore"):
        steps = np.log(p * (number[:-1] + r) / (number[:-1] + 1.0))
    terms = np.exp(np.concatenate([[0.0], steps.cumsum()]))
    rest = terms[-1] ** 2 * p**2 / (1 - p**2)
    alike, apart = float((terms**2).sum()) + rest, float((terms[:-1] * terms[1:]).sum())
    return Fraction(ceil(log(alike / apart * (1 + _ROUNDING)) * _MILLIONTHS), _MILLIONTHS)


def remaining_event(event: Event, unknown: Fraction, shared: Callable[[Pure], bool] = lambda event: True) -> Event:
    """The same releases as somebody sees them who knows all but this part of each noise; counts under pure epsilon.

    ``shared`` says which of them are counts with shares of noise; the others stay as they are.
    """
    match event:
        case Pure():
            left = remaining_epsilon(event.epsilon, unknown) if shared(event) else event.epsilon
            return Pure(epsilon=left, what=event.what)
        case Sequential() | Parallel():
            parts = tuple(remaining_event(part, unknown, shared) for part in event.parts)
            return type(event)(parts=parts, what=event.what)
        case Grouped():
            return Grouped(part=remaining_event(event.part, unknown, shared), rows=event.rows, what=event.what)
        case Concentrated() | Approximate():
            raise ParameterError("shares of noise are for pure epsilon; Gaussian noise and thresholds have none")
