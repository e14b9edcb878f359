"""Algorithms that do not keep their word, and one with an option."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.problem import Outcome, Problem, Recoded
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog


def lying(problem: Problem, work: Work) -> Outcome:
    """Says that raw rows meet everything."""
    nothing = np.zeros(problem.cells.count, np.bool_)
    return Outcome(levels=(0,) * len(problem.hierarchies), suppressed=nothing, loss=0.0, proven=True)


def misplacing(problem: Problem, work: Work) -> Outcome:
    """Meets the models, but says that its labels lie where they cannot."""
    made = Recoded.at(problem, tuple(h.height for h in problem.hierarchies))
    wrong = tuple(replace(ruler, steps=ruler.steps - 1) for ruler in made.rulers)
    nothing = np.zeros(problem.cells.count, np.bool_)
    return Outcome(levels=None, recoded=replace(made, rulers=wrong), suppressed=nothing, loss=0.0, proven=False)


def crashing(problem: Problem, work: Work) -> Outcome:
    """Fails for a reason of its own."""
    raise ZeroDivisionError("of its own")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The optimal search with an option."""

    turn: int = 0

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        return catalog().algorithms["optimal"].found(problem, work)  # type: ignore[no-any-return]
