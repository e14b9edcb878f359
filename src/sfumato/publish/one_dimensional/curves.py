"""Putting points of many dimensions on a line so that neighbours stay near each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.int64]
"""Dimensions x points, whole numbers from 0 on."""
_BITS = 62


def hilbert(points: Points) -> NDArray[np.int64]:
    """The place of each point on the Hilbert curve through the cube that holds them all.

    Coordinates are cut to as many leading bits as fit into one number; with more than 62 dimensions only the first 62
    count. Neighbours on the curve are neighbours in the cube.
    Source: Skilling 2004, transposition of axes; Moon et al. 2001.

    >>> hilbert(np.array([[0, 0, 1, 1], [0, 1, 1, 0]])).tolist()
    [0, 1, 2, 3]
    """
    axes = points[:_BITS].copy()
    if not len(axes) or not axes.shape[1]:
        return np.zeros(axes.shape[1], np.int64)
    wanted = max(int(axes.max()).bit_length(), 1)
    bits = max(min(wanted, _BITS // len(axes)), 1)
    return _interleaved(_transposed(axes >> (wanted - bits), bits), bits)


def _transposed(axes: Points, bits: int) -> Points:
    """Undo the rotations and reflections of the curve, bit by bit from the top, then Gray-encode."""
    top = 1 << (bits - 1)
    step = top
    while step > 1:
        low = step - 1
        for axis in axes:
            swap = (axes[0] ^ axis) & low
            inverted = (axis & step) > 0
            change = np.where(inverted, 0, swap)
            axes[0] ^= np.where(inverted, low, change)
            axis ^= change  # noqa: PLW2901  a view of the array
        step >>= 1
    for place in range(1, len(axes)):
        axes[place] ^= axes[place - 1]
    turn = np.zeros(axes.shape[1], np.int64)
    step = top
    while step > 1:
        turn ^= np.where((axes[-1] & step) > 0, step - 1, 0)
        step >>= 1
    return axes ^ turn


def _interleaved(axes: Points, bits: int) -> NDArray[np.int64]:
    """One number from the bits of all axes, the highest bits first."""
    found = np.zeros(axes.shape[1], np.int64)
    for bit in range(bits - 1, -1, -1):
        for axis in axes:
            found = (found << 1) | ((axis >> bit) & 1)
    return found


def idistance(points: Points, references: int = 16) -> NDArray[np.float64]:
    """The place of each point on a line of rays: the nearest of some reference points, then the distance from it.

    References are chosen one after the other, each farthest from those before; the first is farthest from the middle.
    Source: Jagadish et al. 2005.
    """
    if not points.shape[1]:
        return np.zeros(0)
    scaled = points / np.maximum(points.max(axis=1, keepdims=True), 1)
    away = _apart(scaled, scaled.mean(axis=1))
    nearest, best = np.zeros(points.shape[1], np.int64), np.full(points.shape[1], np.inf)
    for number in range(references):
        chosen = int(np.argmax(away if number == 0 else best))
        found = _apart(scaled, scaled[:, chosen])
        nearest, best = np.where(found < best, number, nearest), np.minimum(found, best)
        if best.max() == 0:
            break
    return np.asarray(nearest * (float(len(points)) + 1.0) + best)


def _apart(scaled: NDArray[np.float64], point: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(((scaled - point[:, None]) ** 2).sum(axis=0)))
