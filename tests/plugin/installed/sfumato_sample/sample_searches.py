"""A search with an option, and the same as a plain function."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.algorithms.feasibility import refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.nodes import Checker, outcome_of
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.arguments import at_least
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Stairs:
    """Raise all columns together, a level at a time, until the requirement holds."""

    first: int = 0

    def __post_init__(self) -> None:
        at_least("first", self.first, 0)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        refuse_unreachable(problem)
        checker, heights = Checker(problem), [h.height for h in problem.hierarchies]
        for level in range(self.first, max(heights, default=0) + 1):
            found = checker.judge(tuple(min(level, height) for height in heights))
            if found.feasible:
                return outcome_of(found, proven=False, effort={"level": level})
        raise Infeasible(why_nothing_fits(problem))


def staircase(problem: Problem, work: Work) -> Outcome:
    return Stairs()(problem, work)
