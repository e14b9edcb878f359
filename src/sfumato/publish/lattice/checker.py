"""Making, judging and weighing one node of the lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.publish.lattice.frequencies import Frequencies, Rollup
from sfumato.publish.problem import Levels, Problem
from sfumato.publish.suppression import Suppression
from sfumato.utility.view import Loss, Ruler, View

_UNKNOWN = Loss(value=np.inf, coarser=-np.inf, surcharge=0.0)
"""The loss of an infeasible node whose floor is known beforehand."""


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


class Checker:
    """Judges nodes of one problem and counts them."""

    def __init__(self, problem: Problem) -> None:
        """Nothing is computed yet."""
        self.problem = problem
        self.rollup = Rollup(problem.cells, problem.hierarchies)
        self.seen: set[Levels] = set()
        self.suppression = Suppression(problem)
        self.costs = problem.floors()
        self._rulers = [[Ruler.at(h, level) for level in range(h.height + 1)] for h in problem.hierarchies]

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

    def judge(self, levels: Levels) -> Judged:
        """Group, judge, suppress what fails, and weigh."""
        self.seen.add(levels)
        found = self.rollup.at(levels)
        small = self.suppression.small(found.sizes)
        classes: Classes | None = None
        feasible = int(found.sizes[small].sum()) <= self.problem.limit
        hidden = small
        if feasible and not self.suppression.by_size:
            classes = self.rollup.classes(found)
            feasible, hidden = self.suppression.hide(classes, small)
        feasible = feasible and not bool(hidden.all())
        hopeless = not feasible if self.monotone else int(found.sizes[small].sum()) > self.problem.limit
        loss = self._loss(found, hidden, classes) if feasible or self.costs is None else _UNKNOWN
        return Judged(
            levels=levels,
            feasible=feasible,
            hopeless=hopeless,
            loss=loss,
            surcharge=0.0 if hopeless else self._surcharge(found, small, loss),
            suppressed=hidden,
            frequencies=found,
        )

    def _surcharge(self, found: Frequencies, small: NDArray[np.bool_], loss: Loss) -> float:
        """What suppression costs every finer node too: all of it where the models are monotone, else small classes."""
        if self.monotone:
            return loss.surcharge
        return self._loss(found, small, None).surcharge if small.any() else 0.0

    def _loss(self, found: Frequencies, hidden: NDArray[np.bool_], classes: Classes | None) -> Loss:
        rulers = tuple(levels[level] for levels, level in zip(self._rulers, found.levels, strict=True))
        if classes is None:
            classes = self._light(found)
        return self.problem.metric.loss(
            View(classes=classes, suppressed=hidden, rulers=rulers, target=self.problem.target)
        )

    def _light(self, found: Frequencies) -> Classes:
        """The node's classes with only what metrics read: sizes, measures and the target's histogram."""
        cells, needs = self.problem.cells, self.problem.metric.needs
        target = self.problem.target if "target" in needs else None
        narrow = replace(
            cells,
            tallies={} if target is None else {target: cells.tally(target)},
            measures={name: cells.measures[name] for name in needs if name in cells.measures},
            population=None,
        )
        labels = tuple(h.levels[level].labels for h, level in zip(self.problem.hierarchies, found.levels, strict=True))
        return narrow.merged(found.keys, labels, found.ids, len(found.sizes))
