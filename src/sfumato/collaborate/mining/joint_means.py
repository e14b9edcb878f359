"""k-means of all parties' records: each step sums the coordinates of the records that are nearest to each centre.

Coordinates are whole numbers of millionths of their declared range, so that sums are exact and do not depend on who
holds which record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.conversation import WrongNumbers
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives import secure_sum
from sfumato.collaborate.summed_cuts import refuse_outside
from sfumato.describe.domains import Numbers
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import DataError, ParameterError
from sfumato.group.lloyd import lloyd, nearest

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
Summing = Callable[[Whole], Whole]
UNIT = 1_000_000
"""Parts of a declared range."""

LEAKAGE = Leakage(
    protocol="k-means",
    result=(Told(to="everybody", what="the centres of the clusters, their sizes and the sum of squared distances"),),
    beyond=(
        Told(to="everybody", what="mean and variance of every column"),
        Told(to="everybody", what="the centres and sizes of every step of every start"),
    ),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="clusters of few people, whose centre is about them: a joint result is not private by itself",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clusters:
    """What k-means found."""

    centres: Reals
    """Clusters x columns, in the units of the columns."""
    sizes: Whole
    """Records of each cluster."""
    apart: float
    """The sum of squared distances, every declared range taken as 1."""


def units(columns: Sequence[NDArray[np.float64]], domains: Sequence[Numbers]) -> Whole:
    """Records x columns in millionths of the declared ranges; a number outside is refused."""
    found = []
    for column, domain in zip(columns, domains, strict=True):
        if not bool(((column >= domain.low) & (column <= domain.high)).all()):
            raise DataError(f"some numbers lie outside the declared domain, {domain.low:g} to {domain.high:g}")
        found.append(np.rint((column - domain.low) / (domain.high - domain.low) * UNIT).astype(np.int64))
    return np.stack(found, axis=1)


def joint_means(
    sums: Summing,
    points: Whole,
    domains: Sequence[Numbers],
    *,
    clusters: int,
    starts: int = 8,
    most: int = 300,
    seed: int = 1,
) -> Clusters:
    """The best of some starts of k-means over all parties' records.

    Claim: equal to the same call over the union of all records with nobody to add up with, and the same at every party.
        The seed is public: it only draws the starts, near the mean of all records.
    """
    at_least("clusters", clusters, 1)
    at_least("starts", starts, 1)
    columns = points.shape[1]
    first = sums(np.concatenate([[len(points)], points.sum(axis=0), (points**2 // UNIT).sum(axis=0)]))
    many = int(first[0])
    _refuse_wrong(first[1:], many, columns)
    if many < clusters:
        raise ParameterError(f"clusters must be at most {many}, the records of all parties, not {clusters}")
    mean = first[1 : columns + 1] / many / UNIT
    spread = np.sqrt(np.maximum(first[columns + 1 :] / many / UNIT - mean**2, 0))

    def step(centres: Reals) -> tuple[Whole, Reals, float]:
        found = sums(_own_sums(points, centres))
        held = found[:clusters]
        _refuse_wrong(found[clusters:], many, columns)
        if int(held.sum()) != many:
            raise WrongNumbers(f"the clusters of {many:,} records have {int(held.sum()):,}")
        return held, found[clusters:-1].reshape(clusters, columns) / UNIT, float(found[-1]) / UNIT

    chance = Chance(seed=seed).generator()
    tried = []
    for _ in range(starts):
        begin = np.clip(mean + spread * chance.standard_normal((clusters, columns)), 0, 1)
        tried.append(lloyd(step, begin, most=most))
    apart, centres = min(tried, key=lambda one: one[0])
    lows = np.array([one.low for one in domains])
    spans = np.array([one.high - one.low for one in domains])
    return Clusters(centres=centres * spans + lows, sizes=step(centres)[0], apart=apart)


def _refuse_wrong(sums: Whole, many: int, columns: int) -> None:
    """Sums of coordinates, squares and distances of so many records, each between 0 and 1 in every column."""
    refuse_outside(sums, 0, many * UNIT * columns)


def _own_sums(points: Whole, centres: Reals) -> Whole:
    """Records and sums of coordinates by centre, and squared distances in millionths, all whole numbers."""
    labels, apart = nearest(points / UNIT, centres)
    held = np.bincount(labels, minlength=len(centres))
    sums = np.zeros((len(centres), points.shape[1]), np.int64)
    np.add.at(sums, labels, points)
    return np.concatenate([held, sums.reshape(-1), [np.floor(apart * UNIT).astype(np.int64).sum()]])
