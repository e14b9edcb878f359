"""Accountants: what events cost, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, inf, log, log1p
from typing import Literal

from sfumato.budget.events import Approximate, Concentrated, Event, Grouped, Parallel, Pure, Sequential
from sfumato.ground.errors import ParameterError

Unit = Literal["epsilon", "rho"]
"""What costs are counted in: pure epsilon, or the rho of zCDP."""

_ORDERS = 200
"""Orders between which the best one is looked for; any of them gives a bound that holds."""
_DIGITS = 12
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
    found = Fraction(f"{low * (1 - 1e-9):.{_DIGITS}g}")
    if found <= 0 or epsilon_at(found, delta) > epsilon:
        raise ParameterError(
            f"epsilon must be large enough for a rho at delta = {float(delta):g}, not {float(epsilon):g}"
        )
    return found
