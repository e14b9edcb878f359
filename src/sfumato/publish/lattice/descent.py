"""Going down from a node as long as that is feasible and loses less, without ever holding the lattice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.ground.work import Work
from sfumato.publish.lattice.checker import Checker, Judged
from sfumato.publish.lattice.result import below, finer
from sfumato.publish.problem import Levels, Problem

_REMEMBERED = 4096
_KNOWN = 2**18


class Descent:
    """Steepest descent in one lattice; remembers what is ruled out, in bounded memory."""

    def __init__(self, problem: Problem, work: Work, least: Levels) -> None:
        """``least`` is a level for each column below which nothing is feasible."""
        self.checker = Checker(problem)
        self.work = work
        self.least = least
        self.costs = self.checker.costs
        self.best: Judged | None = None
        self._losses: dict[Levels, float] = {}
        self._hopeless = np.full((1, len(least)), -1, np.int32)

    def floor(self, node: Levels) -> float:
        """The node cannot lose less than this."""
        return 0.0 if self.costs is None else sum(float(c[n]) for c, n in zip(self.costs, node, strict=True))

    def loss(self, node: Levels) -> float:
        """What a node loses, infinite where it is infeasible; a node is judged once as long as it is remembered."""
        if node in self._losses:
            return self._losses[node]
        if self._ruled_out(node):
            return np.inf
        self.work.spend(self.checker.steps)
        found = self.checker.judge(node)
        self.work.advance("search", len(self.checker.seen), len(self.checker.seen) + 1)
        value = found.loss.value if found.feasible else np.inf
        if found.feasible and (self.best is None or value < below(self.best.loss.value)):
            self.best = found
        self._remember(found, value)
        return value

    def run(self, node: Levels, value: float, *, held: int | None = None) -> tuple[Levels, float]:
        """Step to the finer neighbour that loses least until none loses less; the column ``held`` is not lowered first.

        A neighbour that loses just as much is taken too: nothing is hidden for nothing.
        """
        while not self.work.expired:
            step = self._steepest(node, value, held)
            if step is None:
                break
            node, value, held = step[0], step[1], None
        return node, value

    def _steepest(self, node: Levels, value: float, held: int | None) -> tuple[Levels, float] | None:
        best: tuple[Levels, float] | None = None
        for floor, child in sorted((self.floor(child), child) for child in self._children(node, held)):
            least = value if best is None else best[1]
            if floor > least or self.work.expired:
                break
            found = self.loss(child)
            if np.isfinite(found) and (found <= least if best is None else found < least):
                best = child, found
        return best

    def _children(self, node: Levels, held: int | None) -> Sequence[Levels]:
        return [
            child
            for child in finer(node)
            if all(n >= low for n, low in zip(child, self.least, strict=True))
            and (held is None or child[held] == node[held])
        ]

    def _ruled_out(self, node: Levels) -> bool:
        return bool((self._hopeless >= np.array(node, np.int32)).all(axis=1).any())

    def _remember(self, found: Judged, value: float) -> None:
        if len(self._losses) < _KNOWN:
            self._losses[found.levels] = value
        if found.hopeless:
            here = np.array([found.levels], np.int32)
            kept = self._hopeless[~(self._hopeless <= here).all(axis=1)][-_REMEMBERED:]
            self._hopeless = np.concatenate([kept, here])
