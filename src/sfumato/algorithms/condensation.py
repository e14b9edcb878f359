"""Condensation: groups of at least k records become moments, and new records are drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.microaggregation import halved, mdav
from sfumato.core.arguments import at_least, between, number, one_of
from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids

# What condensation keeps of a group: how many records, the sums of every column and of every product of two.
#
# All three add up, so groups can be joined, kept up to date and taken apart without their records (document 000,
# section 20.3.1.4, equations 20.6 and 20.7).


Points = NDArray[np.float64]
"""Rows x columns."""
_NOISE = 64 * float(np.finfo(np.float64).eps)
"""Variance below this share of the squares that it is the difference of is rounding, and counts as none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """The additive statistics of one group, or of many groups at once (then every field has them in front).

    >>> one = Moments.of(np.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> one.mean.tolist(), one.covariance.tolist()
    ([2.0, 4.0], [[1.0, 2.0], [2.0, 4.0]])
    """

    count: NDArray[np.int64]
    """How many records."""
    sums: Points
    """The sum of every column."""
    products: Points
    """The sum of the product of every two columns."""

    @classmethod
    def of(cls, rows: Points) -> Self:
        """The moments of some records."""
        records = np.asarray(rows, np.float64)
        return cls(count=np.array(len(records)), sums=records.sum(axis=0), products=records.T @ records)

    @classmethod
    def by_group(cls, rows: Points, groups: Ids, count: int) -> Self:
        """The moments of every group, given the group of each record; no group is empty."""
        order = np.argsort(groups, kind="stable")
        sizes = np.bincount(groups, minlength=count).astype(np.int64)
        if not (sizes > 0).all():
            raise ParameterError("groups must number groups from 0 on, none of them empty")
        starts, inner = np.cumsum(sizes) - sizes, rows[order]
        products = np.empty((count, rows.shape[1], rows.shape[1]))
        for place in range(rows.shape[1]):
            products[:, place] = np.add.reduceat(inner * inner[:, place : place + 1], starts, axis=0)
        return cls(count=sizes, sums=np.add.reduceat(inner, starts, axis=0), products=products)

    def __add__(self, other: Moments) -> Self:
        """The moments of both together, whatever order their records came in."""
        return type(self)(
            count=self.count + other.count, sums=self.sums + other.sums, products=self.products + other.products
        )

    def __sub__(self, other: Moments) -> Self:
        """The moments without those of some of the records."""
        if (np.asarray(self.count) < other.count).any():
            raise ParameterError(f"of {self.count} records {other.count} cannot be taken away")
        return type(self)(
            count=self.count - other.count, sums=self.sums - other.sums, products=self.products - other.products
        )

    def __getitem__(self, group: int | slice | Ids) -> Self:
        """The moments of one group of many, or of several."""
        return type(self)(count=self.count[group], sums=self.sums[group], products=self.products[group])

    @property
    def mean(self) -> Points:
        """The mean of every column."""
        return np.asarray(self.sums / np.asarray(self.count)[..., None])

    @property
    def covariance(self) -> Points:
        """Sum(i, j) / r - Mean(i) Mean(j): equation 20.6, with the divisor r of a whole group, not r - 1."""
        mean = self.mean
        return np.asarray(
            self.products / np.asarray(self.count)[..., None, None] - mean[..., :, None] * mean[..., None, :]
        )

    def axes(self) -> tuple[Points, Points]:
        """The variance along every eigenvector of the covariance, the longest last, and the eigenvectors as columns.

        A covariance without full rank has eigenvalues of 0: nothing varies along those. What rounding leaves of them
        counts as 0 too.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        squares = np.trace(self.products, axis1=-2, axis2=-1) / np.asarray(self.count)
        return np.where(values > _NOISE * values.shape[-1] * squares[..., None], values, 0.0), vectors

    def split(self, first: int | None = None) -> tuple[Self, Self]:
        """Two groups of ``first`` records (half of them, where nothing is said) and the rest, without any record.

        Along the longest eigenvector the records are taken to be uniform over the range R = sqrt(12 variance), equation
        20.8, which is cut where the first part ends; the other eigenvectors stay (equation 20.9). Halves have their
        means R/4 to either side and a quarter of the variance. The two add up to the group. Many groups are split at
        once, each by itself.
        """
        count = np.asarray(self.count)
        n_first = count // 2 if first is None else np.full_like(count, first)
        if not ((n_first > 0) & (n_first < count)).all():
            raise ParameterError(f"first must lie between 1 and {int(count.min()) - 1}, not {int(n_first.flat[0])}")
        values, vectors = self.axes()
        reach, along, mean = np.sqrt(12 * values[..., -1:]), vectors[..., -1], self.mean
        parts = []
        for many, other, side in ((n_first, count - n_first, -1), (count - n_first, n_first, 1)):
            moved = mean + side * reach * (other / (2 * count))[..., None] * along
            spread = values.copy()
            spread[..., -1] *= (many / count) ** 2
            covariance = (vectors * spread[..., None, :]) @ np.swapaxes(vectors, -1, -2)
            products = many[..., None, None] * (covariance + moved[..., :, None] * moved[..., None, :])
            parts.append(type(self)(count=many, sums=np.asarray(many[..., None] * moved), products=products))
        return parts[0], parts[1]


# Records drawn from moments: uniform along every eigenvector, and written as the column writes its numbers.


_AT_ONCE = 2**22
"""About how many numbers of eigenvectors are laid out by record at once."""
_SURE = 1e-6
"""A number this near to a step, in steps, is that step."""


def drawn_rows(moments: Moments, each: Ids, variance: float, draw: np.random.Generator) -> Points:
    """``each`` records for every group, one group after the other.

    A record is the group's mean and, along each eigenvector, a number drawn evenly between plus and minus
    sqrt(3 variance eigenvalue): then its variance there is ``variance`` times the eigenvalue. Along eigenvectors with
    eigenvalue 0 it stays at the mean.
    """
    values, vectors = moments.axes()
    reach, mean = np.sqrt(3 * variance * values), moments.mean
    groups, width = np.repeat(np.arange(len(each)), each), mean.shape[1]
    records = np.empty((len(groups), width))
    step = max(_AT_ONCE // max(width * width, 1), 1)
    for start in range(0, len(groups), step):
        of = groups[start : start + step]
        along = draw.uniform(-1.0, 1.0, (len(of), width)) * reach[of]
        records[start : start + step] = mean[of] + np.einsum("nij,nj->ni", vectors[of], along)
    return records


def stepped(numbers: NDArray[np.float64], decimals: int | None, draw: np.random.Generator) -> NDArray[np.float64]:
    """Numbers with so many decimals, each up or down by chance so that it is right on average; None leaves them.

    >>> from sfumato.core.randomness import Chance
    >>> stepped(np.array([7.0, -2.00000000001]), 0, Chance(seed=1).generator()).tolist()
    [7.0, -2.0]
    """
    if decimals is None:
        return numbers
    scaled = numbers * 10.0**decimals
    near = np.rint(scaled)
    low = np.floor(scaled)
    by_chance = low + (draw.random(len(scaled)) < scaled - low)
    kept = np.where(np.abs(scaled - near) <= _SURE, near, by_chance)
    return np.asarray(np.round(kept / 10.0**decimals, decimals) + 0.0)


def decimals_of(numbers: NDArray[np.float64], most: int = 6) -> int | None:
    """With how many decimals a column writes its numbers; None where more than ``most`` would be needed.

    >>> decimals_of(np.array([1.0, 2.5])), decimals_of(np.array([3.0])), decimals_of(np.array([1 / 3]))
    (1, 0, None)
    """
    for decimals in range(most + 1):
        if bool((np.abs(np.round(numbers, decimals) - numbers) <= 1e-12 * np.abs(numbers)).all()):
            return decimals
    return None


def dealt(groups: Ids, draw: np.random.Generator) -> Ids:
    """From which record each record takes its value: the values of a group, dealt out among its records at random."""
    order = np.argsort(groups, kind="stable")
    shuffled = np.lexsort((draw.random(len(groups)), groups))
    source = np.empty(len(groups), np.int64)
    source[order] = shuffled
    return source


# Groups around means, each with k to 2k - 1 records: k-means with a constraint on the size of groups.


_ROUNDS = 5
"""How often means move and records choose again before groups are brought to size."""


def sized_means(points: Points, k: int) -> tuple[Ids, int]:
    """The group of each record, and how many groups; every group has k to 2k - 1 records, if there are k.

    The first means are every k-th record along the longest direction of the whole, so nothing is drawn. Records choose
    the nearest mean, means move, a few times. Then the smallest group is given up as long as it has fewer than k: its
    records go to the nearest mean that is left. Groups of 2k and more are halved at the middle of their own longest
    direction.
    """
    rows = len(points)
    along = points @ longest(points)
    centres = points[np.argsort(along, kind="stable")[k // 2 :: k][: max(rows // k, 1)]]
    groups = nearest(points, centres)
    for _ in range(_ROUNDS):
        centres = _means(points, groups, centres)
        groups = nearest(points, centres)
    groups = _enough(points, groups, _means(points, groups, centres), k)
    return _halved(points, groups, k)


def longest(points: Points) -> Points:
    """The direction along which points vary most; its largest part is positive."""
    direction = Moments.of(points).axes()[1][:, -1]
    return np.asarray(direction if direction[np.argmax(np.abs(direction))] > 0 else -direction)


def nearest(points: Points, centres: Points) -> Ids:
    """The nearest centre of each point; the first of several.

    The sum is written out: threads of a matrix product cost more than such small ones take.
    """
    across, along = np.ascontiguousarray(points.T), np.ascontiguousarray(centres.T)
    apart = (centres * centres).sum(axis=1) - 2 * np.einsum("di,dj->ij", across, along)
    return np.asarray(np.argmin(apart, axis=1), np.int64)


def _means(points: Points, groups: Ids, centres: Points) -> Points:
    """The mean of every group; where a group is empty its centre stays."""
    sizes = np.bincount(groups, minlength=len(centres))
    sums = np.stack([np.bincount(groups, weights=column, minlength=len(centres)) for column in points.T], axis=1)
    return np.asarray(np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres))


def _enough(points: Points, groups: Ids, centres: Points, k: int) -> Ids:
    """Give up the smallest group until every one has k records; the centres stay where they are."""
    sizes = np.bincount(groups, minlength=len(centres)).astype(np.float64)
    members = [np.flatnonzero(groups == group) for group in range(len(centres))]
    there = np.ones(len(centres), np.bool_)
    while there.sum() > 1 and sizes[least := int(np.argmin(np.where(there, sizes, np.inf)))] < k:
        there[least] = False
        left = np.flatnonzero(there)
        moved = members[least]
        into = left[nearest(points[moved], centres[left])]
        for group in np.unique(into):
            members[group] = np.concatenate([members[group], moved[into == group]])
            sizes[group] = len(members[group])
    group_of = np.zeros(len(points), np.int64)
    for index, group in enumerate(np.flatnonzero(there)):
        group_of[members[group]] = index
    return group_of


def _halved(points: Points, groups: Ids, k: int) -> tuple[Ids, int]:
    """Halve groups of 2k records and more, again and again."""
    waiting = [np.flatnonzero(groups == group) for group in range(int(groups.max(initial=0)) + 1)]
    group_of, count = np.zeros(len(points), np.int64), 0
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * k:
            group_of[rows] = count
            count += 1
            continue
        order = rows[np.argsort(points[rows] @ longest(points[rows]), kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return group_of, count


# Condensation: what is published of groups of at least k records is drawn from their means and covariances.


Grouping = Literal["mdav", "k-means"]
Shown = Literal["rows", "distributions"]
_NONE = 1e-9
"""A spread below this share of the column's is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CondenseProblem(Brief):
    """Records of numbers."""

    numbers: Points
    """A column for every condensed column, in its own unit; nothing is missing."""
    classes: Ids
    """The class of each record; only records of one class come into one group."""
    labels: tuple[str, ...]
    """What the classes are called."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Condensed(Brief):
    """The groups that were found, and what was drawn from them."""

    groups: Ids
    """The group of each record."""
    moments: Moments
    """The moments of every group, in standardized columns."""
    shift: Points
    """What was taken from every column."""
    scale: Points
    """What every column was then divided by."""
    drawn: Points
    """The drawn records, one group after the other, in the columns' own units."""
    drawn_groups: Ids
    """The group of each drawn record."""

    @property
    def sizes(self) -> Ids:
        """How many records each group has."""
        return np.asarray(self.moments.count, np.int64)

    @property
    def means(self) -> Points:
        """The mean of every group, in the columns' own units."""
        return np.asarray(self.moments.mean * self.scale + self.shift)

    @property
    def spreads(self) -> Points:
        """The standard deviation of every column in every group, in its own unit; what rounding leaves is none."""
        values, vectors = self.moments.axes()
        deviations = np.sqrt(np.einsum("gij,gj->gi", vectors**2, values))
        return np.asarray(np.where(deviations > _NONE, deviations, 0.0) * self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condense:
    """Draw synthetic records from the means and covariances of groups of at least k similar records.

    Claim: every group that records are drawn from has at least k records, so nothing that is drawn depends on fewer.
        That is no k-anonymity of the drawn records, which need not be alike, and no bound on what they tell of a group.
    How: numbers are standardized and grouped; a group's records become their count, mean and covariance; for each of
        them ``copies`` records are drawn, evenly along every eigenvector with the variance of its eigenvalue times
        ``variance``. A table larger than ``block`` rows is halved at medians first. Words are dealt out at random among
        the records of a group: how often each occurs in a group stays, what it goes with inside the group is lost.
    Needs: single rows, one column of numbers at least, none missing.
    Cost: the square of a block's rows over k per column for the groups, then the rows times the square of the columns.
    Source: document 000, section 20.3.1.4 (equations 20.6 to 20.9); Aggarwal and Yu 2004, A condensation approach to
        privacy preserving data mining; MDAV from Domingo-Ferrer and Torra 2005.
    """

    k: int
    """The fewest records of a group; the plan asks for it under [privacy]."""
    groups: Grouping = "mdav"
    """How groups are found: ``mdav``, or ``k-means`` with a constraint on sizes."""
    variance: float = 1.0
    """The variance of drawn records along every eigenvector, as a multiple of the group's; 0 gives means."""
    copies: int = 1
    """How many records are drawn for each record."""
    per_class: bool = False
    """Whether every class of the target column is condensed by itself."""
    bounds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The least and the largest number that a column can have, declared; what is drawn beyond is set to it."""
    output: Shown = "rows"
    """Drawn ``rows``, or for each record the mean and the spread of its group: ``distributions``."""
    block: int = 2000
    """The most rows that are grouped at once."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("k", self.k, 2)
        one_of("groups", self.groups, get_args(Grouping))
        one_of("output", self.output, get_args(Shown))
        between("variance", self.variance, 0, 100)
        at_least("copies", self.copies, 1)
        at_least("block", self.block, 100)
        if not isinstance(self.per_class, bool):
            raise ParameterError(f"per_class must be true or false, not {self.per_class!r}")
        _check_bounds(self.bounds)
        if self.output == "distributions" and (self.copies, self.variance, dict(self.bounds)) != (1, 1.0, {}):
            raise ParameterError("output = 'distributions' draws nothing; leave copies, variance and bounds out")

    def __call__(self, problem: CondenseProblem, work: Work) -> Condensed:
        """Group the records, and draw."""
        points, shift, scale = standardized_numbers(problem.numbers)
        groups, count = self.grouped(points, problem, work)
        moments = Moments.by_group(points, groups, count)
        each = np.asarray(moments.count, np.int64) * self.copies
        drawn = drawn_rows(moments, each, self.variance, work.chance.generator()) * scale + shift
        return Condensed(
            groups=groups,
            moments=moments,
            shift=shift,
            scale=scale,
            drawn=drawn,
            drawn_groups=np.repeat(np.arange(count), each),
        )

    def grouped(self, points: Points, problem: CondenseProblem, work: Work) -> tuple[Ids, int]:
        """The group of each record, class by class; nothing is drawn, so that a steward finds the same groups again."""
        refuse_small(problem, self.k)
        groups, count = np.zeros(len(points), np.int64), 0
        find = mdav if self.groups == "mdav" else sized_means
        done = 0
        for class_index in range(len(problem.labels)):
            inside = np.flatnonzero(problem.classes == class_index)
            for rows in halved(points, inside, max(self.block, 3 * self.k)):
                ids, many = find(points[rows], self.k)
                groups[rows] = ids + count
                count, done = count + many, done + len(rows)
                work.advance("search", done, len(points) + 1)
        return groups, count


def refuse_small(problem: CondenseProblem, k: int) -> None:
    """Refuse classes that cannot fill one group."""
    sizes = np.bincount(problem.classes, minlength=len(problem.labels))
    small = np.flatnonzero(sizes < k)
    if not len(small):
        return
    if len(problem.labels) == 1:
        raise Infeasible(
            f"no group of {k} records can be made: the table has {int(sizes[0])}; ask for at most that many"
        )
    least = int(small[np.argmin(sizes[small])])
    raise Infeasible(
        f"class {problem.labels[least]!r} has {int(sizes[least])} records, and condensed by itself it needs {k}; ask "
        f"for k = {int(sizes[least])} at most, set algorithm.per_class = false, or leave the class out"
    )


def standardized_numbers(numbers: Points) -> tuple[Points, Points, Points]:
    """Every column with mean 0 and variance 1 (a constant one with 0), what was taken away and divided by."""
    with np.errstate(over="ignore", invalid="ignore"):
        shift = numbers.mean(axis=0)
        scale = numbers.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(shift), scale, 1.0)
        points = (numbers - shift) / scale
    if not (np.isfinite(points).all() and np.isfinite(scale).all()):
        raise DataError("a column of numbers has values too large to be multiplied with each other; scale it down")
    return points, shift, scale


def _check_bounds(bounds: object) -> None:
    if not isinstance(bounds, Mapping):
        raise ParameterError(f"bounds must map columns to two numbers, not {bounds!r}")
    for name, ends in bounds.items():
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise ParameterError(f"bounds of {name!r} must be two numbers, not {ends!r}")
        low, high = (number(f"bounds of {name!r}", end) for end in ends)
        if not (isfinite(low) and isfinite(high) and low < high):
            raise ParameterError(f"bounds of {name!r} must be a smaller and a larger number, not {ends!r}")


# Condensation: groups of at least k records become their moments, and new records are drawn from these.


__all__ = ["Condense"]
