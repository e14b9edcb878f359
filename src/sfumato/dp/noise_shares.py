"""Shares of noise: n parties draw one each, and together they are discrete Laplace noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import ParameterError
from sfumato.dp.events import exactly, written
from sfumato.dp.mechanisms import opendp

# Uniform whole numbers out of OpenDP's noise: every word of 56 bits is exactly as likely as every other.
#
# How: discrete Laplace noise X of scale s, taken as X or -X-1, is a geometric number G with P(G = g) proportional to
# q^g and q = e^(-1/s). Its remainder j modulo M = 2^56 has a probability proportional to q^j. A second geometric
# number is at least M - 1 - j with probability q^(M-1-j); if j is kept only then, all remainders are equally likely.
# What the second number has beyond M - 1 - j is again geometric and independent of all this, so it makes the next
# word: one noise for a word, but for those that are not kept. Noise that is too large for 64 bits comes out as the
# largest number; G is left out above a multiple of M, which changes no remainder's probability.


Words = NDArray[np.uint64]
BITS = 56
"""So many bits has a word."""
_SIZE = np.int64(1 << BITS)
_TOP = np.int64(1 << 62)
_SCALE = float(1 << 58)
"""Four times as many as there are words: about one word in nine is not kept."""
_ROWS = 8
"""So many numbers one behind the other make words."""


def uniform_words(count: int) -> Words:
    """So many independent words, each a whole number below 2^56, all alike."""
    batches: list[Words] = [np.zeros(0, np.uint64)]
    have = 0
    while have < count:
        batch = _kept(_geometric(max(-(-(count - have) * 5 // (4 * (_ROWS - 1))), 4)))
        batches.append(batch)
        have += len(batch)
    return np.concatenate(batches)[:count]


def _geometric(columns: int) -> NDArray[np.int64]:
    """Rows x columns of independent geometric numbers."""
    drawn = np.asarray(_noise()(np.zeros(_ROWS * columns, np.int64)), np.int64).reshape(_ROWS, columns)
    return np.where(drawn >= 0, drawn, -1 - drawn)


@cache
def _noise() -> Any:
    dp = opendp()
    return (dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")) >> dp.m.then_laplace(scale=_SCALE)


def _kept(numbers: NDArray[np.int64]) -> Words:
    """The words that a table of geometric numbers makes, each column from the top down."""
    words, now = [], numbers[0]
    fresh = np.ones(len(now), np.bool_)
    for row in numbers[1:]:
        word = now & (_SIZE - 1)
        least = _SIZE - 1 - word
        passed = fresh & (row >= least)
        words.append(word[passed & (now < _TOP)])
        now = np.where(passed, row - least, row)
        fresh = passed | ~fresh
    kept_words: Words = np.concatenate(words).astype(np.uint64)
    return kept_words


# Shares of noise: each of n parties draws one, and together they are discrete Laplace noise of one draw.
#
# Claim: n independent shares for epsilon add up to X with P(X = x) proportional to e^(-epsilon |x|), exactly. How:
# discrete Laplace noise is the difference of two geometric numbers, and a geometric number of ratio p = e^-epsilon is
# the sum of n Polya numbers (negative binomial of shape 1/n). A share is the difference of two Polya numbers. Each is
# drawn by the inverse of its distribution function from uniform bits of OpenDP: bounds on the function are whole
# numbers that are rounded outwards, and a draw that falls between the bounds is given more bits. So no rounding
# changes its law. What a coalition learns: parties that know their own shares face only the noise of the others;
# `share_privacy` says which epsilon that noise gives. Source: Goryczka and Xiong 2015, section 3 (Polya shares); Dwork
# et al. 2006 (Our data, ourselves). Cost: about one draw of OpenDP's discrete Laplace noise and a third for each
# share.


LEAST = Fraction(1, 10_000)
"""No smaller epsilon: the table of the distribution function would be too long."""
_HALF = BITS // 2
_ROOM = 72
"""So many bits more than a draw has do the bounds have."""


def laplace_share(
    shape: int | tuple[int, ...], epsilon: Fraction, parties: int, words: Callable[[int], Words] = uniform_words
) -> NDArray[np.int64]:
    """One party's share of discrete Laplace noise for ``epsilon`` in counts of which a record moves one by one.

    Of one party it is the whole noise. ``words`` are uniform numbers of 56 bits; a test may hand in others.
    """
    budget = exactly("epsilon", epsilon)
    at_least("parties", parties, 1)
    if budget < LEAST:
        raise ParameterError(f"epsilon of a share of noise must be at least {written(LEAST)}, not {written(budget)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    drawn = words(prod(sizes))
    firsts = np.concatenate([drawn >> np.uint64(_HALF), drawn & np.uint64((1 << _HALF) - 1)])
    draws = _polya(firsts, budget, parties, words)
    up, down = draws[: len(drawn)], draws[len(drawn) :]
    return (up - down).reshape(sizes)


def _polya(firsts: Words, epsilon: Fraction, parties: int, words: Callable[[int], Words]) -> NDArray[np.int64]:
    """Polya numbers from the first 28 bits of each, and more bits where these do not decide."""
    table = distribution(epsilon, parties)
    numbers = table.placed(firsts, _HALF)
    open_ = np.flatnonzero(numbers < 0)
    if len(open_):
        longer = (firsts[open_] << np.uint64(_HALF)) | (words(len(open_)) >> np.uint64(_HALF))
        numbers[open_] = table.placed(longer, BITS)
        for place in np.flatnonzero(numbers[open_] < 0).tolist():
            numbers[open_[place]] = _settled(int(longer[place]), epsilon, parties, words)
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """The distribution function of a Polya number at 0, 1, 2, ...: bounds in units of 2^-56."""

    low: Words
    """At most the function."""
    high: Words
    """At least the function, and 1 at the last number."""

    def placed(self, bits: Words, length: int) -> NDArray[np.int64]:
        """The number that each draw stands for, from its first ``length`` bits; -1 where they do not decide.

        A draw u is k where u lies below the function at k, and not below it at k - 1.
        """
        coarse = np.uint64(BITS - length)
        low, high = self.low >> coarse, (self.high + ((np.uint64(1) << coarse) - np.uint64(1))) >> coarse
        most, least = (np.searchsorted(bound, bits, side="right") for bound in (low, high))
        return np.where((least == most) & (most < len(low)), most, -1).astype(np.int64)


@lru_cache(maxsize=64)
def distribution(epsilon: Fraction, parties: int) -> Distribution:
    """Bounds on the distribution function of a Polya number."""
    low, high, whole = [], [], 1 << BITS
    for down, up in _sums(epsilon, parties, BITS + _ROOM):
        low.append(down >> _ROOM)
        high.append(min(-(-up >> _ROOM), whole))
        if high[-1] == whole:
            break
    return Distribution(low=np.array(low, np.uint64), high=np.array(high, np.uint64))


def _settled(bits: int, epsilon: Fraction, parties: int, words: Callable[[int], Words]) -> int:
    """The number that a draw stands for which 56 bits do not decide: ever more bits, and ever closer bounds."""
    length = BITS
    while True:
        bits, length = bits << BITS | int(words(1)[0]), length + BITS
        for number, (down, up) in enumerate(_sums(epsilon, parties, length + _ROOM)):
            if (bits + 1) << _ROOM <= down:
                return number
            if bits << _ROOM < up or up >= 1 << (length + _ROOM):
                break


def _sums(epsilon: Fraction, parties: int, bits: int) -> Iterator[tuple[int, int]]:
    """Bounds on the distribution function at 0, 1, 2, ... in units of 2^-bits."""
    ratio, first = _ratio_and_first(epsilon, parties, bits)
    down = low = first[0]
    up = high = first[1]
    number = 0
    while True:
        yield down, up
        number += 1
        above, below = parties * (number - 1) + 1, parties * number
        low = (low * ratio[0] * above // below) >> bits
        high = -((-high * ratio[1] * above // below) >> bits)
        down, up = down + low, up + high


def _ratio_and_first(epsilon: Fraction, parties: int, bits: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Bounds on p = e^-epsilon and on (1 - p)^(1 / parties), in units of 2^-bits.

    Decimals have thirty digits more than are needed; twelve of them are given up for what rounding can do.
    """
    digits = bits * 302 // 1000 + 30
    context = Context(prec=digits, Emin=-(10**9), Emax=10**9)
    ratio = context.exp(context.divide(Decimal(-epsilon.numerator), Decimal(epsilon.denominator)))
    rest = context.subtract(Decimal(1), ratio)
    first = context.exp(context.divide(context.ln(rest), Decimal(parties))) if rest < 1 else rest
    slack = Fraction(1, 10 ** (digits - 12))
    return _outwards(Fraction(ratio), slack, bits), _outwards(Fraction(first), slack, bits)


def _outwards(value: Fraction, slack: Fraction, bits: int) -> tuple[int, int]:
    low, high = (max(value - slack, Fraction(0)), value + slack)
    below = (low.numerator << bits) // low.denominator
    return below, min(-((-high.numerator << bits) // high.denominator), 1 << bits)
