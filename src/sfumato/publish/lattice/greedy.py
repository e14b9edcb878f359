"""A search for lattices that are too large to prove anything: it goes down, and looks around where it ends."""

from __future__ import annotations

import numpy as np

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.publish.lattice.bounds import lower_bound, needed
from sfumato.publish.lattice.datafly import climb, why_no_way_fits
from sfumato.publish.lattice.descent import Descent
from sfumato.publish.lattice.reach import refuse_unreachable, why_nothing_fits
from sfumato.publish.lattice.result import outcome_of
from sfumato.publish.problem import Levels, Outcome, Problem

WIDTH = 16
"""How many of the best ends are looked around."""


def greedy(problem: Problem, work: Work) -> Outcome:
    """Find a node that meets the requirement and loses little, however large the lattice is.

    Claim: the result meets the requirement within the suppression limit, and loses at most ``gap`` more than the best
        node of the lattice: no feasible node loses less than ``lower_bound``.
    How: steepest descent from the top and from Datafly's node to ends where no column can be lowered. Around the best
        ends, each column in turn is raised by a level and the others are lowered. It stops when the best ends known
        have all been looked around, or when the time is over; it is as good as any answer when stopped.
    Cost: a few nodes per column and step. Nothing grows with the number of nodes.
    """
    refuse_unreachable(problem)
    search = _Search(problem, work)
    search.start()
    bound = lower_bound(problem, search.needed, work)
    search.explore()
    best = search.descent.best
    if best is None:
        monotone = search.descent.checker.monotone
        raise Infeasible(why_nothing_fits(problem) if monotone else why_no_way_fits(problem, "greedy"))
    bound = min(bound, best.loss.value)
    effort: dict[str, int | float | str] = {
        "nodes": problem.nodes,
        "checked": len(search.descent.checker.seen),
        "looked_around": len(search.expanded),
        "lower_bound": bound,
        "gap": best.loss.value - bound,
        "stopped": "local optimum",
    }
    return outcome_of(best, proven=False, effort=work.told(effort))


class _Search:
    """The ends of descents found so far, and which of them have been looked around."""

    def __init__(self, problem: Problem, work: Work) -> None:
        self.needed = needed(problem, work)
        self.descent = Descent(problem, work, self.needed.least)
        self.heights: Levels = tuple(h.height for h in problem.hierarchies)
        self.work = work
        self.ends: list[tuple[float, Levels]] = []
        self.expanded: set[Levels] = set()

    def start(self) -> None:
        """Go down from the top and from where Datafly stops."""
        self._down(self.heights)
        if self.work.expired and self.ends:
            return
        found = next((one.levels for one in climb(self.descent.checker, self.work) if one.feasible), None)
        if found is not None:
            self._down(found)

    def explore(self) -> None:
        """Look around the best end that has not been looked around, until there is none."""
        while not self.work.expired:
            open_ends = [end for _, end in self.ends if end not in self.expanded]
            if not open_ends:
                return
            self.expanded.add(open_ends[0])
            self._around(open_ends[0])

    def _around(self, end: Levels) -> None:
        """Raise each column by a level, then go down by the others."""
        for column, level in enumerate(end):
            if level < self.heights[column] and not self.work.expired:
                higher = tuple(n + (c == column) for c, n in enumerate(end))
                self._keep(*self.descent.run(higher, np.inf, held=column))

    def _down(self, node: Levels) -> None:
        value = self.descent.loss(node)
        if np.isfinite(value):
            self._keep(*self.descent.run(node, value))

    def _keep(self, node: Levels, value: float) -> None:
        """Keep an end if it is among the best."""
        if np.isfinite(value) and (value, node) not in self.ends:
            self.ends = sorted([*self.ends, (value, node)])[:WIDTH]
