"""The nodes of the lattice: make, judge and weigh one, and the node that a plan names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.feasibility import Suppression, refuse_unreachable
from sfumato.algorithms.lattice.frequencies import Frequencies, Rollup
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.errors import Infeasible, PlanError, listed
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.metrics.metric import Loss, Reals, Ruler, View
from sfumato.models.model import LeastLost, LeastRows, LostForGood

# The generalization lattice as an array: one axis per column, one step per level.


MOST_NODES = 2**25


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All combinations of levels; coarser nodes have larger coordinates."""

    heights: Levels
    """The top level of each column."""

    def __post_init__(self) -> None:
        """Refuse lattices that do not fit into memory."""
        if self.nodes > MOST_NODES:
            raise PlanError(
                f"algorithm.name: the lattice of {len(self.heights)} quasi-identifiers has {self.nodes:,} nodes, more "
                f"than the {MOST_NODES:,} that the optimal search can prove; use algorithm.name = 'greedy', or "
                "hierarchies with fewer levels"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels per column."""
        return tuple(height + 1 for height in self.heights)

    @property
    def nodes(self) -> int:
        """How many combinations there are."""
        product = 1
        for levels in self.shape:
            product *= levels
        return product

    def above(self, node: Levels) -> tuple[slice, ...]:
        """The node and every coarser one."""
        return tuple(slice(level, None) for level in node)

    def below(self, node: Levels) -> tuple[slice, ...]:
        """The node and every finer one."""
        return tuple(slice(None, level + 1) for level in node)

    def sums(self, per_level: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """For every node, the sum of its columns' figures."""
        whole = np.zeros(self.shape)
        for axis, figures in enumerate(per_level):
            whole += figures.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return whole

    def chain(self, node: Levels, costs: Sequence[NDArray[np.float64]]) -> list[Levels]:
        """A way from the node to the top, always by the cheapest next step."""
        way = [node]
        while way[-1] != self.heights:
            here = way[-1]
            steps = [c for c, level in enumerate(here) if level < self.heights[c]]
            best = min(steps, key=lambda c: (costs[c][here[c] + 1] - costs[c][here[c]], c))
            way.append(tuple(level + (c == best) for c, level in enumerate(here)))
        return way


# How many rows of a node are lost at every finer node too, before or after its histograms are counted.


class FewRows:
    """What the models of one problem refuse whatever is done to a class: too few rows, or too far from what passes.

    Claim: a class with fewer than ``lasting`` rows is suppressed here and at every finer node; of the others at least
        ``least_lost`` rows are suppressed at every finer node. One with fewer than ``at_first`` rows fails when the
        models judge the node first.
    How: what is published passed when it was judged first. Classes smaller than k were taken out before that, and
        nothing else: at most as many rows as the limit allows, and none where no k is asked for.
    """

    def __init__(self, problem: Problem, suppression: Suppression) -> None:
        """Ask the models that know such a size, where each class is judged by the values of its own rows."""
        self._table = problem.cells
        columns = {column for model in problem.models for column in model.columns}
        missing = any(problem.cells.tally(column).missing is not None for column in columns)
        sound = suppression.plain and problem.cells.people is None and not (missing and problem.reading == "wildcard")
        self._models = tuple(m for m in suppression.others if isinstance(m, LeastRows)) if sound else ()
        self._far = tuple(m for m in suppression.others if isinstance(m, LeastLost)) if sound else ()
        self._anew = tuple(m for m in suppression.others if isinstance(m, LostForGood)) if sound else ()
        self._limit = problem.limit
        self.complete = bool(self._models) and len(self._models) == len(suppression.others) and not suppression.starred
        """Whether all models know such a size, so that classes below it need not be judged."""
        self._k = suppression.least if suppression.plain else 0
        self._gone = problem.limit if self._k > 1 else 0
        self._sizes: dict[int, int] = {}
        self.lasting = self.at_first(self._gone)

    def at_first(self, gone: int) -> int:
        """The size below which a class fails as soon as it is judged, when so many rows were taken out before."""
        if gone not in self._sizes:
            sizes = [model.least_rows(self._table, self._share(gone)) for model in self._models]
            self._sizes[gone] = max([self._k, *sizes])
        return self._sizes[gone]

    def least_lost(self, classes: Classes) -> NDArray[np.float64]:
        """Of each class, how many rows no finer node publishes; all of them where too few would be left."""
        share = self._share(self._gone)
        lost = np.zeros(classes.count)
        for model in self._far:
            np.maximum(lost, model.least_lost(classes, share), out=lost)
        return np.where(classes.sizes - lost < self.lasting, classes.sizes, lost)

    def lost_for_good(self, classes: Classes, lost: NDArray[np.float64]) -> None:
        """Mark in ``lost`` all rows of the classes that models which count groups anew never publish."""
        for model in self._anew:
            gone = model.lost_for_good(classes, self._limit)
            lost[gone] = classes.sizes[gone]

    @property
    def anew(self) -> bool:
        """Whether there is such a model."""
        return bool(self._anew)

    def _share(self, gone: int) -> float:
        return gone / max(self._table.rows, 1)


# Making, judging and weighing one node of the lattice.


_UNKNOWN = Loss(value=np.inf, coarser=-np.inf, surcharge=0.0)
"""The loss of an infeasible node whose floor is known beforehand."""

_PART = 1e-3
"""Rows are whole: a part of one this small is rounding."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """What was found out about a node."""

    levels: Levels
    """The node."""
    feasible: bool
    """Whether the requirement holds with no more suppression than allowed."""
    hopeless: bool
    """Whether no finer node can be feasible."""
    loss: Loss
    """What the node loses; for an infeasible node only its bounds mean anything."""
    surcharge: float
    """No finer node can lose less than its own floor plus this: what is suppressed here is suppressed there."""
    suppressed: NDArray[np.bool_]
    """Which of the node's classes are suppressed."""
    frequencies: Frequencies
    """The node's classes."""
    rollup: Rollup
    """Where they come from."""

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """Which cells are suppressed."""
        return self.suppressed[self.rollup.ids(self.frequencies)]


class _Price:
    """What suppression may cost at a node that could still be of interest."""

    def __init__(self, loss: Loss | None, most: float) -> None:
        self._rates = None if loss is None else loss.rates
        self._most = most

    def exceeded(self, rows: Reals | NDArray[np.int64]) -> bool:
        """Whether so many rows of each class cost more already."""
        return self._rates is not None and float(self._rates @ rows) >= self._most


class Checker:
    """Judges nodes of one problem and counts them."""

    def __init__(self, problem: Problem) -> None:
        """Nothing is computed yet."""
        self.problem = problem
        self.seen: set[Levels] = set()
        self.suppression = Suppression(problem)
        self.rollup = Rollup(problem.cells, problem.hierarchies, counting=not self.suppression.by_size)
        self.few = FewRows(problem, self.suppression)
        self.costs = problem.floors()
        self._rulers = [[Ruler.at(h, level) for level in range(h.height + 1)] for h in problem.hierarchies]

    @property
    def steps(self) -> int:
        """Steps to judge a node."""
        return self.problem.cells.count

    @cached_property
    def monotone(self) -> bool:
        """Whether a coarser node than a feasible one is feasible, so that predictive tagging is right.

        Without suppression this is what merging keeps. With it, rows that pass must pass in any larger class, or the
        coarser node may have to suppress more; and taking rows out must not harm the others.
        """
        models = self.problem.models
        if not self.suppression.plain or self.suppression.starred:
            return False
        if self.problem.limit == 0:
            return all(model.kept_by_merging for model in models)
        return all(model.kept_by_growth and model.kept_by_removal for model in models)

    def judge(self, levels: Levels, beaten: float = np.inf) -> Judged:
        """Group, judge, suppress what fails, and weigh.

        A node that loses ``beaten`` or more may be called infeasible, where that rules out nothing else.
        """
        self.seen.add(levels)
        frequencies = self.rollup.at(levels)
        small = self.suppression.small(frequencies.sizes)
        lost = np.where(frequencies.sizes < self.few.lasting, frequencies.sizes, 0.0)
        feasible, hidden = self._within(lost), small
        price = None if self.monotone or self.costs is None or not feasible else self._loss(frequencies, small)
        if feasible and not self.suppression.by_size:
            limit = np.inf if price is None else beaten - price.coarser
            feasible, hidden = self._hide(frequencies, small, lost, _Price(price, limit))
        feasible = feasible and not bool(hidden.all())
        hopeless = not feasible if self.monotone else not self._within(lost)
        loss = self._loss(frequencies, hidden) if feasible or self.costs is None else _UNKNOWN
        return Judged(
            levels=levels,
            feasible=feasible,
            hopeless=hopeless,
            loss=loss,
            surcharge=0.0 if hopeless else self._surcharge(frequencies, lost, loss if price is None else price),
            suppressed=hidden,
            frequencies=frequencies,
            rollup=self.rollup,
        )

    def _within(self, lost: Reals) -> bool:
        return float(lost.sum()) <= self.problem.limit + _PART

    def _hide(
        self, frequencies: Frequencies, small: NDArray[np.bool_], lost: Reals, price: _Price
    ) -> tuple[bool, NDArray[np.bool_]]:
        """Take out what the models refuse; histograms are counted only of classes that have the rows to pass.

        Writes down in ``lost`` how many rows of each class no finer node publishes.
        """
        suppression, sizes, limit = self.suppression, frequencies.sizes, self.problem.limit
        if not self.few.complete:
            classes = self.rollup.classes(frequencies, measured=False)
            if self.few.anew and not self.monotone:
                self.few.lost_for_good(classes, lost)
                if not self._within(lost) or price.exceeded(lost):
                    return False, small
            return suppression.hide(classes, small)
        hidden = (sizes < self.few.at_first(int(sizes[small].sum()))) | small
        if int(sizes[hidden].sum()) > limit or hidden.all() or price.exceeded(sizes * hidden):
            return False, hidden
        left = np.flatnonzero(~hidden)
        classes = self.rollup.some(frequencies, ~hidden, small)
        if not self.monotone and not small.any():
            lost[left] = self.few.least_lost(classes)
            if price.exceeded(lost):
                return False, hidden
        failing = suppression.failing(classes, suppression.others)
        hidden[left[failing]] = True
        spent = int(sizes[hidden].sum())
        done = np.array_equal(hidden, small) or all(model.kept_by_removal for model in suppression.others)
        if done or spent > limit or hidden.all() or price.exceeded(sizes * hidden):
            return done and spent <= limit, hidden
        rest = _without(classes, failing)
        feasible, more = suppression.hide(rest, np.zeros(rest.count, np.bool_), spent)
        hidden[~hidden] = more
        return feasible, hidden

    def _surcharge(self, frequencies: Frequencies, lost: Reals, loss: Loss) -> float:
        """What suppression costs every finer node too: all of it where the models are monotone, else what is lost."""
        if self.monotone:
            return loss.surcharge
        if not lost.any():
            return 0.0
        if loss.rates is None:
            return self._loss(frequencies, lost >= frequencies.sizes).surcharge
        return max(float(loss.rates @ lost) * (1 - _ROUNDING), 0.0)

    def _loss(self, frequencies: Frequencies, hidden: NDArray[np.bool_]) -> Loss:
        rulers = tuple(levels[level] for levels, level in zip(self._rulers, frequencies.levels, strict=True))
        metric, target = self.problem.metric, self.problem.target
        classes = self.rollup.light(frequencies, metric.needs, target)
        return metric.loss(View(classes=classes, suppressed=hidden, rulers=rulers, target=target))


def _without(classes: Classes, failing: NDArray[np.int64]) -> Classes:
    """The classes that do not fail, as a table of their own."""
    kept = np.ones(classes.count, np.bool_)
    kept[failing] = False
    left = classes.take(kept)
    return replace(left, tallies={name: replace(tally, whole=None) for name, tally in left.tallies.items()})


# From the node that a search settled on to its answer.


TIE = 1e-12
"""Losses this near to each other, relative to those above 1, are equal."""


def outcome_of(best: Judged, *, proven: bool, effort: Mapping[str, int | float | str]) -> Outcome:
    """A judged node as the algorithm's answer: what is suppressed is told of the cells."""
    return Outcome(
        levels=best.levels,
        suppressed=best.hidden,
        loss=best.loss.value,
        proven=proven,
        effort=effort,
    )


def below(value: float) -> float:
    """A loss under this is really smaller than ``value``."""
    return value - TIE * max(1.0, abs(value))


def finest(checker: Checker, best: Judged, floor: Callable[[Levels], float]) -> Judged:
    """Where a finer node loses no more, take it: nothing is hidden for nothing."""
    while True:
        most = best.loss.value + TIE * max(1.0, abs(best.loss.value))
        judged_nodes = (checker.judge(node) for node in finer(best.levels) if floor(node) <= most)
        better = next(
            (judged_node for judged_node in judged_nodes if judged_node.feasible and judged_node.loss.value <= most),
            None,
        )
        if better is None:
            return best
        best = better


def finer(node: Levels) -> list[Levels]:
    """The nodes one step below, by the column that is lowered.

    >>> finer((1, 0, 2))
    [(0, 0, 2), (1, 0, 1)]
    """
    return [tuple(n - (c == d) for d, n in enumerate(node)) for c in range(len(node)) if node[c]]


# The node that somebody names: one level per column, as the plan says.


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLevels:
    """Release the node that the plan names, if it meets the requirement; nothing is searched.

    Claim: every quasi-identifier is at its named level, and rows whose groups fail are suppressed within the limit.
        Nothing is claimed about the loss.
    """

    levels: Mapping[str, int] = field(default_factory=dict)
    """The level of each quasi-identifier by name; 0 for those that are not named."""

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Judge the one node."""
        node = self._node(problem)
        work.advance("search", 0, 1)
        judged_node = Checker(problem).judge(node)
        if not judged_node.feasible:
            refuse_unreachable(problem)
            raise Infeasible(
                "algorithm.levels: the requirement does not hold at these levels with the suppression that the plan "
                "allows; raise a level, allow more suppression, or let `optimal` find the levels"
            )
        return outcome_of(judged_node, proven=False, effort={"nodes": problem.nodes, "checked": 1})

    def _node(self, problem: Problem) -> Levels:
        names = problem.cells.quasi
        unknown = [name for name in self.levels if name not in names]
        if unknown:
            raise PlanError(f"algorithm.levels: {listed(unknown)} is no quasi-identifier; there are {listed(names)}")
        node = tuple(
            min(level, h.height) if h.open and isinstance(level, int) else level  # a mask hides all beyond its length
            for level, h in zip((self.levels.get(name, 0) for name in names), problem.hierarchies, strict=True)
        )
        for name, level, hierarchy in zip(names, node, problem.hierarchies, strict=True):
            if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= hierarchy.height:
                raise PlanError(f"algorithm.levels.{name} must be a level from 0 to {hierarchy.height}, not {level!r}")
        return node
