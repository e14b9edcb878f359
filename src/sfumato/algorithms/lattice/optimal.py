"""The globally optimal full-domain generalization, for any model and any metric."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.feasibility import refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.nodes import Checker, Judged, Space, below, finest, outcome_of
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work


def optimal(problem: Problem, work: Work) -> Outcome:
    """Find the node that loses least among all that meet the requirement within the suppression limit.

    Claim: no node of the lattice that meets the requirement has a smaller loss.
    How: nodes are taken by the smallest loss they can still have, each with a way from it to the top that is searched
        by halving, or from above where suppression has a price. Where the models' laws allow it, an infeasible node
        rules out everything finer, and what suppression costs at a feasible one is a bound for everything finer; where
        they do not, only rows in classes smaller than k rule out or bound anything. A node whose bound reaches the best
        loss found is never grouped.
    Cost: grows with the number of distinct cells times the number of nodes checked; rows do not matter.
    Source: predictive tagging as in Kohlmayer et al. 2012 (Flash); roll-up as in LeFevre et al. 2005 (Incognito).
    """
    refuse_unreachable(problem)
    search = _Search(problem, work)
    search.run()
    if search.best is None:
        raise Infeasible(why_nothing_fits(problem))
    best = finest(search.checker, search.best, lambda node: float(search.floors[node]))
    return outcome_of(best, proven=True, effort=search.effort())


class _Search:
    """The state of one search: what each node can still lose, and the best node so far."""

    def __init__(self, problem: Problem, work: Work) -> None:
        self.checker = Checker(problem)
        self.work = work
        self.space = Space(heights=tuple(h.height for h in problem.hierarchies))
        costs = self.checker.costs
        steps = [np.linspace(0.0, 1.0, height + 1) for height in self.space.heights]
        self.costs = steps if costs is None else costs
        self.floors = np.zeros(self.space.shape) if costs is None else self.space.sums(costs)
        self.open = self.floors.copy()
        self.best: Judged | None = None
        self.hopeless: dict[Levels, bool] = {}

    def run(self) -> None:
        """Until no open node can beat the best."""
        walk = self._descend if self.checker.problem.limit else self._halve
        while (node := self._next()) is not None:
            walk(self.space.chain(node, self.costs))
            if self.work.due:
                self.work.advance("search", int((self.open >= self._beaten).sum()), self.space.nodes)

    def effort(self) -> dict[str, int | str]:
        """What the search did."""
        checked = len(self.checker.seen)
        return {
            "nodes": self.space.nodes,
            "checked": checked,
            "skipped": self.space.nodes - checked,
            "rolled_up": self.checker.rollup.rolled,
            "strategy": "predictive tagging" if self.checker.monotone else "full search with bounds",
        }

    @property
    def _beaten(self) -> float:
        """A node that cannot lose less than this is of no interest."""
        return np.inf if self.best is None else below(self.best.loss.value)

    def _next(self) -> Levels | None:
        place = int(np.argmin(self.open))
        node = tuple(int(level) for level in np.unravel_index(place, self.space.shape))
        return node if self.open[node] < self._beaten else None

    def _halve(self, way: list[Levels]) -> None:
        """Find the first node of a way to the top that is not hopeless, as far as finer ones can still win."""
        low, high = 0, len(way) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._hopeless(way[middle]):
                low = middle + 1
            else:
                high = self._winnable(way, low, middle - 1)

    def _descend(self, way: list[Levels]) -> None:
        """Go down a way from the coarsest node that can still win, until one is hopeless or finer ones cannot win."""
        place = next((p for p in range(len(way) - 1, 0, -1) if self.floors[way[p]] < self._beaten), 0)
        while place >= 0 and not self._hopeless(way[place]):
            place = self._winnable(way, 0, place - 1)

    def _winnable(self, way: list[Levels], low: int, high: int) -> int:
        """The coarsest place up to ``high`` that can still win; below ``low`` where there is none."""
        while high >= low and self.open[way[high]] >= self._beaten:
            high -= 1
        return high

    def _hopeless(self, node: Levels) -> bool:
        """Judge a node once, write down what follows for others, and tell whether finer ones are ruled out."""
        if node in self.hopeless:
            return self.hopeless[node]
        self.work.spend(self.checker.steps)
        judged_node = self.checker.judge(node, self._beaten)
        self.hopeless[node] = judged_node.hopeless
        self._bound(judged_node)
        self.open[node] = np.inf
        if judged_node.feasible and judged_node.loss.value < self._beaten:
            self.best = judged_node
        return judged_node.hopeless

    def _bound(self, judged_node: Judged) -> None:
        """Coarser nodes lose no less; finer ones fail too, or pay at least the same for suppression."""
        above, finer = self.space.above(judged_node.levels), self.space.below(judged_node.levels)
        np.maximum(self.open[above], judged_node.loss.coarser, out=self.open[above])
        if judged_node.hopeless:
            self.open[finer] = np.inf
        elif judged_node.surcharge:
            np.maximum(self.open[finer], self.floors[finer] + judged_node.surcharge, out=self.open[finer])
