"""Exact draws from whole numbers of the operating system: coins with rational bias, and noise on a grid.

Floating-point noise has holes: some sums are reached from one value and not from its neighbour, which breaks the
promise of the Laplace mechanism (Mironov 2012). Nothing here uses floating point. A draw is a function of whole
numbers below a bound, ``below(n)``; the default asks the operating system.

Source: Canonne, Kamath and Steinke 2020 (exact discrete Laplace and Gaussian noise).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction
from math import isqrt

Below = Callable[[int], int]
"""From n to a whole number in [0, n), each with probability 1/n."""


def system(n: int) -> int:
    """A whole number below n from the operating system."""
    return secrets.randbelow(n)


def coin(chance: Fraction, below: Below = system) -> bool:
    """True with exactly this probability.

    >>> coin(Fraction(1)), coin(Fraction(0)), coin(Fraction(2, 3), lambda n: 1)
    (True, False, True)
    """
    return below(chance.denominator) < chance.numerator


def coin_exp(rate: Fraction, below: Below = system) -> bool:
    """True with probability exp(-rate), for any rate that is not negative."""
    while rate > 1:
        if not coin_exp(Fraction(1), below):
            return False
        rate -= 1
    tries = 1
    while coin(rate / tries, below):
        tries += 1
    return tries % 2 == 1


def uniform(reach: int, below: Below = system) -> int:
    """A whole number from -reach to reach, all alike."""
    return below(2 * reach + 1) - reach


def laplace(scale: Fraction, below: Below = system) -> int:
    """A whole number y with probability proportional to exp(-|y| / scale)."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        rest = below(top)
        if not coin_exp(Fraction(rest, top), below):
            continue
        turns = 0
        while coin_exp(Fraction(1), below):
            turns += 1
        size, negative = (rest + top * turns) // bottom, below(2) == 1
        if size or not negative:
            return -size if negative else size


def gaussian(deviation: Fraction, below: Below = system) -> int:
    """A whole number y with probability proportional to exp(-y^2 / (2 deviation^2))."""
    variance = deviation**2
    wide = isqrt(int(variance)) + 1
    while True:
        found = laplace(Fraction(wide), below)
        if coin_exp((abs(found) - variance / wide) ** 2 / (2 * variance), below):
            return found
