"""Which algorithm ``auto`` stands for, by size, metric and models, and why."""

from __future__ import annotations

from sfumato.publish.lattice.space import MOST_NODES
from sfumato.publish.problem import Problem

_UNBOUNDED = 200_000
"""The most nodes for an optimum by a metric whose loss is not a sum over columns: most of them must be judged."""


def chosen(problem: Problem) -> tuple[str, str]:
    """What ``auto`` stands for, and why.

    The optimum comes first: it is proven, and a value reads the same in every row. Where it cannot be had, Mondrian
    loses least in seconds, if the models judge groups one by one; for the others there is the greedy search.
    """
    name = problem.metric.name
    most = MOST_NODES if problem.floors() is not None else _UNBOUNDED
    if problem.nodes <= most:
        return "optimal", (
            f"Chosen by auto: the optimal search can prove its result, for {name} and these models, on a lattice of at "
            f"most {most:,} nodes, and a value reads the same in every row."
        )
    why = f"Chosen by auto: the lattice has more than the {most:,} nodes that an optimum by {name} "
    whole = [m.name for m in problem.models if m.counts_anew or not m.kept_by_merging]
    if whole or problem.cells.population is not None:
        asks = f"{whole[0]} judges" if whole else "a population is counted with"
        return "greedy", f"{why}can be proven for; {asks} the whole table, which a full-domain search keeps."
    return "mondrian", f"{why}can be proven for, and the models judge groups one by one."
