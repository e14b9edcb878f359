"""t-closeness: what a class shows is close to what the whole table shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.ground.arguments import between, number, one_of, text
from sfumato.ground.errors import ParameterError
from sfumato.ground.extras import require
from sfumato.group.classes import Classes
from sfumato.group.tally import Counts, Tally
from sfumato.models.distances import (
    Shares,
    binary_divergence,
    by_list,
    by_size,
    emd_hierarchical,
    emd_ordered,
    kullback_leibler,
    most_left,
    nearest_leaf,
    node_levels,
    variational,
)
from sfumato.models.laws import ancestor_paths, explained, texts
from sfumato.models.verdict import Verdict, one_class

Distance = Literal["variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd-matrix"]
Reference = Literal["released", "original"]
_ROUNDING = 1e-9
"""Far above what rounding does to a distance, far below what it matters for."""
_Measure = Callable[[Shares, Shares], Shares]


@dataclass(frozen=True, slots=True, kw_only=True)
class TCloseness:
    """In every class the distribution of ``column`` is at most ``t`` away from the reference.

    Claim: finding a person's class changes what is known about their sensitive value by at most ``t``, in the chosen
        distance. Li et al. take the distribution of the original table as the reference; when rows were taken out, that
        of the released rows differs, and the verdict's note says which one was used.
    People with several values: each value of a person counts once, and the distribution of these pairs is compared. In
        addition no value is had by a share of people so different from its share of all people that moving the
        difference to the nearest other value would cost more than ``t`` (for kl: the divergence of having it or not).
        With half the sum of differences, at most ``t`` more of a class than of all people have any one value. All
        people are those of all classes added up: a reader cannot tell that one person is in two.
    Source: Li, Li, Venkatasubramanian 2007.
    Does not protect against: what the distribution of the whole table says; singling out rows.

    Example:
        >>> from sfumato.testing.model_kit import classes_of
        >>> table = classes_of({"zip": ["1", "1", "2", "2"], "pay": [1, 2, 3, 4]}, quasi=["zip"])
        >>> round(TCloseness(t=0.2, column="pay", distance="emd-ordered").check(table).reached, 4)
        0.3333
    """

    name: ClassVar[str] = "t-closeness"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Joining leaves the reference, and every distance offered is convex."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of one value can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    t: float
    """The largest distance."""
    column: str
    """The sensitive column."""
    distance: Distance
    """How far two distributions are apart."""
    reference: Reference = "released"
    """Whose distribution is compared with: that of the released rows, or that of the original table."""
    order: tuple[str, ...] = ()
    """The values in their order: for emd-ordered on texts, and the rows and columns of ``costs``."""
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For emd-hierarchical, each value's ancestors, nearest first, without the root."""
    costs: tuple[tuple[float, ...], ...] = ()
    """For emd-matrix, what moving each value (row) to each other one (column) costs."""

    def __post_init__(self) -> None:
        between("t", self.t, 0, np.inf)
        text("column", self.column)
        one_of("distance", self.distance, get_args(Distance))
        one_of("reference", self.reference, get_args(Reference))
        texts("order", self.order, blank=True)
        ancestor_paths("paths", self.paths)
        _check_costs(self.costs, len(self.order))
        if self.distance == "emd-matrix":
            require("scipy", "t-closeness with distance emd-matrix")
        if self.distance == "emd-matrix" and not self.costs:
            raise ParameterError("costs must be given, with order, when distance is emd-matrix")
        if self.distance == "emd-hierarchical" and not self.paths:
            raise ParameterError("paths must be given when distance is emd-hierarchical")

    @property
    def kept_by_removal(self) -> bool:
        """Only where the reference is the original table's, which stays when rows go."""
        return self.reference == "original"

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its distance."""
        note = "reference: original table" if self.reference == "original" else "reference: released rows"
        return Verdict.of(self._distances(classes), self.t, "at most", note=note)

    def _distances(self, classes: Classes) -> Shares:
        tally, counts, measure = self._arranged(*self._compared(classes))
        reference = counts / max(int(counts.sum()), 1)
        overall = np.minimum(counts / _people_of(classes, classes.tally(self.column), counts), 1.0)
        blocks = []
        for where, block in tally.blocks():
            distances = measure(block / block.sum(axis=1, keepdims=True), reference)
            if classes.per_person:
                holding = np.minimum(block / classes.sizes[where, None], 1.0)
                np.maximum(distances, self._of_holders(tally, holding, overall), out=distances)
            blocks.append(distances)
        return np.concatenate(blocks or [np.zeros(0)])

    def _of_holders(self, tally: Tally, holding: Shares, overall: Shares) -> Shares:
        """The largest distance that the shares of people who have one value, or not, would have by themselves.

        Whatever else they have, the difference must at least be moved to the nearest other value.
        """
        if self.distance == "kl":
            return binary_divergence(holding, overall)
        leaving, coming = self._nearest(tally)
        extra = holding - overall
        return np.asarray(np.maximum(extra * leaving, -extra * coming).max(axis=1, initial=0.0))

    def _nearest(self, tally: Tally) -> tuple[Shares, Shares]:
        """How far the nearest other value is from each value, and each value from the nearest other."""
        size = len(tally.values)
        if self.distance == "emd-matrix":
            costs = np.array(self.costs, np.float64) + np.diag(np.full(size, np.inf if size > 1 else 0.0))
            return costs.min(axis=1), costs.min(axis=0)
        steps = np.ones(size)
        if self.distance == "emd-ordered":
            steps /= max(size - 1, 1)
        if self.distance == "emd-hierarchical":
            steps = nearest_leaf(tally.values, self.paths)
        return steps, steps

    def _compared(self, classes: Classes) -> tuple[Tally, Counts]:
        """The histogram, and the counts that it is compared with."""
        tally = classes.tally(self.column)
        if self.reference == "original" and tally.original is not None:
            return tally, tally.original
        return tally, tally.overall

    def least_rows(self, table: Classes, gone: float) -> int:
        """Some rows have no more values than rows, and miss what the other values have in the reference.

        Half the sum of differences is at least the share of the values that a class lacks. Where rows were taken out,
        the reference is at most their share away from the original table's. Other distances may be small all the same.
        """
        if self.distance not in ("variational", "emd-equal"):
            return 1
        _, counts = self._compared(table)
        shares = np.sort(counts / max(int(counts.sum()), 1))[::-1]
        return int(np.count_nonzero(1.0 - np.cumsum(shares) > self._reach(gone))) + 1

    def least_lost(self, classes: Classes, gone: float) -> Shares:
        """With a share x of a class gone, its distance is at most that of the rest, weighed with 1 - x, and x.

        This is so for distances of at most 1, which are convex. Where differences alone count, values of which a class
        has too few tell more: see ``most_left``.
        """
        reach = self._reach(gone)
        if self.distance in ("kl", "emd-matrix") or reach >= 1:
            return np.zeros(classes.count)
        tally, counts = self._compared(classes)
        if self.distance in ("variational", "emd-equal"):
            reference = counts / max(int(counts.sum()), 1)
            left = [most_left(block, reference, reach) for _, block in tally.blocks()]
            return np.asarray(classes.sizes - np.concatenate(left or [np.zeros(0)]), np.float64)
        over = self._distances(classes) - reach
        return np.maximum(over, 0.0) / (1.0 - reach) * classes.sizes

    def _reach(self, gone: float) -> float:
        """How far a class that passes can be from the reference as it is before rows are taken out."""
        return self.t + _ROUNDING + (0.0 if self.reference == "original" else gone)

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        asked = f"t = {self.t:g} ({self.distance})"
        return explained(self.check(one_class(table)), asked=asked, found="distance {}")

    def _arranged(self, tally: Tally, counts: Counts) -> tuple[Tally, Counts, _Measure]:
        """The histogram and the reference as the distance needs them, and the distance."""
        if self.distance == "emd-ordered":
            return *(by_list(tally, counts, self.order) if self.order else by_size(tally, counts)), emd_ordered
        if self.distance == "emd-hierarchical":
            return tally, counts, partial(emd_hierarchical, levels=node_levels(tally, counts, self.paths))
        if self.distance == "emd-matrix":
            from sfumato.models.emd_matrix import emd_matrix

            return *by_list(tally, counts, self.order), partial(emd_matrix, costs=np.array(self.costs, np.float64))
        return tally, counts, kullback_leibler if self.distance == "kl" else variational


def _people_of(classes: Classes, tally: Tally, counts: Counts) -> int:
    """How many people the reference has: those of all classes added up, as a reader of the release counts them.

    Where missing values are tried as known ones, people without a known value are not in it.
    """
    people = int(classes.sizes.sum())
    if tally.whole_people is not None:
        people = tally.whole_people
    elif tally.whole is not None and classes.people is not None:
        people = len(np.unique(classes.people.persons))
    return max(min(people, int(counts.sum())), 1)


def _check_costs(costs: object, size: int) -> None:
    """A square of costs over the listed values, none negative, nothing for staying."""
    if not isinstance(costs, tuple) or not all(isinstance(row, tuple) for row in costs):
        raise ParameterError(f"costs must be a tuple of tuples of numbers, not {costs!r}")
    if costs and (len(costs) != size or any(len(row) != size for row in costs)):
        raise ParameterError(f"costs must be a square of the {size} values in order")
    for i, row in enumerate(costs):
        for j, cost in enumerate(row):
            if number("costs", cost) < 0 or (i == j and cost != 0):
                raise ParameterError(f"costs must not be negative and 0 on the diagonal, not {cost} at {i}, {j}")
