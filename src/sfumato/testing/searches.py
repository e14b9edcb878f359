"""The kit that every search must pass: what it returns is recomputed from the cells, sharing no code with it.

Each problem is searched twice by the search under test, under the same seed, and once by the optimal one. An answer
meets the models, loses what it says and publishes something; where nothing fits, ``Infeasible`` says so.
``BrokenSearch`` is raised where an answer is not what it says it is. Where the problems come from is the caller's
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct, representatives
from sfumato.metrics.metric import View
from sfumato.models.model import judge
from sfumato.tables.hierarchy import TOP, Hierarchy

Search = Callable[[Problem, Work], Outcome]
_NEAR = 1e-9


class BrokenSearch(AssertionError):
    """A search's answer is not what every answer must be."""


def check_search(run: Search, problems: Iterable[Problem], *, complete: bool = True) -> int:
    """Run a search over problems and check every answer; tells how many problems there were.

    A search that is not ``complete`` may raise ``Infeasible`` though some node is feasible; never the other way round.
    """
    count = 0
    for problem in problems:
        check_problem(run, problem, complete=complete)
        count += 1
    return count


def check_problem(run: Search, problem: Problem, *, complete: bool = True) -> None:
    """Check the search's answer to one problem; a full-domain one is compared with the optimum."""
    outcome, best = _answer(run, problem), _answer(optimal, problem)
    _demand(outcome is not None or best is None or not complete, "an answer where something fits")
    if outcome is None:
        return
    check_outcome(problem, outcome)
    if outcome.levels is not None:
        check_against(outcome, best)
    check_same(outcome, _answer(run, problem))


def check_against(outcome: Outcome, best: Outcome | None) -> None:
    """No full-domain answer loses less than the optimal one, and there is none where that has none."""
    if best is None:
        raise BrokenSearch("broken: Infeasible where nothing fits")
    room = _NEAR * max(1.0, abs(best.loss))
    _demand(best.loss <= outcome.loss + room, "the optimal search loses no more")
    _demand(not outcome.proven or outcome.loss <= best.loss + room, "what is called proven loses least")


def check_outcome(problem: Problem, outcome: Outcome) -> None:
    """The answer meets the models within the limit and loses what it says, all recomputed from the cells."""
    classes, ids = regrouped(problem, outcome)
    hidden = np.zeros(classes.count, np.bool_)
    hidden[ids[outcome.suppressed]] = True
    _demand(bool((hidden[ids] == outcome.suppressed).all()), "whole classes are suppressed")
    _demand(not hidden.all(), "some class is published")
    _demand(int(problem.cells.sizes[outcome.suppressed].sum()) <= problem.limit, "suppression within the limit")
    starred = problem.suppressed == "star" and not problem.exempt and hidden.any()
    published = classes.starred(hidden) if starred else classes.take(~hidden)
    for model in problem.models:
        _demand(judge(model, published, problem.reading).holds, f"the release meets {model!r}")
    rulers = outcome.recoding(problem).rulers
    view = View(classes=classes, suppressed=hidden, rulers=rulers, target=problem.target)
    value = problem.metric.loss(view).value
    _demand(abs(value - outcome.loss) <= _NEAR * max(1.0, abs(value)), "the loss is what the metric says")


def check_same(outcome: Outcome, other: Outcome | None) -> None:
    """The same problem has, under the same seed, the same answer."""
    same = other is not None and (outcome.levels, outcome.loss, outcome.proven) == (
        other.levels,
        other.loss,
        other.proven,
    )
    _demand(
        other is not None and same and bool((outcome.suppressed == other.suppressed).all()), "the same answer again"
    )


def regrouped(problem: Problem, outcome: Outcome) -> tuple[Classes, NDArray[np.int64]]:
    """The classes of the answer before suppression, from the cells; also where each cell went.

    Where a column mixes levels, suppressed cells are classes of their own.
    """
    cells = problem.cells
    if outcome.levels is not None:
        chosen = [h.levels[n] for h, n in zip(problem.hierarchies, outcome.levels, strict=True)]
        classes, ids = cells.recoded([level.parent for level in chosen], [level.labels for level in chosen])
    else:
        recoding = outcome.recoding(problem)
        keys = [*recoding.keys, outcome.suppressed.astype(np.int32)]
        ids, count = distinct(keys, [*(len(names) for names in recoding.labels), 2], cells.count)
        classes = cells.merged(recoding.keys[:, representatives(ids, count)], recoding.labels, ids, count)
    wild = tuple(_unknown(h, names) for h, names in zip(problem.hierarchies, classes.labels, strict=True))
    return replace(classes, wild=wild), ids


def _unknown(hierarchy: Hierarchy, labels: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which labels tell nothing: that of the missing value, and the top."""
    nothing = {TOP} if hierarchy.missing is None else {TOP, hierarchy.levels[0].labels[hierarchy.missing]}
    return np.array([label in nothing for label in labels], np.bool_)


def _answer(run: Search, problem: Problem) -> Outcome | None:
    try:
        return run(problem, Work(chance=Chance(seed=1)))
    except Infeasible:
        return None


def _demand(true: bool, law: str) -> None:
    if not true:
        raise BrokenSearch(f"broken: {law}")
