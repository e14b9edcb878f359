"""Local epsilon as an exact amount: a rational number, or the logarithm of one.

Coins with rational bias promise the logarithm of a ratio; discrete Laplace noise promises a rational number. Both are
kept as they are, so that a specification states what holds and no rounded neighbour of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log

from sfumato.ground.errors import ParameterError

_ROUND = 10_000
"""Ratios are rounded down to multiples of one part in so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEpsilon:
    """No two true answers make any shown answer more than ``e^epsilon`` times as likely.

    >>> str(LocalEpsilon(ratio=Fraction(3))), str(LocalEpsilon(plain=Fraction(1, 2)))
    ('ln 3', '1/2')
    """

    ratio: Fraction = Fraction(1)
    """e to the power of its logarithmic part."""
    plain: Fraction = Fraction(0)
    """Its rational part."""

    def __float__(self) -> float:
        return log(self.ratio.numerator) - log(self.ratio.denominator) + float(self.plain)

    def __str__(self) -> str:
        parts = [f"ln {self.ratio}"] if self.ratio != 1 else []
        return " + ".join([*parts, str(self.plain)] if self.plain or not parts else parts)

    def __add__(self, other: LocalEpsilon) -> LocalEpsilon:
        return LocalEpsilon(ratio=self.ratio * other.ratio, plain=self.plain + other.plain)

    def times(self, many: int) -> LocalEpsilon:
        """What so many independent answers give away together."""
        return LocalEpsilon(ratio=self.ratio**many, plain=self.plain * many)


def ratio_within(epsilon: Fraction) -> Fraction:
    """A rational number not above e^epsilon, and hardly below it: a coin with this ratio keeps the promise exactly.

    >>> float(ratio_within(Fraction(1)))
    2.7182
    """
    if not 0 < epsilon <= 50:
        raise ParameterError(f"epsilon must lie in (0, 50], not {epsilon}")
    term, total, turn = Fraction(1), Fraction(1), 0
    while turn < 20 + 8 * epsilon:  # cutting a series of positive terms off stays below its sum
        turn += 1
        term = term * epsilon / turn
        total += term
    found = Fraction(int(total * _ROUND), _ROUND)
    if found <= 1:
        raise ParameterError(f"epsilon must be at least {1 / _ROUND:g} to tell answers from chance, not {epsilon}")
    return found


def exact_number(name: str, value: object) -> Fraction:
    """A number as it was written: "3/4", "0.75", 1; floats by the decimal that they print."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ParameterError(f'{name} must be a number such as "3/4" or 0.75, not {value!r}')
    if isinstance(value, str) and len(value) > 60:
        raise ParameterError(f"{name} must be a number of at most 60 characters, not one of {len(value)}")
    try:
        return Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f'{name} must be a number such as "3/4" or 0.75, not {value!r}') from None


def decimal(value: Fraction) -> str:
    """A number whose decimals end, in full.

    >>> decimal(Fraction(-3, 8)), decimal(Fraction(120))
    ('-0.375', '120')
    """
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > 30:
            raise ParameterError(f"{value} has no decimals that end; take a number such as 0.5 or 12")
    whole = abs(int(value * 10**digits))
    text = str(whole).zfill(digits + 1)
    sign = "-" if value < 0 else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
