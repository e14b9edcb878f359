"""Exact shares: a decimal that a person wrote means that decimal, not its binary neighbour."""

from __future__ import annotations

from fractions import Fraction


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
