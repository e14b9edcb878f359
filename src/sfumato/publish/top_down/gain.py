"""Information gain, and where an interval is best split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.utility.view import Reals

_TIE = 1e-12


def bits(counts: NDArray[np.float64]) -> Reals:
    """Rows times entropy of the class, along the last axis.

    >>> (bits(np.array([[5.0, 6.0], [5.0, 1.0], [0.0, 5.0]])) / [11, 6, 5]).round(4).tolist()
    [0.994, 0.65, 0.0]
    """
    return np.asarray(_each(counts.sum(axis=-1)) - _each(counts).sum(axis=-1))


def gain(whole: NDArray[np.float64], parts: NDArray[np.float64]) -> float:
    """The information gain of dividing records with these class counts into parts with those.

    >>> round(gain(np.array([5.0, 6.0]), np.array([[5.0, 1.0], [0.0, 5.0]])), 4)
    0.6395
    """
    rows = float(whole.sum())
    return float(bits(whole) - bits(parts).sum()) / rows if rows else 0.0


def best_by_gain(counts: NDArray[np.float64], apart: NDArray[np.float64], window: tuple[int, int]) -> tuple[int, float]:
    """After which of the values (lines of class counts) the gain is highest, and that gain; of equals the first.

    ``apart`` are the class counts of records that have none of the values and are a part of their own. Only places in
    the window are looked at.
    """
    before = np.cumsum(counts, axis=0)[:-1]
    known = counts.sum(axis=0)
    rows = float(known.sum() + apart.sum())
    left = bits(known + apart) - bits(apart) - bits(before) - bits(known - before)
    seen = left[window[0] : window[1]]
    place = window[0] + int(np.argmax(seen >= seen.max() - _TIE * rows))
    return place, float(left[place]) / rows


def best_by_size(rows: NDArray[np.float64], window: tuple[int, int]) -> int:
    """After which of the values in the window the squares of both halves' rows add up to least; of equals the first.

    >>> best_by_size(np.array([5.0, 1.0, 3.0, 1.0]), (0, 3))
    0
    """
    before = np.cumsum(rows)[:-1]
    squares = before**2 + (rows.sum() - before) ** 2
    return window[0] + int(np.argmin(squares[window[0] : window[1]]))


def _each(x: NDArray[np.float64]) -> Reals:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))
