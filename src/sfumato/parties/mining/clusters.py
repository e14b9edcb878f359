"""k-means on the records of all parties, and its session protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from sfumato.counts.k_means import lloyd, nearest
from sfumato.mining.attributes import Attribute
from sfumato.mining.records import read_columns
from sfumato.parties import secure_sum
from sfumato.parties.conversation import Conversation, Leakage, Told, WrongNumbers
from sfumato.parties.protocols import JointProtocol, JointResult, read_domains, refuse_strange
from sfumato.parties.summed_counts import SummedNumbers, refuse_outside
from sfumato.tables.schema import Numbers
from sfumato.tables.table import Table

# k-means of all parties' records: each step sums the coordinates of the records that are nearest to each centre.
#
# Coordinates are whole numbers of millionths of their declared range, so that sums are exact and do not depend on who
# holds which record.


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
    scaled_columns = []
    for column, domain in zip(columns, domains, strict=True):
        if not bool(((column >= domain.low) & (column <= domain.high)).all()):
            raise DataError(f"some numbers lie outside the declared domain, {domain.low:g} to {domain.high:g}")
        scaled_columns.append(np.rint((column - domain.low) / (domain.high - domain.low) * UNIT).astype(np.int64))
    return np.stack(scaled_columns, axis=1)


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
        totals = sums(_own_sums(points, centres))
        held = totals[:clusters]
        _refuse_wrong(totals[clusters:], many, columns)
        if int(held.sum()) != many:
            raise WrongNumbers(f"the clusters of {many:,} records have {int(held.sum()):,}")
        return held, totals[clusters:-1].reshape(clusters, columns) / UNIT, float(totals[-1]) / UNIT

    chance = Chance(seed=seed).generator()
    tried = []
    for _ in range(starts):
        begin = np.clip(mean + spread * chance.standard_normal((clusters, columns)), 0, 1)
        tried.append(lloyd(step, begin, most=most))
    apart, centres = min(tried, key=lambda attempt: attempt[0])
    lows = np.array([domain.low for domain in domains])
    spans = np.array([domain.high - domain.low for domain in domains])
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


# Sessions that find clusters of all parties' records.


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """How many clusters of which columns."""

    columns: Mapping[str, Numbers]
    """Numbers with their declared ranges."""
    clusters: int
    """How many clusters."""
    starts: int
    """From how many starts; the best is kept."""
    most: int
    """How many steps one start may take."""
    seed: int
    """Where the starts are drawn from; it is public."""


def read_clustering(tree: Mapping[str, Any], names: Sequence[str]) -> Clustering:
    """What the session file asks for."""
    refuse_strange(tree, ("columns", "clusters", "starts", "steps", "seed"))
    columns = {}
    for name, domain in read_domains(tree).items():
        if not isinstance(domain, Numbers):
            raise ParameterError(f"parameters.columns.{name} must be a range: clusters are of numbers")
        columns[name] = domain
    settings = {"clusters": tree.get("clusters"), "starts": 8, "steps": 100, **tree}
    for key in ("clusters", "starts", "steps"):
        at_least(f"parameters.{key}", settings[key], 1)
    seed = tree.get("seed", 1)
    at_least("parameters.seed", seed, 0)
    return Clustering(
        columns=columns, clusters=settings["clusters"], starts=settings["starts"], most=settings["steps"], seed=seed
    )


def own_points(request: Clustering, table: Table) -> Whole:
    """A party's own records in millionths of the declared ranges."""
    attributes = [Attribute(name=name, domain=domain, declared=True) for name, domain in request.columns.items()]
    return units(read_columns(table.frame, attributes), tuple(request.columns.values()))


def run_clustering(conversation: Conversation, request: Clustering, own: Whole) -> JointResult:
    """The clusters of all parties' records."""
    clusters = joint_means(
        SummedNumbers(conversation, each=UNIT * len(request.columns)),
        own,
        tuple(request.columns.values()),
        clusters=request.clusters,
        starts=request.starts,
        most=request.most,
        seed=request.seed,
    )
    rows = [
        [*(float(x) for x in centre), int(size)] for centre, size in zip(clusters.centres, clusters.sizes, strict=True)
    ]
    columns = (*request.columns, "records")
    document = {"columns": list(columns), "clusters": rows, "squared distances": clusters.apart}
    return JointResult(document=document, columns=columns, rows=rows)


MEANS = JointProtocol(
    name="k-means",
    about="Clusters of all parties' records: centres and sizes.",
    least=3,
    read=read_clustering,
    leakage=lambda request, names: LEAKAGE,
    prepare=own_points,
    given=lambda request, own: f"sums of {len(own):,} rows in {len(request.columns)} columns",
    run=run_clustering,
)
