"""Local recoding along the lattice: each row gets the labels of a cheap node at which it is not alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sfumato.ground.arguments import one_of
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.publish.labels import recoded
from sfumato.publish.lattice.greedy import greedy
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.lattice.reach import refuse_models, refuse_unreachable, why_nothing_fits
from sfumato.publish.lattice.space import MOST_NODES
from sfumato.publish.local.ascending import ascend, costs_of
from sfumato.publish.local.carve import carved
from sfumato.publish.local.groups import Groups
from sfumato.publish.mending import mended
from sfumato.publish.mondrian import mondrian
from sfumato.publish.problem import Grain, Outcome, Problem

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
        return mended(problem, "local", lambda asked: self._placed(asked, work))

    def _placed(self, problem: Problem, work: Work) -> Outcome:
        refuse_unreachable(problem)
        groups = Groups(problem)
        problem = groups.problem
        rounds = ascend(groups, costs_of(problem), work) if self.method == "nodes" else _again(groups, work)
        groups.settle()
        _cut_rest(groups, work)
        found = finished(groups, {"groups": groups.count, self.method: rounds})
        return _better(found, problem, work, self.method)


def finished(groups: Groups, effort: dict[str, int | float | str]) -> Outcome:
    """The outcome of the groups; cells of none are suppressed."""
    problem, suppressed = groups.problem, groups.of < 0
    if suppressed.all() or problem.cells.weight(suppressed) > problem.limit:
        raise Infeasible(why_nothing_fits(problem))
    made = recoded(problem, np.where(suppressed, groups.count, groups.of), groups.count + int(suppressed.any()))
    return Outcome.of(problem, made, suppressed, effort)


def _better(found: Outcome, problem: Problem, work: Work, method: Method) -> Outcome:
    """What was found, or the plain optimum or Mondrian's cuts where these lose less.

    Mondrian is made to its end whatever the time, so a search that was cut short never loses more.
    """
    others: list[tuple[str, Callable[[], Outcome]]] = []
    if method == "optimum":
        others.append(("optimum", lambda: _search(problem)(problem, work)))
    if method == "nodes" or work.cut:
        others.append(("cuts", lambda: mondrian(replace(problem, limit=0), work.untimed())))
    best = found
    for name, search in others:
        try:
            other = search()
        except Infeasible:
            continue
        if other.loss < best.loss:
            best = replace(other, effort={**found.effort, **other.effort, "taken": name})
    return best


def _search(problem: Problem) -> Callable[[Problem, Work], Outcome]:
    return greedy if problem.nodes > MOST_NODES else optimal


def _again(groups: Groups, work: Work) -> int:
    """Apply the optimum to what is left until it places nothing more."""
    rounds = 0
    search = _search(groups.problem)
    while len(groups.left) and not work.expired:
        work.spend(len(groups.left) * len(groups.problem.hierarchies))
        rest = replace(groups.problem, cells=groups.pool, limit=groups.pool.rows, suppressed="remove", exempt=False)
        try:
            found = search(rest, work)
        except Infeasible:
            break
        ids, count = groups.at(found.levels or ())
        rounds += 1
        before = len(groups.left)
        groups.place(groups.fitting(np.where(found.suppressed, -1, ids), count), count)
        if len(groups.left) == before:
            break
    return rounds


def _cut_rest(groups: Groups, work: Work) -> None:
    """Cut what is left by Mondrian, where it passes as a whole."""
    if not len(groups.left) or not groups.rest_passes():
        return
    rest = replace(groups.problem, cells=groups.pool, limit=0)
    try:
        found = mondrian(rest, work.untimed())
    except Infeasible:  # its groups would fail where they read alike; all together they pass
        groups.place(np.zeros(len(groups.left), np.int64), 1)
        return
    view = found.recoding(rest)
    _, ids = np.unique(view.keys, axis=1, return_inverse=True)
    groups.place(ids.reshape(-1).astype(np.int64), int(ids.max()) + 1)
