"""Uniform whole numbers out of OpenDP's noise: every word of 56 bits is exactly as likely as every other.

How: discrete Laplace noise X of scale s, taken as X or -X-1, is a geometric number G with P(G = g) proportional to q^g
and q = e^(-1/s). Its remainder j modulo M = 2^56 has a probability proportional to q^j. A second geometric number is at
least M - 1 - j with probability q^(M-1-j); if j is kept only then, all remainders are equally likely. What the second
number has beyond M - 1 - j is again geometric and independent of all this, so it makes the next word: one noise for a
word, but for those that are not kept. Noise that is too large for 64 bits comes out as the largest number; G is left
out above a multiple of M, which changes no remainder's probability.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.mechanisms import opendp

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
    found: list[Words] = [np.zeros(0, np.uint64)]
    have = 0
    while have < count:
        made = _kept(_geometric(max(-(-(count - have) * 5 // (4 * (_ROWS - 1))), 4)))
        found.append(made)
        have += len(made)
    return np.concatenate(found)[:count]


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
    found: Words = np.concatenate(words).astype(np.uint64)
    return found
