"""The node that somebody names: one level per column, as the plan says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.ground.errors import Infeasible, PlanError, listed
from sfumato.ground.work import Work
from sfumato.publish.lattice.checker import Checker
from sfumato.publish.lattice.reach import refuse_unreachable
from sfumato.publish.lattice.result import outcome_of
from sfumato.publish.problem import Levels, Outcome, Problem


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
        found = Checker(problem).judge(node)
        if not found.feasible:
            refuse_unreachable(problem)
            raise Infeasible(
                "algorithm.levels: the requirement does not hold at these levels with the suppression that the plan "
                "allows; raise a level, allow more suppression, or let `optimal` find the levels"
            )
        return outcome_of(found, proven=False, effort={"nodes": problem.nodes, "checked": 1})

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
