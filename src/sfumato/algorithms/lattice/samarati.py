"""Samarati's search: the lowest height of the lattice at which some node is feasible, by halving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import prod

from sfumato.algorithms.feasibility import refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.nodes import Checker, Judged, below, outcome_of
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import Height


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Minimal:
    """All feasible nodes at the lowest height that has any."""

    height: int
    """The sum of their levels."""
    nodes: tuple[Levels, ...]
    """Every one of them, in lexicographic order."""
    best: Judged
    """The first of those that lose least."""
    checked: int
    """Nodes judged."""
    strategy: str
    """How the height was found."""


def samarati(problem: Problem, work: Work) -> Outcome:
    """Find every feasible node of the least height, and of these the one that loses least.

    Claim: no node with a smaller sum of levels is feasible, and no feasible node with the same sum loses less. It is
        not the least loss of the lattice: a higher node may lose less, so only the metric height is proven.
    How: halving over the heights, which is right where every node above a feasible one is feasible. Where that is not
        so, every height is examined from below until one has a feasible node.
    Cost: every node of each height that has no feasible one and is tried; nodes are made as they are needed.
    Source: Samarati 2001; document 000, section 20.3.1.1; erratum 18.
    """
    refuse_unreachable(problem)
    result = minimal_nodes(problem, work)
    effort: dict[str, int | float | str] = {
        "nodes": problem.nodes,
        "checked": result.checked,
        "height": result.height,
        "minimal_nodes": len(result.nodes),
        "strategy": result.strategy,
    }
    return outcome_of(result.best, proven=isinstance(problem.metric, Height), effort=effort)


def minimal_nodes(problem: Problem, work: Work) -> Minimal:
    """Every feasible node of the least height; ``Infeasible`` where no node is feasible."""
    search = _Search(problem, work)
    monotone = search.checker.monotone
    height, feasible_nodes = search.halve() if monotone else search.rise()
    levels, best = [], None
    for judged_node in feasible_nodes:
        levels.append(judged_node.levels)
        best = judged_node if best is None or judged_node.loss.value < below(best.loss.value) else best
    if best is None:
        raise Infeasible(why_nothing_fits(problem))
    return Minimal(
        height=height,
        nodes=tuple(levels),
        best=best,
        checked=len(search.checker.seen),
        strategy="halving the height" if monotone else "every height from below: the models are not monotone",
    )


class _Search:
    """Looks at heights of one lattice."""

    def __init__(self, problem: Problem, work: Work) -> None:
        self.checker = Checker(problem)
        self.work = work
        self.heights = tuple(h.height for h in problem.hierarchies)

    def halve(self) -> tuple[int, Iterator[Judged]]:
        """The lowest height with a feasible node, if the top is feasible, and its feasible nodes."""
        low, high = 0, sum(self.heights)
        feasible_nodes = self._feasible(high)
        while low < high:
            middle = (low + high) // 2
            here = self._feasible(middle)
            first = next(here, None)
            if first is None:
                low = middle + 1
            else:
                high, feasible_nodes = middle, chain([first], here)
        return high, feasible_nodes

    def rise(self) -> tuple[int, Iterator[Judged]]:
        """The same by looking at every height from below."""
        for height in range(sum(self.heights) + 1):
            here = self._feasible(height)
            if (first := next(here, None)) is not None:
                return height, chain([first], here)
        return 0, iter(())

    def _feasible(self, height: int) -> Iterator[Judged]:
        total = prod(level + 1 for level in self.heights)
        for node in nodes_at(self.heights, height):
            if (judged_node := self.checker.judge(node)).feasible:
                yield judged_node
            if self.work.due:
                self.work.advance("search", len(self.checker.seen), total)


def nodes_at(heights: Levels, height: int) -> Iterator[Levels]:
    """The nodes whose levels sum to ``height``, in lexicographic order, made one by one.

    >>> list(nodes_at((1, 2), 2))
    [(0, 2), (1, 1)]
    """
    if not heights:
        if height == 0:
            yield ()
        return
    rest = sum(heights[1:])
    for level in range(max(0, height - rest), min(heights[0], height) + 1):
        for tail in nodes_at(heights[1:], height - level):
            yield (level, *tail)
