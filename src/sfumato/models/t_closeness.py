"""t-closeness and the distances between distributions that it can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between, number, one_of, text
from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.extras import extra, require
from sfumato.counts.classes import Classes
from sfumato.counts.tally import Counts, Tally
from sfumato.models.model import Verdict, ancestor_paths, explained, one_class, texts

# Distances between the distribution of each class and a reference: shares [classes x values] in, one number each out.
#
# Every one of them is convex in the class's distribution, so a joined class is no farther away than its farthest part.
# Below them, histograms are put where they need them: in an order, or under the nodes of a hierarchy.


Shares = NDArray[np.float64]
_STEPS = 3
"""More steps bring little."""
_NOTHING = 1e12
"""One over less than any row."""
_PART = 1e-6
"""Rows are whole: less than one that lacks so little is rounding."""


def variational(shares: Shares, reference: Shares) -> Shares:
    """Half the sum of the absolute differences, which is the earth mover's distance with equal costs.

    >>> variational(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])).tolist()
    [0.5]
    """
    return np.asarray(np.abs(shares - reference).sum(axis=1) / 2)


def most_left(counts: Counts, reference: Shares, reach: float) -> Shares:
    """The most rows of each class that can be left so that half the sum of differences is at most ``reach``.

    How: of s rows at most c_v can have the value v, so together they lack at least sum (q_v - c_v / s)+. That is convex
        and falling in x = 1 / s. From the class itself on, each Newton step stays below the x where it is ``reach``,
        so the rows are never too few. Steps end where the values that are lacking do not change, or after a few.

    >>> most_left(np.array([[6, 2], [4, 0]]), np.array([0.5, 0.5]), 0.1).round(4).tolist()
    [5.0, 0.0]
    """
    held, ones = counts.astype(np.float64), np.ones(counts.shape[1])
    x = 1.0 / np.maximum(held @ ones, 1)
    for _ in range(_STEPS):
        lack = reference - held * x[:, None]
        over = np.maximum(lack, 0.0) @ ones - reach
        slope = (held * (lack > 0)) @ ones
        step = np.full(len(x), _NOTHING)
        np.divide(over, slope, out=step, where=slope > 0)
        x = np.where(over > 0, np.minimum(x + step, _NOTHING), x)
    return np.asarray(np.floor(1.0 / x + _PART))


def kullback_leibler(shares: Shares, reference: Shares) -> Shares:
    """The sum of p ln(p / q); infinite where a class shows a value that the reference lacks.

    >>> kullback_leibler(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])).round(4).tolist()
    [0.6931]
    """
    ratio = np.ones_like(shares)
    np.divide(shares, reference, out=ratio, where=(shares > 0) & (reference > 0))
    unexpected = ((shares > 0) & (reference == 0)).any(axis=1)
    return np.where(unexpected, np.inf, (shares * np.log(ratio)).sum(axis=1))


def binary_divergence(shares: Shares, reference: Shares) -> Shares:
    """The largest divergence, over the values, of having the value or not.

    >>> binary_divergence(np.array([[1.0, 0.5]]), np.array([0.5, 0.5])).round(4).tolist()
    [0.6931]
    """
    both = zip(shares.T, reference, strict=True)
    pairs = [kullback_leibler(np.stack([p, 1 - p], axis=1), np.array([q, 1 - q])) for p, q in both]
    return np.max(pairs, axis=0, initial=0.0) if pairs else np.zeros(len(shares))


def emd_ordered(shares: Shares, reference: Shares) -> Shares:
    """The earth mover's distance where values i and j are |i - j| / (m - 1) apart, columns in the values' order.

    Source: Li, Li, Venkatasubramanian 2007, section 5.1.

    >>> emd_ordered(np.array([[1.0, 0.0, 0.0]]), np.array([0.0, 0.5, 0.5])).tolist()
    [0.75]
    """
    steps = max(len(reference) - 1, 1)
    return np.asarray(np.abs(np.cumsum(shares - reference, axis=1)[:, :-1]).sum(axis=1) / steps)


def emd_hierarchical(shares: Shares, reference: Shares, levels: Sequence[NDArray[np.int64]]) -> Shares:
    """The earth mover's distance where two values are as far apart as their lowest common ancestor is high.

    ``levels[j]`` numbers the node of each value at level j + 1, without the root; the root is at height
    ``len(levels) + 1``. What a node has too much must cross the edge above it, and every edge is 1 / (2 height) long;
    this is Li, Li, Venkatasubramanian 2007, section 5.2, summed by edges instead of by nodes.

    >>> apart = np.array([[1.0, 0.0, 0.0]])
    >>> emd_hierarchical(apart, np.array([0.0, 1.0, 0.0]), [np.array([0, 0, 1])]).tolist()
    [0.5]
    """
    extra = shares - reference
    crossing = np.abs(extra).sum(axis=1)
    for nodes in levels:
        member = np.zeros((len(nodes), int(nodes.max(initial=-1)) + 1))
        member[np.arange(len(nodes)), nodes] = 1
        crossing += np.abs(extra @ member).sum(axis=1)
    return np.asarray(crossing / (2 * (len(levels) + 1)))


def by_size(tally: Tally, reference: Counts) -> tuple[Tally, Counts]:
    """The histogram over the numbers that occur, by size; equal numbers are one value, a missing value comes last."""
    if tally.numbers is None:
        raise DataError(f"column {tally.column!r} has no numbers; emd-ordered needs its values listed in order")
    used = _occurring(tally, reference)
    numbers, rank = np.unique(tally.numbers[used], return_inverse=True)
    place = np.zeros(len(tally.values), np.int32)
    place[used] = rank.reshape(-1)
    return _placed(tally, reference, place, tuple(map(str, numbers.tolist())))


def by_list(tally: Tally, reference: Counts, order: Sequence[str]) -> tuple[Tally, Counts]:
    """The histogram over the listed values, in that order; every value that occurs must be listed."""
    index = {value: i for i, value in enumerate(order)}
    lost = [value for value in _texts(tally, reference) if value not in index]
    if lost:
        raise DataError(f"order does not list these values of column {tally.column!r}: {listed(lost)}")
    place = np.array([index.get(value, 0) for value in tally.values], np.int32)
    return _placed(tally, reference, place, tuple(order))


def node_levels(tally: Tally, reference: Counts, paths: Mapping[str, tuple[str, ...]]) -> list[NDArray[np.int64]]:
    """For each level below the root, the node that each value lies under.

    A path that is too short repeats its last node; a missing value without a path is a branch of its own.
    """
    own = set() if tally.missing is None else {tally.values[tally.missing]}
    lost = [value for value in _texts(tally, reference) if value not in paths and value not in own]
    if lost:
        raise DataError(f"paths do not hold these values of column {tally.column!r}: {listed(lost)}")
    height = max(map(len, paths.values()), default=0)
    padded = [_padded(value, paths.get(value, ()), height) for value in tally.values]
    return [_numbered([path[level] for path in padded]) for level in range(height)]


def nearest_leaf(values: Sequence[str], paths: Mapping[str, tuple[str, ...]]) -> Shares:
    """How high the lowest node above each value is that has another declared value below it, as a share of the height.

    >>> nearest_leaf(["a", "c"], {"a": ("low",), "b": ("low",), "c": ("high",)}).tolist()
    [0.5, 1.0]
    """
    height = max(map(len, paths.values()), default=0)
    declared = [_padded(value, path, height) for value, path in paths.items()]
    held = [Counter(path[level] for path in declared) for level in range(height)]
    mine = [_padded(value, paths.get(value, ()), height) for value in values]
    first = [next((level for level in range(height) if held[level][path[level]] > 1), height) for path in mine]
    return np.array([(level + 1) / (height + 1) for level in first])


def _padded(value: str, path: tuple[str, ...], height: int) -> list[tuple[str, ...]]:
    """What a value lies under at each level, as the rest of its way up, so that equal names do not mix branches."""
    whole = path + ((path or (value,))[-1],) * (height - len(path))
    return [whole[level:] for level in range(height)]


def _numbered(nodes: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    index: dict[tuple[str, ...], int] = {}
    return np.array([index.setdefault(node, len(index)) for node in nodes], np.int64)


def _occurring(tally: Tally, reference: Counts) -> NDArray[np.bool_]:
    """Which values some row has, here or in the reference."""
    return (np.bincount(tally.codes, minlength=len(tally.values)) > 0) | (reference > 0)


def _texts(tally: Tally, reference: Counts) -> list[str]:
    return [tally.values[code] for code in np.flatnonzero(_occurring(tally, reference))]


def _placed(tally: Tally, reference: Counts, place: NDArray[np.int32], values: tuple[str, ...]) -> tuple[Tally, Counts]:
    """The histogram with each code moved to its place, and the reference likewise."""
    moved = replace(
        tally, codes=place[tally.codes], values=values, missing=None, numbers=None, original=None, whole=None
    )
    summed = np.bincount(place, weights=reference, minlength=len(values)).astype(np.int64)
    return moved.merged(np.arange(tally.classes, dtype=np.int64), tally.classes), summed


# The earth mover's distance with any costs: a transportation problem per distinct distribution, many at a time.


_TOGETHER = 4000
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}


def emd_matrix(shares: Shares, reference: Shares, costs: Shares) -> Shares:
    """The least cost of moving each class's distribution to the reference; ``costs[i, j]`` moves i to j.

    Cost: a class with one value is a sum; the rest are linear programs of (its values) x (all values) flows.

    >>> apart = 1.0 - np.eye(2)
    >>> emd_matrix(np.array([[1.0, 0.0]]), np.array([0.25, 0.75]), apart).tolist()
    [0.75]
    """
    distinct, which = np.unique(shares, axis=0, return_inverse=True)
    values = distinct @ (costs @ reference)
    mixed = np.flatnonzero((distinct > 0).sum(axis=1) > 1)
    for part in _parts(distinct[mixed], len(reference)):
        values[mixed[part]] = _transported(distinct[mixed[part]], reference, costs)
    return np.asarray(values[which.reshape(-1)])


def _parts(shares: Shares, width: int) -> Iterator[slice]:
    """Runs of classes with a bounded number of flows together."""
    flows = np.cumsum((shares > 0).sum(axis=1) * width)
    first = 0
    while first < len(shares):
        done = flows[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(flows, done + _TOGETHER, side="right")))
        yield slice(first, last)
        first = last


def _transported(shares: Shares, reference: Shares, costs: Shares) -> Shares:
    """Solve some transportation problems as one linear program without common constraints."""
    owner, source = np.nonzero(shares)
    sinks = np.flatnonzero(reference)
    giver = np.repeat(np.arange(len(owner)), len(sinks))
    taker = np.tile(np.arange(len(sinks)), len(owner))
    price = costs[source[giver], sinks[taker]]
    rows = np.concatenate([giver, len(owner) + owner[giver] * len(sinks) + taker])
    flows = np.tile(np.arange(len(giver)), 2)
    shape = (len(owner) + len(shares) * len(sinks), len(giver))
    linprog = extra("scipy.optimize", "emd-matrix").linprog
    moved = extra("scipy.sparse", "emd-matrix").coo_array((np.ones(len(rows)), (rows, flows)), shape=shape).tocsr()
    amounts = np.concatenate([shares[owner, source], np.tile(reference[sinks], len(shares))])
    solution = linprog(price, A_eq=moved, b_eq=amounts, method="highs-ds", options=_PRECISE)
    if not solution.success:
        raise DataError(f"the transportation problem of emd-matrix could not be solved: {solution.message}")
    return _owned(owner[giver], price * solution.x, len(shares))


def _owned(owners: NDArray[np.int64], spent: Shares, count: int) -> Shares:
    return np.asarray(np.bincount(owners, weights=spent, minlength=count), np.float64)


# t-closeness: what a class shows is close to what the whole table shows.


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
        >>> from sfumato.testing.models import classes_of
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
        requirement = f"t = {self.t:g} ({self.distance})"
        return explained(self.check(one_class(table)), requirement=requirement, measurement="distance {}")

    def _arranged(self, tally: Tally, counts: Counts) -> tuple[Tally, Counts, _Measure]:
        """The histogram and the reference as the distance needs them, and the distance."""
        if self.distance == "emd-ordered":
            return *(by_list(tally, counts, self.order) if self.order else by_size(tally, counts)), emd_ordered
        if self.distance == "emd-hierarchical":
            return tally, counts, partial(emd_hierarchical, levels=node_levels(tally, counts, self.paths))
        if self.distance == "emd-matrix":
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
