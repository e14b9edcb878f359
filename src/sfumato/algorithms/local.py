"""Local recoding along the lattice, and cell suppression on top of a global recoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sfumato.algorithms.feasibility import mended, refuse_models, refuse_unreachable, why_nothing_fits
from sfumato.algorithms.labels import levelled, recoded
from sfumato.algorithms.lattice.nodes import MOST_NODES
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.local_groups import Groups, ascend, carved, costs_of
from sfumato.algorithms.mondrian import mondrian
from sfumato.algorithms.problem import Grain, Levels, Outcome, Problem
from sfumato.core.arguments import between, one_of
from sfumato.core.errors import Infeasible
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.tables.hierarchy import Hierarchy

# Local recoding along the lattice: each row gets the labels of a cheap node at which it is not alone.


Method = Literal["nodes", "optimum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """Give each row the labels of a cheap node of the lattice at which enough others are like it.

    Claim: every class meets every model; each shows the lowest labels that cover its values.
    How: ``nodes`` takes the nodes of the lattice from the cheapest on; the classes of not yet placed rows that pass
        there are placed, until the time is over; where Mondrian loses less, its cuts are taken. ``optimum`` applies the
        optimal search with free suppression again and again to the rows that it suppressed, and takes the plain optimum
        where that loses less. What no node places is cut by Mondrian. A class is placed only if what is left still
        passes as a whole. For t-closeness rows are told apart: of a class that fails, the largest part that passes is
        placed.
    Needs: models that judge classes one by one. For models that joining classes can break, groups that read alike are
        judged together, and a stricter form of the model is asked for if they fail.
    Cost: nodes times the cells that are left, which become few; nodes without large enough classes are ruled out many
        at a time. A time limit bounds the placing only: what Mondrian does is done to the end.
    Source: local recoding by repeated full-domain recoding as in Prasser et al. 2020 (ARX).
    """

    method: Method = "nodes"
    """Whether nodes are taken from the cheapest on, or the optimum is applied again."""

    def __post_init__(self) -> None:
        one_of("method", self.method, get_args(Method))

    def grain(self, problem: Problem) -> Grain:
        """Rows where a part of a class may be placed, cells otherwise."""
        return "rows" if self.method == "nodes" and carved(problem) is not None else "cells"

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Place rows until none is left."""
        refuse_models(problem, "local", mended=True)
        return mended(problem, "local", lambda subproblem: self._placed(subproblem, work))

    def _placed(self, problem: Problem, work: Work) -> Outcome:
        refuse_unreachable(problem)
        groups = Groups(problem)
        problem = groups.problem
        rounds = ascend(groups, costs_of(problem), work) if self.method == "nodes" else _again(groups, work)
        groups.settle()
        _cut_rest(groups, work)
        outcome = finished(groups, {"groups": groups.count, self.method: rounds})
        return _better(outcome, problem, work, self.method)


def finished(groups: Groups, effort: dict[str, int | float | str]) -> Outcome:
    """The outcome of the groups; cells of none are suppressed."""
    problem, suppressed = groups.problem, groups.of < 0
    if suppressed.all() or problem.cells.weight(suppressed) > problem.limit:
        raise Infeasible(why_nothing_fits(problem))
    recoding = recoded(problem, np.where(suppressed, groups.count, groups.of), groups.count + int(suppressed.any()))
    return Outcome.of(problem, recoding, suppressed, effort)


def _better(outcome: Outcome, problem: Problem, work: Work, method: Method) -> Outcome:
    """What was found, or the plain optimum or Mondrian's cuts where these lose less.

    Mondrian is made to its end whatever the time, so a search that was cut short never loses more.
    """
    others: list[tuple[str, Callable[[], Outcome]]] = []
    if method == "optimum":
        others.append(("optimum", lambda: _search(problem)(problem, work)))
    if method == "nodes" or work.cut:
        others.append(("cuts", lambda: mondrian(replace(problem, limit=0), work.untimed())))
    best = outcome
    for name, search in others:
        try:
            other = search()
        except Infeasible:
            continue
        if other.loss < best.loss:
            best = replace(other, effort={**outcome.effort, **other.effort, "taken": name})
    return best


def _search(problem: Problem) -> Callable[[Problem, Work], Outcome]:
    return _lattice_search("greedy" if problem.nodes > MOST_NODES else "optimal")


def _again(groups: Groups, work: Work) -> int:
    """Apply the optimum to what is left until it places nothing more."""
    rounds = 0
    search = _search(groups.problem)
    while len(groups.left) and not work.expired:
        work.spend(len(groups.left) * len(groups.problem.hierarchies))
        rest = replace(groups.problem, cells=groups.pool, limit=groups.pool.rows, suppressed="remove", exempt=False)
        try:
            outcome = search(rest, work)
        except Infeasible:
            break
        ids, count = groups.at(outcome.levels or ())
        rounds += 1
        before = len(groups.left)
        groups.place(groups.fitting(np.where(outcome.suppressed, -1, ids), count), count)
        if len(groups.left) == before:
            break
    return rounds


def _cut_rest(groups: Groups, work: Work) -> None:
    """Cut what is left by Mondrian, where it passes as a whole."""
    if not len(groups.left) or not groups.rest_passes():
        return
    rest = replace(groups.problem, cells=groups.pool, limit=0)
    try:
        outcome = mondrian(rest, work.untimed())
    except Infeasible:  # its groups would fail where they read alike; all together they pass
        groups.place(np.zeros(len(groups.left), np.int64), 1)
        return
    view = outcome.recoding(rest)
    _, ids = np.unique(view.keys, axis=1, return_inverse=True)
    groups.place(ids.reshape(-1).astype(np.int64), int(ids.max()) + 1)


# Cell suppression on top of a global recoding: rows that it sets aside come back with some cells as ``*``.


Base = Literal["optimal", "samarati", "incognito", "datafly", "greedy"]


def _lattice_search(name: Base) -> Callable[[Problem, Work], Outcome]:
    """A search of the lattice; it is imported when it is needed."""
    search: Callable[[Problem, Work], Outcome]
    match name:
        case "samarati":
            from sfumato.algorithms.lattice.samarati import samarati as search
        case "incognito":
            from sfumato.algorithms.lattice.incognito import incognito as search
        case "datafly":
            from sfumato.algorithms.lattice.datafly import datafly as search
        case "greedy":
            from sfumato.algorithms.lattice.greedy import greedy as search
        case _:
            search = optimal
    return search


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
        outcome = _lattice_search(self.base)(replace(problem, limit=room, suppressed="remove"), work)
        levels = outcome.levels or ()
        groups = Groups(problem)
        problem = groups.problem
        ids, count = groups.at(levels)
        groups.place(groups.fitting(np.where(outcome.suppressed, -1, ids), count), count)
        aside = int(groups.pool.rows)
        either = replace(problem, hierarchies=_either(problem, levels))
        back = Groups(either)
        back.of, back.count, back.left, back.pool = groups.of, groups.count, groups.left, groups.pool
        ascend(back, costs_of(either), work)
        if len(back.left) and back.rest_passes():
            back.place(np.zeros(len(back.left), np.int64), 1)
        back.settle()
        return _outcome(problem, back, levels, {**outcome.effort, "base": self.base, "rows_set_aside": aside})


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
    cell_levels = np.array(levels, np.int64)[:, None] + np.zeros(groups.of.shape, np.int64)
    for column, hierarchy in enumerate(problem.hierarchies):
        codes = hierarchy.levels[levels[column]].parent[problem.cells.keys[column]]
        first, last = np.full(groups.count, len(codes)), np.full(groups.count, -1)
        np.minimum.at(first, groups.of[~suppressed], codes[~suppressed])
        np.maximum.at(last, groups.of[~suppressed], codes[~suppressed])
        mixed = (first != last)[groups.of] & ~suppressed
        cell_levels[column, mixed] = hierarchy.height
    return Outcome.of(problem, levelled(problem, cell_levels), suppressed, effort)


# Local recoding: different rows with the same value may get labels of different levels.


__all__ = ["CellSuppression", "Local"]
