"""Cell suppression on top of a global recoding: rows that it sets aside come back with some cells as ``*``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.arguments import between, one_of
from sfumato.ground.errors import Infeasible
from sfumato.ground.shares import rows_within
from sfumato.ground.work import Work
from sfumato.publish.labels import levelled
from sfumato.publish.lattice.datafly import datafly
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.incognito import incognito
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.reach import refuse_models, why_nothing_fits
from sfumato.publish.lattice.samarati import samarati
from sfumato.publish.local.ascending import ascend, costs_of
from sfumato.publish.local.groups import Groups
from sfumato.publish.problem import Levels, Outcome, Problem

Base = Literal["optimal", "samarati", "incognito", "datafly", "greedy"]
_BASES: dict[str, Callable[[Problem, Work], Outcome]] = {
    "optimal": optimal,
    "samarati": samarati,
    "incognito": incognito,
    "datafly": datafly,
    "greedy": greedy,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSuppression:
    """Recode all rows to one node, and suppress single cells of the rows that are still too few.

    Claim: every class meets every model; every cell shows the label of its column's one level, or ``*``.
    How: a full-domain search may set ``aside`` a share of the rows instead of suppressing them. These are grouped
        again with some columns as ``*``, the sets of columns that cost least first.
    Needs: models that judge classes one by one and that joining classes cannot break.
    Cost: that of the base, and two to the number of columns times the cells set aside.
    Source: generalization with cell suppression, Samarati 2001; document 003, section 2.1.2.
    """

    base: Base = "optimal"
    """The search that recodes all rows."""
    aside: float = 0.2
    """The share of rows that it may set aside."""

    def __post_init__(self) -> None:
        one_of("base", self.base, get_args(Base))
        between("aside", self.aside, 0, 1)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Recode, and bring back what was set aside."""
        refuse_models(problem, "cell-suppression")
        room = max(problem.limit, rows_within(self.aside, problem.cells.rows))
        found = _BASES[self.base](replace(problem, limit=room, suppressed="remove"), work)
        levels = found.levels or ()
        groups = Groups(problem)
        problem = groups.problem
        ids, count = groups.at(levels)
        groups.place(groups.fitting(np.where(found.suppressed, -1, ids), count), count)
        aside = int(groups.pool.rows)
        either = replace(problem, hierarchies=_either(problem, levels))
        back = Groups(either)
        back.of, back.count, back.left, back.pool = groups.of, groups.count, groups.left, groups.pool
        ascend(back, costs_of(either), work)
        if len(back.left) and back.rest_passes():
            back.place(np.zeros(len(back.left), np.int64), 1)
        back.settle()
        return _outcome(problem, back, levels, {**found.effort, "base": self.base, "rows_set_aside": aside})


def _either(problem: Problem, levels: Levels) -> tuple[Hierarchy, ...]:
    """Hierarchies of two levels: the chosen one, and the top."""
    return tuple(
        h if n == h.height else replace(h, levels=(h.levels[n], h.levels[-1]))
        for h, n in zip(problem.hierarchies, levels, strict=True)
    )


def _outcome(problem: Problem, groups: Groups, levels: Levels, effort: dict[str, int | float | str]) -> Outcome:
    suppressed = groups.of < 0
    if suppressed.all() or problem.cells.weight(suppressed) > problem.limit:
        raise Infeasible(why_nothing_fits(problem))
    shown = np.array(levels, np.int64)[:, None] + np.zeros(groups.of.shape, np.int64)
    for column, hierarchy in enumerate(problem.hierarchies):
        codes = hierarchy.levels[levels[column]].parent[problem.cells.keys[column]]
        first, last = np.full(groups.count, len(codes)), np.full(groups.count, -1)
        np.minimum.at(first, groups.of[~suppressed], codes[~suppressed])
        np.maximum.at(last, groups.of[~suppressed], codes[~suppressed])
        mixed = (first != last)[groups.of] & ~suppressed
        shown[column, mixed] = hierarchy.height
    return Outcome.of(problem, levelled(problem, shown), suppressed, effort)
