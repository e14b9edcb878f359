"""Accountants: what events cost, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

from sfumato.budget.events import Concentrated, Event, Parallel, Pure, Sequential
from sfumato.ground.errors import ParameterError


def epsilon_of(event: Event) -> Fraction:
    """The pure epsilon of an event: sequential parts add up, of parallel ones the largest counts.

    >>> epsilon_of(Sequential(parts=(Pure(epsilon=Fraction(1, 10)),) * 3))
    Fraction(3, 10)
    """
    match event:
        case Pure():
            return event.epsilon
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
    """The zCDP rho of an event; a pure epsilon is epsilon squared over two.

    >>> rho_of(Pure(epsilon=Fraction(1, 2)))
    Fraction(1, 8)
    """
    match event:
        case Pure():
            return event.epsilon**2 / 2
        case Concentrated():
            return event.rho
        case Sequential():
            return sum((rho_of(part) for part in event.parts), Fraction(0))
        case Parallel():
            return max((rho_of(part) for part in event.parts), default=Fraction(0))


def epsilon_at(rho: Fraction, delta: float) -> float:
    """An epsilon for which rho-zCDP is (epsilon, delta)-private (Bun and Steinke 2016, proposition 1.3)."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be between 0 and 1, not {delta!r}")
    return float(rho) + 2 * sqrt(float(rho) * log(1 / delta))
