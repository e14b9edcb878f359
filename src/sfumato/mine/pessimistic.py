"""Pessimistic pruning: a part of a tree stays where it is expected to make fewer errors than a leaf in its place."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sfumato.mine.grown_tree import GrownTree

Reals = NDArray[np.float64]
_SAVED = 0.1
"""A part that is expected to save less than so many errors is cut off."""


def pessimistic_errors(sizes: Reals, errors: Reals, confidence: float) -> Reals:
    """How many of so many records a leaf is expected to misclassify at the worst, given those it does.

    The upper limit of a binomial share at the confidence, as C4.5 approximates it.

    >>> pessimistic_errors(np.array([6.0, 9.0, 1.0]), np.zeros(3), 0.25).round(3).tolist()
    [1.238, 1.285, 0.75]
    """
    sizes, errors = np.asarray(sizes, np.float64), np.asarray(errors, np.float64)
    none = sizes * (1 - confidence ** (1 / np.maximum(sizes, 1)))
    some = _limit(sizes, np.maximum(errors, 1.0), confidence)
    return np.asarray(np.where(errors < 1e-6, none, np.where(errors < 1, none + errors * (some - none), some)))


def _limit(sizes: Reals, errors: Reals, confidence: float) -> Reals:
    """The same for one error or more."""
    square = NormalDist().inv_cdf(1 - confidence) ** 2
    half = errors + 0.5
    spread = np.sqrt(np.maximum(square * (half * (1 - half / np.maximum(sizes, 1)) + square / 4), 0))
    share = (half + square / 2 + spread) / (sizes + square)
    return np.asarray(np.where(half >= sizes, errors + 0.67 * (sizes - errors), sizes * share))


def collapsed(tree: GrownTree, confidence: float) -> GrownTree:
    """The tree without the parts that are not worth their nodes, from below."""
    counts = np.array(tree.counts, np.int64)
    sizes = counts.sum(axis=1).astype(np.float64)
    alone = pessimistic_errors(sizes, sizes - counts.max(axis=1), confidence)
    below = np.zeros(len(sizes))
    for node in range(len(sizes) - 1, -1, -1):
        expected = float(alone[node])
        if tree.attribute[node] >= 0:
            if expected <= below[node] + _SAVED:
                tree.attribute[node] = -1
            else:
                expected = float(below[node])
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += expected
    return tree
