"""Making, judging and weighing one node of the lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.models.judge import judge
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.verdict import Model
from sfumato.publish.lattice.frequencies import Frequencies, Rollup
from sfumato.publish.problem import Levels, Problem
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
        self._least = asked_k(problem.models)
        self._others = tuple(m for m in problem.models if not isinstance(m, KAnonymity))
        self.costs = problem.floors()
        self._rulers = [[Ruler.at(h, level) for level in range(h.height + 1)] for h in problem.hierarchies]
        self._plain = _judged_alone(problem)

    @cached_property
    def monotone(self) -> bool:
        """Whether a coarser node than a feasible one is feasible, so that predictive tagging is right.

        Without suppression this is what merging keeps. With it, rows that pass must pass in any larger class, or the
        coarser node may have to suppress more; and taking rows out must not harm the others.
        """
        models = self.problem.models
        if not self._plain or (self.problem.suppressed == "star" and not self.problem.exempt and self.problem.limit):
            return False
        if self.problem.limit == 0:
            return all(model.kept_by_merging for model in models)
        return all(model.kept_by_growth and model.kept_by_removal for model in models)

    def judge(self, levels: Levels) -> Judged:
        """Group, judge, suppress what fails, and weigh."""
        self.seen.add(levels)
        found = self.rollup.at(levels)
        small = found.sizes < self._least if self._plain else np.zeros(len(found.sizes), np.bool_)
        classes: Classes | None = None
        feasible = int(found.sizes[small].sum()) <= self.problem.limit
        hidden = small
        if feasible and (self._others or not self._plain or self.problem.suppressed == "star"):
            classes = self.rollup.classes(found)
            feasible, hidden = self._hide(classes, small)
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

    def _hide(self, classes: Classes, hidden: NDArray[np.bool_]) -> tuple[bool, NDArray[np.bool_]]:
        """Take out failing classes until none is left; tells whether that stays within the limit."""
        models = self._others if self._plain else self.problem.models
        hidden = hidden.copy()
        while True:
            left = np.flatnonzero(~hidden)
            if not len(left):
                return False, hidden
            shown = classes.take(~hidden) if len(left) < classes.count else classes
            failing = self._failing(shown, models)
            hidden[left[failing]] = True
            if int(classes.sizes[hidden].sum()) > self.problem.limit:
                return False, hidden
            if not len(failing):
                return self._star_passes(classes, hidden), hidden
            if self._plain:
                models = tuple(m for m in models if not m.kept_by_removal)

    def _failing(self, shown: Classes, models: tuple[Model, ...]) -> NDArray[np.int64]:
        """Every class that some model refuses; stops early when that is already too much."""
        failing = np.zeros(0, np.int64)
        for model in models:
            failing = np.union1d(failing, judge(model, shown, self.problem.reading).failing)
            if int(shown.sizes[failing].sum()) > self.problem.limit:
                break
        return failing

    def _star_passes(self, classes: Classes, hidden: NDArray[np.bool_]) -> bool:
        """Whether the group of suppressed rows, where it is published, meets the requirement too."""
        if self.problem.suppressed == "remove" or self.problem.exempt or not hidden.any():
            return True
        starred = classes.starred(hidden)
        return all(judge(model, starred, self.problem.reading).holds for model in self.problem.models)

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


def _judged_alone(problem: Problem) -> bool:
    """Whether each class is judged by its own rows, and not by others that an unknown value makes it match."""
    if not any(h.missing is not None for h in problem.hierarchies) or problem.reading == "value":
        return True
    return problem.reading == "strict" and all(model.kept_by_merging for model in problem.models)
