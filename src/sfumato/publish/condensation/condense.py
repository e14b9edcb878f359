"""Condensation: what is published of groups of at least k records is drawn from their means and covariances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, get_args

import numpy as np

from sfumato.ground.arguments import at_least, between, number, one_of
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, Infeasible, ParameterError
from sfumato.ground.work import Work
from sfumato.group.keys import Ids
from sfumato.publish.condensation.drawing_rows import drawn_rows
from sfumato.publish.condensation.moments import Moments, Points
from sfumato.publish.condensation.sized_means import sized_means
from sfumato.publish.microaggregation import halved, mdav

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
        found = np.sqrt(np.einsum("gij,gj->gi", vectors**2, values))
        return np.asarray(np.where(found > _NONE, found, 0.0) * self.scale)


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
        for one in range(len(problem.labels)):
            inside = np.flatnonzero(problem.classes == one)
            for rows in halved(points, inside, max(self.block, 3 * self.k)):
                found, many = find(points[rows], self.k)
                groups[rows] = found + count
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
