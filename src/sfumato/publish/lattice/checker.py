"""Making, judging and weighing one node of the lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.publish.lattice.few_rows import FewRows
from sfumato.publish.lattice.frequencies import Frequencies, Rollup
from sfumato.publish.problem import Levels, Problem
from sfumato.publish.suppression import Suppression
from sfumato.utility.view import Loss, Reals, Ruler, View

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
        found = self.rollup.at(levels)
        small = self.suppression.small(found.sizes)
        lost = np.where(found.sizes < self.few.lasting, found.sizes, 0.0)
        feasible, hidden = self._within(lost), small
        price = None if self.monotone or self.costs is None or not feasible else self._loss(found, small)
        if feasible and not self.suppression.by_size:
            limit = np.inf if price is None else beaten - price.coarser
            feasible, hidden = self._hide(found, small, lost, _Price(price, limit))
        feasible = feasible and not bool(hidden.all())
        hopeless = not feasible if self.monotone else not self._within(lost)
        loss = self._loss(found, hidden) if feasible or self.costs is None else _UNKNOWN
        return Judged(
            levels=levels,
            feasible=feasible,
            hopeless=hopeless,
            loss=loss,
            surcharge=0.0 if hopeless else self._surcharge(found, lost, loss if price is None else price),
            suppressed=hidden,
            frequencies=found,
            rollup=self.rollup,
        )

    def _within(self, lost: Reals) -> bool:
        return float(lost.sum()) <= self.problem.limit + _PART

    def _hide(
        self, found: Frequencies, small: NDArray[np.bool_], lost: Reals, price: _Price
    ) -> tuple[bool, NDArray[np.bool_]]:
        """Take out what the models refuse; histograms are counted only of classes that have the rows to pass.

        Writes down in ``lost`` how many rows of each class no finer node publishes.
        """
        suppression, sizes, limit = self.suppression, found.sizes, self.problem.limit
        if not self.few.complete:
            classes = self.rollup.classes(found, measured=False)
            if self.few.anew and not self.monotone:
                self.few.lost_for_good(classes, lost)
                if not self._within(lost) or price.exceeded(lost):
                    return False, small
            return suppression.hide(classes, small)
        hidden = (sizes < self.few.at_first(int(sizes[small].sum()))) | small
        if int(sizes[hidden].sum()) > limit or hidden.all() or price.exceeded(sizes * hidden):
            return False, hidden
        left = np.flatnonzero(~hidden)
        classes = self.rollup.some(found, ~hidden, small)
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

    def _surcharge(self, found: Frequencies, lost: Reals, loss: Loss) -> float:
        """What suppression costs every finer node too: all of it where the models are monotone, else what is lost."""
        if self.monotone:
            return loss.surcharge
        if not lost.any():
            return 0.0
        if loss.rates is None:
            return self._loss(found, lost >= found.sizes).surcharge
        return max(float(loss.rates @ lost) * (1 - _ROUNDING), 0.0)

    def _loss(self, found: Frequencies, hidden: NDArray[np.bool_]) -> Loss:
        rulers = tuple(levels[level] for levels, level in zip(self._rulers, found.levels, strict=True))
        metric, target = self.problem.metric, self.problem.target
        classes = self.rollup.light(found, metric.needs, target)
        return metric.loss(View(classes=classes, suppressed=hidden, rulers=rulers, target=target))


def _without(classes: Classes, failing: NDArray[np.int64]) -> Classes:
    """The classes that do not fail, as a table of their own."""
    kept = np.ones(classes.count, np.bool_)
    kept[failing] = False
    left = classes.take(kept)
    return replace(left, tallies={name: replace(tally, whole=None) for name, tally in left.tallies.items()})
