"""Leaps from the best set of cuts to others that depth-first search would reach much later."""

from __future__ import annotations

import numpy as np

from sfumato.ground.work import Work
from sfumato.publish.k_optimize.best import Best
from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.k_optimize.nodes import Nodes
from sfumato.publish.k_optimize.start import descend

_PARTS = (0.15, 0.3, 0.6, 1.0)
"""How much of the best set is taken back, where not whole columns are."""
_WORSE = 0.003
"""A set that loses so much more is taken as the place of the next leap."""
_VAIN = 6
"""After so many leaps in vain the next is from the best set again."""
_ENOUGH = 200
"""After so many in vain no more are made."""


class Leaps:
    """Takes back a part of the best set, forbids some of it, goes down greedily, and once more with all cuts allowed.

    Depth-first search changes the last cuts first: it may take longer than anybody waits until the first are changed.
    Whatever a leap finds is weighed like any node; it rules out nothing, and only a better set is kept.
    Source: large neighbourhood search, Shaw 1998.
    """

    def __init__(self, nodes: Nodes, best: Best, work: Work) -> None:
        """Nothing is tried yet."""
        self._nodes, self._best, self._work = nodes, best, work
        self._draws = work.chance.generator()
        self._here: Flags | None = None
        self._vain = self._since = self.made = 0

    @property
    def worth_while(self) -> bool:
        """Whether the last leaps were not all in vain."""
        return self._since < _ENOUGH

    def leap(self) -> bool:
        """Try one; tells whether it found a better set."""
        if self._best.head is None:
            return False
        self.made += 1
        known = self._best.loss
        if self._here is None or self._vain >= _VAIN:
            self._here, self._vain = self._best.head, 0
        taken = self._taken(self._here)
        kept = self._here & ~taken
        tail = ~kept & ~(taken & (self._draws.random(len(kept)) < 0.5))
        near = descend(self._nodes, self._nodes.at(kept, tail), self._best, self._work, draws=self._draws)
        found = descend(self._nodes, self._nodes.at(near, ~near), self._best, self._work)
        better = self._best.loss < known
        self._vain, self._since = (0, 0) if better else (self._vain + 1, self._since + 1)
        loss = self._nodes.loss(self._nodes.at(found, self._nodes.none()))
        if loss <= known + _WORSE * abs(known):
            self._here = found
        return better

    def _taken(self, head: Flags) -> Flags:
        """The cuts of one or two columns, or some of all."""
        cuts, kind = self._nodes.cuts, int(self._draws.integers(2 + len(_PARTS)))
        if kind >= 2:
            return head & (self._draws.random(len(head)) < _PARTS[kind - 2])
        columns = self._draws.permutation(cuts.columns)[: kind + 1]
        taken = np.zeros_like(head)
        for column in columns.tolist():
            taken[cuts.starts[column] : cuts.starts[column + 1]] = True
        return head & taken
