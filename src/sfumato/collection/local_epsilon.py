"""Local epsilon as an exact amount: a rational number, or the logarithm of one.

Coins with rational bias promise the logarithm of a ratio; discrete Laplace noise promises a rational number. Both are
kept as they are, so that a specification states what holds and no rounded neighbour of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import log

from sfumato.core.errors import ParameterError

_HUGE = re.compile(r"[eE][+-]?[\d_]{4,}")
_ROUND = 10_000
"""Ratios are rounded down to multiples of one part in so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEpsilon:
    """No two true answers make any shown answer more than ``e^epsilon`` times as likely.

    >>> str(LocalEpsilon.log(Fraction(3))), str(LocalEpsilon(plain=Fraction(1, 2)))
    ('ln 3', '1/2')
    >>> str(LocalEpsilon.log(Fraction(3)).times(2) + LocalEpsilon(plain=Fraction(1)))
    '2 ln 3 + 1'
    """

    logs: tuple[tuple[Fraction, int], ...] = ()
    """Its logarithmic parts: ratios, ascending, and how often the logarithm of each counts."""
    plain: Fraction = Fraction(0)
    """Its rational part."""

    @classmethod
    def log(cls, ratio: Fraction) -> LocalEpsilon:
        """The logarithm of a ratio."""
        return cls(logs=((ratio, 1),)) if ratio != 1 else cls()

    def __float__(self) -> float:
        return sum(many * (log(ratio.numerator) - log(ratio.denominator)) for ratio, many in self.logs) + float(
            self.plain
        )

    def __str__(self) -> str:
        parts = [f"{many} ln {ratio}" if many > 1 else f"ln {ratio}" for ratio, many in self.logs]
        return " + ".join([*parts, str(self.plain)] if self.plain or not parts else parts)

    def __add__(self, other: LocalEpsilon) -> LocalEpsilon:
        added = dict(self.logs)
        for ratio, many in other.logs:
            added[ratio] = added.get(ratio, 0) + many
        return LocalEpsilon(logs=tuple(sorted(added.items())), plain=self.plain + other.plain)

    def times(self, many: int) -> LocalEpsilon:
        """What so many independent answers give away together."""
        return LocalEpsilon(logs=tuple((ratio, each * many) for ratio, each in self.logs), plain=self.plain * many)


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
    ratio = Fraction(int(total * _ROUND), _ROUND)
    if ratio <= 1:
        raise ParameterError(f"epsilon must be at least {1 / _ROUND:g} to tell answers from chance, not {epsilon}")
    return ratio


def exact_number(name: str, value: object) -> Fraction:
    """A number as it was written: "3/4", "0.75", 1; floats by the decimal that they print."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ParameterError(f'{name} must be a number such as "3/4" or 0.75, not {value!r}')
    if isinstance(value, str) and (len(value) > 60 or _HUGE.search(value)):
        raise ParameterError(f"{name} must be a number of at most 60 characters and three digits of exponent")
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
