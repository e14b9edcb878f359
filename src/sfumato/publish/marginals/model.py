"""The tree model: made from noisy tables only, so making it costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.marginals.binnings import Bins

Reals = NDArray[np.float64]
ROUNDS = 30
"""How often a table is fitted to its margins in turn."""
TINY = 1e-12
"""Stands for a share of 0 under a logarithm."""
PULL = 0.25
"""How strongly the classes of a value are pulled towards those of all rows, in deviations of the noise of a count."""
FILL = 2.0
"""How many rows, in scales of the noise, a table with a parent gets as if there were no parent."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A noisy marginal: a coarsened attribute, with its parent if it has one, and with the class."""

    bins: Bins
    """The attribute."""
    parent: int
    """The place of its parent among those measured before, or -1."""
    counts: Reals
    """Parent values (1 without a parent) x values x classes."""
    scale: float
    """The scale of the noise of every count."""

    @property
    def variance(self) -> float:
        """Of the noise of a count."""
        return max(2 * self.scale**2, TINY)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A class-rooted tree: every attribute depends on the class and on at most one other attribute."""

    totals: Reals
    """Rows of every class."""
    parents: tuple[int, ...]
    """For each attribute the place of its parent, which is lower, or -1."""
    shares: tuple[Reals, ...]
    """For each attribute, parent values x values x classes: shares that add up to 1 over the values."""
    margins: tuple[Reals, ...]
    """For each attribute, values x classes: rows; each class adds up to its total."""

    def weighed(self, codes: Sequence[Codes] | Codes, rows: int) -> Reals:
        """Rows x classes: the logarithm of how likely a row is, up to a constant. Codes are attributes x rows."""
        found = np.tile(np.log(np.maximum(self.totals, TINY)), (rows, 1))
        for place, (above, shares) in enumerate(zip(self.parents, self.shares, strict=True)):
            logs = np.log(np.maximum(shares, TINY))
            found += logs[codes[above] if above >= 0 else 0, codes[place]]
        return found


def fitted(measured: Sequence[Measured]) -> Model:
    """The tree model that is nearest to noisy marginals and agrees with itself.

    Class totals are the mean of what all marginals say, each weighed by its noise; so are the margins of an attribute
    over all marginals it is part of. Nothing is negative. A marginal with a parent is fitted to the margins of both.
    """
    totals = _totals(measured)
    margins = [_margin(measured, place, totals) for place in range(len(measured))]
    shares = []
    for one, margin in zip(measured, margins, strict=True):
        alone = _shares(margin[None], np.full(margin[None].shape, 1 / one.bins.size))
        shares.append(alone if one.parent < 0 else _joint(one, margins[one.parent], margin, alone))
    return Model(
        totals=totals, parents=tuple(one.parent for one in measured), shares=tuple(shares), margins=tuple(margins)
    )


def _totals(measured: Sequence[Measured]) -> Reals:
    """Rows of every class: the mean over all tables, weighed by precision."""
    precision = np.array([1 / (one.variance * one.counts[..., 0].size) for one in measured])
    sums = np.stack([one.counts.sum(axis=(0, 1)) for one in measured])
    return np.asarray(np.maximum((precision[:, None] * sums).sum(axis=0) / precision.sum(), 0.0))


def _margin(measured: Sequence[Measured], place: int, totals: Reals) -> Reals:
    """Values x classes of one attribute: what its own table and those of its children say."""
    own = measured[place]
    said = [(own.counts.sum(axis=0), own.variance * own.counts.shape[0])]
    said += [(one.counts.sum(axis=1), one.variance * one.counts.shape[1]) for one in measured if one.parent == place]
    precision = sum(1 / variance for _, variance in said)
    mean = sum((table / variance for table, variance in said), np.zeros_like(said[0][0])) / precision
    return _pulled(nearest(mean, totals), PULL / precision**0.5)


def nearest(table: Reals, totals: Reals) -> Reals:
    """The nearest table (by least squares) that is not negative and whose columns add up to some totals.

    >>> nearest(np.array([[5.0], [3.0], [-2.0]]), np.array([6.0])).ravel()
    array([4., 2., 0.])
    """
    falling = -np.sort(-table, axis=0)
    ranks = np.arange(1, len(table) + 1).reshape(-1, *[1] * (table.ndim - 1))
    excess = (falling.cumsum(axis=0) - totals) / ranks
    last = np.maximum((falling > excess).sum(axis=0) - 1, 0)
    level = np.take_along_axis(excess, last[None], axis=0)
    return np.where(totals > 0, np.maximum(table - level, 0.0), 0.0)


def _pulled(table: Reals, strength: float) -> Reals:
    """Values x classes with the same margins; the classes of values with few rows are nearer to those of all rows."""
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    whole = columns / max(float(columns.sum()), TINY)
    made = rows * (table + strength * whole) / np.maximum(rows + strength, TINY)
    return raked(made.T[..., None], columns.T, rows)[..., 0].T


def raked(table: Reals, rows: Reals, columns: Reals) -> Reals:
    """Rows x columns x layers, fitted in turn to the sums of its columns and rows in every layer; rows come last."""
    for _ in range(ROUNDS):
        table = table * (columns[None] / np.maximum(table.sum(axis=0, keepdims=True), TINY))
        table = table * (rows[:, None] / np.maximum(table.sum(axis=1, keepdims=True), TINY))
    return table


def _joint(one: Measured, above: Reals, margin: Reals, alone: Reals) -> Reals:
    """Shares of values given a parent value and a class; where little was counted, nearer to those without a parent."""
    fit = nearest(np.moveaxis(one.counts, 1, 0), above)
    start = np.moveaxis(fit, 0, 1) + FILL * one.scale * alone
    return _shares(raked(start, above, margin), np.broadcast_to(alone, one.counts.shape))


def _shares(table: Reals, otherwise: Reals) -> Reals:
    """Shares along the values; others where there are no rows."""
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > TINY, table / np.maximum(sums, TINY), otherwise)
