"""Hiding with the fewest side effects, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.work import PACE, Work
from sfumato.publish.sanitize.border_hiding import BorderHiding
from sfumato.publish.sanitize.exact_program import Model, posed
from sfumato.publish.sanitize.hiding_problem import HidingProblem, Sanitized

SECONDS = 120.0
"""How long each of the two programs may be searched, counted in steps, where the plan sets no limit."""
MAX_ENTRIES = 20_000
"""With more items in records that have a sensitive pattern no program is posed: a solver may never end its first node.
"""
_INFEASIBLE, _PROVEN = 2, 0
"""What the solver says: no values meet the constraints; none are better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactHiding:
    """The choice of items that loses the fewest frequent sets and, of those, takes the fewest items out.

    Claim: every sensitive pattern is hidden. ``proven``: no choice of items to take out loses fewer of the frequent
        sets in which no sensitive set lies, or as many with fewer items; else ``gap`` bounds how much better one is.
    How: first the constraint satisfaction problem with every set of the revised positive border kept; where that has no
        solution, the relaxation in which a set may be lost at a price above that of all items. Only items of sensitive
        patterns in records that have the pattern are worth taking out: putting any other back neither brings a pattern
        nor loses a set.
    Source: Gkoulalas-Divanis, Verykios 2006 and 2009; solved by HiGHS.
    """

    name: ClassVar[str] = "hide-exact"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records without what was taken out."""
        begun = BorderHiding()(problem, work)
        if not begun.erased:
            return replace(begun, method=self.name, proven=True)
        limit = SECONDS * PACE if work.steps is None else (work.steps - work.spent) / 2
        with work.stage("exact search"):
            model = posed(problem, relaxed=False)
            if len(model.keeps) > MAX_ENTRIES:
                return replace(begun, method=self.name, proven=False, gap=float(begun.lost))
            values, _, status = model.program.solved(limit)
            if status == _INFEASIBLE or (values is None and begun.lost):
                model = posed(problem, relaxed=True)
                values, bound, status = model.program.solved(limit)
                least = 0.0 if bound is None else bound / (len(model.keeps) + 1)  # every item kept counts one at most
                return self._better(model, values, begun, status, fewest_lost=max(ceil(least - 1e-6), 0))
            return self._better(model, values, begun, status, fewest_lost=0)

    def _better(
        self, model: Model, values: NDArray[np.float64] | None, begun: Sanitized, status: int, *, fewest_lost: int
    ) -> Sanitized:
        """What the solver found, or what the border gave where that is better."""
        found = None if values is None else _taken(model, values)
        best = begun if found is None else min((begun, found), key=lambda one: (one.lost, one.erased))
        proven = status == _PROVEN and found is not None
        gap = None if proven else float(max(best.lost - fewest_lost, 0))
        return replace(best, method=self.name, proven=proven, gap=gap)


def _taken(model: Model, values: NDArray[np.float64]) -> Sanitized | None:
    """The records without what the solver takes out; None where its rounding left a pattern."""
    gone: dict[int, list[int]] = {}
    for (row, item), variable in model.keeps.items():
        if values[variable] < 0.5:
            gone.setdefault(item, []).append(row)
    for item, rows in gone.items():
        model.state.erase(np.array(sorted(rows), np.int32), item)
    hidden = all(map(model.state.done, model.problem.patterns))
    return model.state.result(ExactHiding.name) if hidden else None
