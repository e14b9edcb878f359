"""Argument checks: each refuses with the parameter's name, its value and what would do."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from sfumato.core.errors import ParameterError, nearest


def whole(name: str, value: Any) -> int:
    """A whole number, or a refusal (booleans are not numbers here)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(f"{name} must be a whole number, not {value!r}")
    return value


def number(name: str, value: Any) -> float:
    """A finite number, or a refusal."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ParameterError(f"{name} must be a finite number, not {value!r}")
    return float(value)


def at_least(name: str, value: Any, low: int) -> None:
    """A whole number not below ``low``."""
    if whole(name, value) < low:
        raise ParameterError(f"{name} must be at least {low}, not {value}")


def between(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> None:
    """A finite number in [low, high], or in (low, high] when the lower end is open."""
    x = number(name, value)
    if x > high or x < low or (open_low and x == low):
        raise ParameterError(f"{name} must lie in {'(' if open_low else '['}{low:g}, {high:g}], not {value}")


def above(name: str, value: Any, low: float) -> None:
    """A finite number above ``low``."""
    if number(name, value) <= low:
        raise ParameterError(f"{name} must be above {low:g}, not {value}")


def one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    """One of the named choices."""
    if value not in choices:
        hint = nearest(value, choices) if isinstance(value, str) else ""
        raise ParameterError(f"{name} must be one of {', '.join(choices)}, not {value!r}{hint}")


def text(name: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ParameterError(f"{name} must be a non-empty text, not {value!r}")
    return value
