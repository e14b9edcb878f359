"""The columns of a problem as trees to be cut from the root downwards."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.publish.problem import Problem
from sfumato.publish.top_down.grown_column import GrownColumn
from sfumato.publish.top_down.splits import Counted, Score
from sfumato.publish.top_down.tree_column import TreeColumn

Column = TreeColumn | GrownColumn


def columns(problem: Problem, score: Score, counted: Sequence[Counted]) -> tuple[Column, ...]:
    """The columns, all at the root; intervals are grown where a number has nothing but the top above it."""
    found: list[Column] = []
    for place, (hierarchy, mine) in enumerate(zip(problem.hierarchies, counted, strict=True)):
        numbers = problem.number(place)
        if numbers is not None and hierarchy.height == 1:
            found.append(GrownColumn(hierarchy, mine, numbers, score))
        else:
            found.append(TreeColumn(hierarchy, mine))
    return tuple(found)
