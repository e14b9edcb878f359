"""Round numbers: where an edge between two values is put."""

from __future__ import annotations

from fractions import Fraction

from sfumato.ground.shares import exact


def roundest(a: float, b: float) -> float:
    """The roundest number above ``a`` and not above ``b``: a multiple of the largest power of ten that has one there.

    Of several multiples of that power the one closest to the middle, of two equally close the smaller. Zero is a
    multiple of every power. Numbers are read as the decimals that they are written as. ``a`` lies below ``b``.

    >>> roundest(37, 42), roundest(17, 64), roundest(0.12, 0.14), roundest(-3, 5), roundest(8, 9), roundest(-260, -90)
    (40.0, 40.0, 0.13, 0.0, 9.0, -200.0)
    """
    low, high = exact(float(a)), exact(float(b))
    if low < 0 <= high:
        return 0.0
    step = _above(max(abs(low), abs(high)))
    while (first := low // step + 1) > (last := high // step):
        step /= 10
    middle = (low + high) / 2
    found = float(min((n * step for n in range(first, last + 1)), key=lambda x: (abs(x - middle), x)))
    return found if found > a else float(b)


def roundness(x: float) -> int:
    """The largest power of ten that a number is a multiple of, as its exponent; that of 0 is large.

    >>> roundness(1200), roundness(7), roundness(0.25), roundness(0) > 300
    (2, 0, -2, True)
    """
    found = exact(float(x))
    power = 0
    while found and found.denominator > 1:
        found, power = found * 10, power - 1
    while found and found % 10 == 0:
        found, power = found / 10, power + 1
    return power if found else 400


def _above(size: Fraction) -> Fraction:
    """A power of ten above a positive number."""
    power = Fraction(10) ** (len(str(size.numerator)) - len(str(size.denominator)))
    while power <= size:
        power *= 10
    return power
