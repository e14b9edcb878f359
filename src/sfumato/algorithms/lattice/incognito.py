"""Incognito: every feasible node of the lattice, found by growing subsets of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import get_args

import numpy as np

from sfumato.algorithms.feasibility import refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.nodes import MOST_NODES, Checker, Judged, Space, below, finest, outcome_of
from sfumato.algorithms.lattice.subsets import Columns, Counts, Mask, Subsets, monotone_part
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.arguments import one_of
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasible:
    """All feasible nodes of a lattice, and what it took to know them."""

    nodes: frozenset[Levels]
    """The levels of every feasible node, and of no other."""
    checked: int
    """Nodes judged, those over subsets of the columns included."""
    pruned_by_closure: int
    """Nodes over two or more columns left out because a node over fewer of them is infeasible."""
    tagged: int
    """Candidates known to be feasible because a finer one is."""
    rolled_up: int
    """Frequency sets computed from another node's instead of the table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Feasible:
    """The same with the nodes as an array over the lattice, which is far smaller than their levels."""

    mask: Mask
    effort: dict[str, int]
    strategy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incognito:
    """Find every node that meets the requirement within the suppression limit, and of these the one that loses least.

    Claim: no node of the lattice that meets the requirement has a smaller loss; ``feasible`` in the effort is exactly
        how many meet it.
    How: subset closure. A node can only be feasible if it is so over every subset of its columns, because leaving a
        column out is generalizing it to the top. Subsets grow by one column at a time; nodes over i columns are
        candidates if all their parts over i - 1 columns are feasible. Each subset is walked from below; what is coarser
        than a feasible node is feasible. Where the laws allow this only for some of the models, these prune, and what
        is left over all columns is judged completely; where they allow it for none, every node is judged.
    Cost: the nodes of all subsets in the worst case, the product of levels + 1 over the columns.
    Source: LeFevre, DeWitt, Ramakrishnan 2005; document 000, section 20.3.1.2.
    """

    counts: Counts = "super-roots"
    """Where frequency sets come from; the result is the same."""

    def __post_init__(self) -> None:
        one_of("counts", self.counts, get_args(Counts))

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Search all subsets, then weigh what is feasible."""
        refuse_unreachable(problem)
        result = _search(problem, work, self.counts)
        if not result.mask.any():
            raise Infeasible(why_nothing_fits(problem))
        best, weighed = _least(problem, result.mask)
        effort = {"nodes": result.mask.size, **result.effort, "weighed": weighed, "feasible": int(result.mask.sum())}
        return outcome_of(best, proven=True, effort={**effort, "strategy": result.strategy})


def incognito(problem: Problem, work: Work) -> Outcome:
    """Incognito as it is without options."""
    return Incognito()(problem, work)


def feasible_nodes(problem: Problem, work: Work, counts: Counts = "super-roots") -> Feasible:
    """Every node of the lattice that meets the requirement within the suppression limit, and no other."""
    result = _search(problem, work, counts)
    nodes = frozenset(tuple(node) for node in np.argwhere(result.mask).tolist())
    return Feasible(nodes=nodes, **result.effort)


def _search(problem: Problem, work: Work, counts: Counts) -> _Feasible:
    space = Space(heights=tuple(h.height for h in problem.hierarchies))
    checker, part = Checker(problem), monotone_part(problem)
    if part is None:
        return _judged(checker, work, np.ones(space.shape, np.bool_), {}, "every node: no model allows closure")
    _refuse_too_many(space)
    subsets = Subsets(part, work, counts)
    mask, pruned = _grown(subsets)
    effort = {
        "checked": subsets.checked,
        "pruned_by_closure": pruned,
        "tagged": subsets.tagged,
        "rolled_up": subsets.rolled_up,
    }
    if checker.monotone:
        return _Feasible(mask=mask, effort=effort, strategy="subset closure")
    names = " and ".join(model.name for model in part.models)
    return _judged(checker, work, mask, effort, f"subset closure by {names}, then every node left")


def _grown(subsets: Subsets) -> tuple[Mask, int]:
    """The feasible nodes over all columns, by way of all subsets; also how many nodes the closure left out."""
    known: dict[Columns, Mask] = {(): np.ones((), np.bool_)}
    pruned = 0
    for size in range(1, len(subsets.heights) + 1):
        grown: dict[Columns, Mask] = {}
        for columns in combinations(range(len(subsets.heights)), size):
            candidates = _joined(columns, subsets.shape(columns), known)
            pruned += candidates.size - int(candidates.sum())
            grown[columns] = subsets.feasible(columns, candidates)
        known = grown
    return known[tuple(range(len(subsets.heights)))], pruned


def _joined(columns: Columns, shape: tuple[int, ...], known: dict[Columns, Mask]) -> Mask:
    """Nodes whose parts without any one column are all feasible: the join of two subsets, pruned by the others."""
    candidates = np.ones(shape, np.bool_)
    for axis in range(len(columns)):
        candidates &= np.expand_dims(known[columns[:axis] + columns[axis + 1 :]], axis)
    return candidates


def _judged(checker: Checker, work: Work, candidates: Mask, effort: dict[str, int], strategy: str) -> _Feasible:
    """Judge every candidate completely."""
    mask = np.zeros(candidates.shape, np.bool_)
    nodes = np.argwhere(candidates).tolist()
    for done, node in enumerate(nodes, 1):
        mask[tuple(node)] = checker.judge(tuple(node)).feasible
        work.advance("search", done, len(nodes))
    before = {"checked": 0, "pruned_by_closure": 0, "tagged": 0, "rolled_up": 0, **effort}
    more = {"checked": before["checked"] + len(nodes), "rolled_up": before["rolled_up"] + checker.rollup.rolled}
    return _Feasible(mask=mask, effort={**before, **more}, strategy=strategy)


def _least(problem: Problem, mask: Mask) -> tuple[Judged, int]:
    """The feasible node that loses least, and how many had to be weighed: those that others do not bound away."""
    checker, space = Checker(problem), Space(heights=tuple(h.height for h in problem.hierarchies))
    costs = problem.floors()
    floors = np.zeros(space.shape) if costs is None else space.sums(costs)
    bounds = np.where(mask, floors, np.inf)
    best: Judged | None = None
    while best is None or bounds.min() < below(best.loss.value):
        node = tuple(int(level) for level in np.unravel_index(int(np.argmin(bounds)), space.shape))
        judged_node = checker.judge(node)
        coarser, finer = space.above(node), space.below(node)
        np.maximum(bounds[coarser], judged_node.loss.coarser, out=bounds[coarser])
        np.maximum(bounds[finer], floors[finer] + judged_node.surcharge, out=bounds[finer])
        bounds[node] = np.inf
        if best is None or judged_node.loss.value < below(best.loss.value):
            best = judged_node
    return finest(checker, best, lambda node: float(floors[node])), len(checker.seen)


def _refuse_too_many(space: Space) -> None:
    nodes = prod(levels + 1 for levels in space.shape)
    if nodes > MOST_NODES:
        raise PlanError(
            f"algorithm.name: incognito would walk the lattices of all subsets of {len(space.shape)} quasi-identifiers "
            f"with {nodes:,} nodes and more than {MOST_NODES:,}; use 'optimal', or 'greedy' where that is too large too"
        )
