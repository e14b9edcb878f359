"""Exact fractions: a written decimal means that decimal, and budgets stay fractions of bounded size."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

from sfumato.core.errors import LedgerError

# Exact shares: a decimal that a person wrote means that decimal, not its binary neighbour.


def exact(share: float) -> Fraction:
    """The decimal as written, as a fraction.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(share))


def rows_within(share: float, rows: int) -> int:
    """The most rows that make up at most ``share`` of ``rows``.

    >>> rows_within(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return int(exact(share) * rows)


# Amounts of budget as exact fractions whose size is bounded: no text can make a number that takes forever.


FINEST = 10**600
"""Sums in a ledger with a larger denominator are rounded up to a multiple of one over this."""
_STORED = 2000
"""No amount in a ledger has more digits above or below the line."""


def fraction_of(text: str, digits: int) -> Fraction:
    """The fraction that a text says; OverflowError where it has more digits or a larger exponent than allowed.

    >>> fraction_of("2.5e-1", 30)
    Fraction(1, 4)
    """
    _, _, exponent = text.lower().partition("e")
    if len(text) > 2 * digits + 10 or (exponent and abs(int(exponent)) > digits):
        raise OverflowError
    return within(Fraction(text), digits)


def within(amount: Fraction, digits: int) -> Fraction:
    """The amount itself; OverflowError where its numerator or denominator is beyond so many digits."""
    if max(abs(amount.numerator), amount.denominator) > 10**digits:
        raise OverflowError
    return amount


def rounded_up(amount: Fraction) -> Fraction:
    """The amount, or where its denominator has become too long a slightly larger one: never less.

    >>> rounded_up(Fraction(1, 3))
    Fraction(1, 3)
    """
    return amount if amount.denominator <= FINEST else Fraction(ceil(amount * FINEST), FINEST)


def stored(value: Any, what: str) -> Fraction:
    """An amount as a ledger has it; what is no amount, or is below 0, is a damaged ledger."""
    try:
        amount = fraction_of(value, _STORED) if isinstance(value, str) else None
    except (ValueError, ArithmeticError):
        amount = None
    if amount is None or amount < 0:
        raise LedgerError(f"the ledger is damaged: {what} is {str(value)[:40]!r}, which is no amount")
    return amount
