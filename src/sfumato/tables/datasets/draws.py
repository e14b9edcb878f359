"""Draws from tables of weights that people write: the synthetic populations are made of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Weights = Mapping[str, Sequence[float]]
"""One weight per group for each label; the weights of a group need not add up to one."""


def per_group(table: Weights) -> Reals:
    """The weights with one row per group and one column per label."""
    return np.array(list(table.values()), np.float64).T


def choose(rng: np.random.Generator, weights: Reals, group: Codes) -> Codes:
    """One column of ``weights`` for every entry of ``group``, with chances as the row of that group says.

    >>> from sfumato.core.randomness import Chance
    >>> rng = Chance(seed=1).generator()
    >>> choose(rng, np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([0, 1, 1, 0])).tolist()
    [0, 1, 1, 0]
    """
    steps = np.cumsum(weights, axis=1)
    at = rng.random(group.size) * steps[:, -1][group]
    chosen = np.empty(group.size, np.int64)
    for row, edges in enumerate(steps):
        members = np.flatnonzero(group == row)
        chosen[members] = np.searchsorted(edges, at[members], side="right")
    return chosen


def choose_any(rng: np.random.Generator, weights: Sequence[float], rows: int) -> Codes:
    """An index into ``weights`` for every row, all rows with the same chances."""
    return choose(rng, np.array([weights], np.float64), np.zeros(rows, np.int64))


def labels(names: Iterable[str], codes: Codes) -> pl.Series:
    """The name of every code, as text."""
    return pl.Series(list(names), dtype=pl.String).gather(codes)
