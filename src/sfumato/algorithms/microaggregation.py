"""Microaggregation (MDAV): rows of numbers in small groups of nearest ones, each shown by its means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.feasibility import refuse_models, refuse_unreachable
from sfumato.algorithms.labels import recoded
from sfumato.algorithms.local_groups import Groups
from sfumato.algorithms.problem import Grain, Outcome, Problem
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import PlanError
from sfumato.core.run_context import Work
from sfumato.counts.keys import Ids, weighed
from sfumato.models.k_anonymity import asked_k

Points = NDArray[np.float64]
"""Rows x columns, each column with mean 0 and variance 1."""
Shown = Literal["means", "boxes", "hierarchy", "distributions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Microaggregation:
    """Group nearest rows of numbers by MDAV, and show each group's means.

    Claim: every group meets every model; with k-anonymity alone every group has k to 2k - 1 rows.
    How: the row farthest from the middle and the one farthest from that each take their k - 1 nearest rows, until
        fewer than 3k are left. Tables larger than ``block`` rows are halved at medians first. Groups that another model
        refuses join the group with the nearest middle.
    Needs: quasi-identifiers that are numbers, none missing; models that judge groups one by one and that joining
        groups cannot break.
    Cost: the square of a block's rows over k, per column.
    Source: Domingo-Ferrer, Mateo-Sanz 2002; Domingo-Ferrer, Torra 2005.
    """

    grain: ClassVar[Grain] = "rows"

    output: Shown = "means"
    """What a group shows."""
    block: int = 5000
    """The most rows that are grouped at once."""

    def __post_init__(self) -> None:
        one_of("output", self.output, get_args(Shown))
        at_least("block", self.block, 100)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Group, join what is refused, and show the means."""
        refuse_models(problem, "microaggregation")
        refuse_unreachable(replace(problem, limit=0))
        points = standardized(problem)
        k = asked_k(problem.models)
        groups = np.zeros(len(points), np.int64)
        count = 0
        for rows in halved(points, np.arange(len(points)), max(self.block, 3 * k)):
            ids, many = mdav(points[rows], k)
            groups[rows] = ids + count
            count += many
            work.advance("group", int(rows[-1]) + 1, len(points) + 1)
        groups, count = _joined(problem, points, groups, count)
        recoding = recoded(problem, groups, count, self.output)
        return Outcome.of(problem, recoding, np.zeros(len(points), np.bool_), {"groups": count})


def standardized(problem: Problem) -> Points:
    """The quasi-identifiers as numbers, each with mean 0 and variance 1."""
    columns = []
    for place, name in enumerate(problem.cells.quasi):
        numbers = problem.number(place)
        if numbers is None:
            raise PlanError(
                f"columns.{name}: microaggregation needs quasi-identifiers that are numbers; use mondrian, "
                'which can show means too (output = "means")'
            )
        values = numbers[problem.cells.keys[place]]
        if np.isnan(values).any():
            raise PlanError(
                f"columns.{name}: {int(np.isnan(values).sum())} rows have no number, and microaggregation needs one "
                'in every row; set [input] on_missing = "drop", or use mondrian'
            )
        spread = float(values.std())
        columns.append((values - values.mean()) / (spread or 1.0))
    return np.array(columns).T


def halved(points: Points, rows: Ids, most: int) -> list[Ids]:
    """The rows in parts of at most so many, halved at the median of the column that is spread most."""
    if len(rows) <= most:
        return [rows]
    widest = int(np.argmax(points[rows].max(axis=0) - points[rows].min(axis=0)))
    order = rows[np.argsort(points[rows, widest], kind="stable")]
    middle = len(order) // 2
    return halved(points, order[:middle], most) + halved(points, order[middle:], most)


def mdav(points: Points, k: int) -> tuple[Ids, int]:
    """Maximum distance to average vector: groups of k, the last one up to 2k - 1."""
    groups = np.zeros(len(points), np.int64)
    left = np.arange(len(points))
    count = 0
    while len(left) >= 3 * k:
        first = int(np.argmax(_apart(points[left], points[left].mean(axis=0))))
        second = int(np.argmax(_apart(points[left], points[left[first]])))
        apart = points[left[second]]
        left = _taken(points, left, points[left[first]], k, groups, count)
        left = _taken(points, left, apart, k, groups, count + 1)
        count += 2
    if len(left) >= 2 * k:
        far = int(np.argmax(_apart(points[left], points[left].mean(axis=0))))
        left = _taken(points, left, points[left[far]], k, groups, count)
        count += 1
    groups[left] = count
    return groups, count + (len(left) > 0)


def _taken(points: Points, left: Ids, around: Points, k: int, groups: Ids, number: int) -> Ids:
    """Put the k rows nearest to a point into a group; what is left."""
    away = _apart(points[left], around)
    nearest = np.argpartition(away, k - 1)[:k] if k < len(left) else np.arange(len(left))
    groups[left[nearest]] = number
    kept = np.ones(len(left), np.bool_)
    kept[nearest] = False
    return left[kept]


def _apart(points: Points, around: Points) -> NDArray[np.float64]:
    gap = points - around
    return np.asarray(np.einsum("ij,ij->i", gap, gap))


def _joined(problem: Problem, points: Points, groups: Ids, count: int) -> tuple[Ids, int]:
    """Join groups that a model refuses to the group with the nearest middle, until none is refused."""
    judged = Groups(problem)
    while count > 1 and not (fine := judged.passing(groups, count)).all():
        middles = np.array([weighed(groups, column, count) for column in points.T]).T
        middles /= np.bincount(groups, minlength=count)[:, None]
        into = np.arange(count)
        for group in np.flatnonzero(~fine):
            away = _apart(middles, middles[group])
            away[into == into[group]] = np.inf
            if np.isfinite(away).any():
                into[into == into[group]] = into[int(np.argmin(away))]
        _, number = np.unique(into, return_inverse=True)
        groups = number.reshape(-1).astype(np.int64)[groups]
        count = int(number.max()) + 1
    return groups, count


def lost_variance(points: Points, groups: Ids, count: int) -> float:
    """The share of the variance that lies within groups, and so is lost when they show their means."""
    sizes = np.maximum(np.bincount(groups, minlength=count), 1)
    within = 0.0
    for column in points.T:
        middle = weighed(groups, column, count) / sizes
        within += float(((column - middle[groups]) ** 2).sum())
    return within / max(float((points**2).sum()), 1e-300)
