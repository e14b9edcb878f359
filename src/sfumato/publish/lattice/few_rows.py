"""How many rows of a node are lost at every finer node too, before or after its histograms are counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.classes import Classes
from sfumato.models.verdict import LeastLost, LeastRows, LostForGood
from sfumato.publish.problem import Problem
from sfumato.publish.suppression import Suppression


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
