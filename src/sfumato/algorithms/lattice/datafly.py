"""Datafly: generalize the column with the most distinct values until few enough rows are left over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.algorithms.feasibility import described, refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.frequencies import Frequencies
from sfumato.algorithms.lattice.nodes import Checker, Judged, outcome_of
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work


def datafly(problem: Problem, work: Work) -> Outcome:
    """Climb from the original table, a level of the column with the most distinct values at a time, until it will do.

    Claim: the result meets the requirement within the suppression limit. Nothing is claimed about its loss.
    How: a node is judged; if it fails, the column that shows the most distinct values there is generalized by one
        level (the first of several), and so on up to the top. What still fails within the limit is suppressed.
    Cost: at most one node per level of every column.
    Source: Sweeney 1998, 2002.
    """
    refuse_unreachable(problem)
    checker = Checker(problem)
    feasible_node = next((judged_node for judged_node in climb(checker, work) if judged_node.feasible), None)
    if feasible_node is None:
        raise Infeasible(why_nothing_fits(problem) if checker.monotone else why_no_way_fits(problem, "datafly"))
    effort: dict[str, int | float | str] = {
        "nodes": problem.nodes,
        "checked": len(checker.seen),
        "steps": sum(feasible_node.levels),
        "strategy": "most distinct values first",
    }
    return outcome_of(feasible_node, proven=False, effort=effort)


def climb(checker: Checker, work: Work) -> Iterator[Judged]:
    """Every node of the way from the original table to the top, each judged when it is asked for."""
    heights = tuple(h.height for h in checker.problem.hierarchies)
    node: Levels | None = (0,) * len(heights)
    while node is not None:
        work.spend(checker.steps)
        judged_node = checker.judge(node)
        work.advance("search", sum(node), sum(heights))
        yield judged_node
        node = _next(judged_node.frequencies, heights)


def _next(here: Frequencies, heights: Levels) -> Levels | None:
    """One level more for the column with the most distinct values; None at the top."""
    columns = [c for c, level in enumerate(here.levels) if level < heights[c]]
    if not columns:
        return None
    most = max(columns, key=lambda c: (len(np.unique(here.keys[c])), -c))
    return tuple(level + (c == most) for c, level in enumerate(here.levels))


def why_no_way_fits(problem: Problem, name: str) -> str:
    """The message when a heuristic ends at the top in vain, but other nodes may be feasible."""
    goal = " and ".join(described(model) for model in problem.models)
    return (
        f"{name} found no generalization that meets {goal}: the fully generalized table fails, and with these models "
        "a finer one may pass all the same. Use algorithm.name = 'optimal', which rules out or judges every one."
    )
