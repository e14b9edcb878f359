"""The part of a requirement that can rule nodes out, and a problem seen from one of its nodes."""

from __future__ import annotations

from dataclasses import replace

from sfumato.describe.hierarchy import Hierarchy
from sfumato.models.verdict import Model
from sfumato.publish.lattice.checker import Checker
from sfumato.publish.problem import Levels, Problem
from sfumato.utility.cell_metrics import Height


def monotone_part(problem: Problem) -> Problem | None:
    """The same table with only the models by which every coarser node than a feasible one is feasible.

    Claim: a node that is feasible for the whole problem is feasible for the part, and so is every coarser node. Where
        the whole problem is monotone, the part is feasible at the same nodes.
    How: without suppression the models that merging keeps; with it those that growth and removal keep. What these
        suppress is suppressed by the whole requirement too. The group of suppressed rows is not judged. None where no
        model is left, or under the wildcard reading of missing quasi-identifiers.
    """
    models = tuple(model for model in problem.models if _kept(model, suppressing=problem.limit > 0))
    columns = {column for model in models for column in model.columns}
    tallies = {name: tally for name, tally in problem.cells.tallies.items() if name in columns}
    part = replace(
        problem,
        cells=replace(problem.cells, tallies=tallies, measures={}),
        models=models,
        metric=Height(),
        target=None,
        suppressed="remove",
    )
    return part if models and Checker(part).monotone else None


def _kept(model: Model, *, suppressing: bool) -> bool:
    return model.kept_by_growth and model.kept_by_removal if suppressing else model.kept_by_merging


def raised(problem: Problem, root: Levels) -> Problem:
    """The problem with one node as its table: the node's classes are the cells, its levels the lowest ones."""
    chosen = [h.levels[n] for h, n in zip(problem.hierarchies, root, strict=True)]
    cells, _ = problem.cells.recoded([level.parent for level in chosen], [level.labels for level in chosen])
    hierarchies = tuple(_from(h, n) for h, n in zip(problem.hierarchies, root, strict=True))
    return replace(problem, cells=cells, hierarchies=hierarchies)


def _from(hierarchy: Hierarchy, root: int) -> Hierarchy:
    """The levels from ``root`` on."""
    if not root:
        return hierarchy
    levels = tuple(
        replace(level, parent=hierarchy.lift(root, root + n)) for n, level in enumerate(hierarchy.levels[root:])
    )
    missing = None if hierarchy.missing is None else int(hierarchy.levels[root].parent[hierarchy.missing])
    return replace(hierarchy, levels=levels, missing=missing)
