"""Several columns at once: the joint distribution of originals, and what stands on counts stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl

from sfumato.collect.channels import Channel, Evidence
from sfumato.collect.noise_laws import Reals
from sfumato.collect.reconstruct import Distribution, Stopping
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, ParameterError, listed
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import ROWS, Figure, Numbers
from sfumato.group.weighted_cells import WeightedCells

MOST_OUTCOMES = 20_000_000
"""A joint may have so many combinations of outcomes, and of cells."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointDistribution(Brief):
    """A share for every combination of cells of some columns."""

    channels: tuple[Channel, ...]
    """The columns."""
    shares: Reals
    """One axis per column."""
    answers: int
    """How many records it was learnt from."""
    rounds: int = 0
    """Of the iteration."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(one.name for one in self.channels)

    @property
    def counts(self) -> Reals:
        """How many people stand behind each combination: real numbers."""
        return self.shares * self.answers

    def marginal(self, name: str) -> Distribution:
        """One column by itself."""
        place = self._place(name)
        others = tuple(n for n in range(len(self.channels)) if n != place)
        return Distribution(
            channel=self.channels[place],
            shares=self.shares.sum(axis=others),
            answers=self.answers,
            method="em",
            rounds=self.rounds,
        )

    def table(self) -> pl.DataFrame:
        """Every combination with its estimated count, as a table."""
        codes = np.indices(self.shares.shape).reshape(len(self.channels), -1)
        named = [pl.Series(c.name, list(c.labels)).gather(place) for c, place in zip(self.channels, codes, strict=True)]
        return pl.DataFrame([*named, pl.Series("count", self.counts.reshape(-1))])

    def source(self, counted: str | None = None) -> WeightedCells:
        """A source of counts under a cut: what searches, trees and naive Bayes ask. ``counted`` is a class column."""
        figures: dict[Figure, Numbers] = {}
        counts, channels = self.counts, list(self.channels)
        if counted is not None:
            place = self._place(counted)
            channels.pop(place)
            counts = np.moveaxis(counts, place, -1)
            figures = {(counted, (code,)): counts[..., code].reshape(-1) for code in range(counts.shape[-1])}
            counts = counts.sum(axis=-1)
        codes = np.indices(counts.shape).reshape(len(channels), -1).astype(np.int32)
        columns = tuple(CodedColumn(codes=c, size=one.cells) for c, one in zip(codes, channels, strict=True))
        return WeightedCells(columns=columns, weights={ROWS: counts.reshape(-1), **figures})

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError(f"there is no column {name!r}; the joint has {listed(self.names)}")
        return self.names.index(name)


def reconstruct_joint(seen: Sequence[Evidence], *, stopping: Stopping | None = None) -> JointDistribution:
    """The joint distribution of the originals of several columns, each randomized by itself, by EM.

    Claim: as for one column: the likelihood never falls, and has one maximum. The coins of different columns must be
        independent, and they are: every question draws its own.
    Cost: a round is two products per column with the table of all combinations of outcomes.
    Source: document 000, section 20.2.1; Agrawal and Aggarwal 2001.
    """
    if not seen or len({one.answers for one in seen}) != 1:
        raise DataError(f"columns must have equally many answers; they have {[one.answers for one in seen]}")
    outcomes, cells = [len(one.channel.matrix) for one in seen], [one.channel.cells for one in seen]
    if max(prod(outcomes), prod(cells)) > MOST_OUTCOMES:
        raise ParameterError(
            f"the columns have {prod(outcomes):,} combinations of outcomes and {prod(cells):,} of cells; at most "
            f"{MOST_OUTCOMES:,} are counted, so take fewer columns or cells"
        )
    place = np.ravel_multi_index([one.codes for one in seen], outcomes)
    counts = np.bincount(place, minlength=prod(outcomes)).astype(np.float64).reshape(outcomes)
    rule, shares = stopping or Stopping(), np.full(cells, 1 / prod(cells))
    matrices = [one.channel.matrix for one in seen]
    before, turn, over = -np.inf, 0, False
    while turn < rule.rounds and not over:
        turn += 1
        predicted = _along(shares, matrices)
        held = (counts > 0) & (predicted > 0)
        told = float((counts[held] * np.log(predicted[held])).sum() / counts.sum())
        weights = np.divide(counts, predicted, out=np.zeros_like(predicted), where=held)
        after = shares * _along(weights, [one.T for one in matrices])
        after /= after.sum()
        over = rule.over(shares.reshape(-1), after.reshape(-1), seen[0].answers, told - before)
        shares, before = after, told
    return JointDistribution(
        channels=tuple(one.channel for one in seen), shares=shares, answers=seen[0].answers, rounds=turn
    )


def _along(table: Reals, matrices: Sequence[Reals]) -> Reals:
    """A table with every axis multiplied by its matrix."""
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table
