"""The search for a table: the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sfumato.ground.chance import Chance
from sfumato.ground.errors import Infeasible, PlanError, listed
from sfumato.ground.work import Work
from sfumato.group.needs import refuse_lacking
from sfumato.publish.problem import Grain, Problem
from sfumato.workflow.catalog.lookup import Catalog, catalog
from sfumato.workflow.catalog.parts import AlgorithmPart
from sfumato.workflow.kinds.kind import Asked, Searched
from sfumato.workflow.kinds.table.auto import chosen
from sfumato.workflow.kinds.table.other_searches import GROUP_BY_GROUP, least_lossy, told, try_others
from sfumato.workflow.kinds.table.preparing import Prepared
from sfumato.workflow.kinds.table.released_rows import put_back, rows_that_stay, same_labels
from sfumato.workflow.kinds.table.table_plan import algorithm_of

AUTO_SECONDS = 60.0
"""How long a search that can be stopped at any time goes on improving where the plan gives no limit."""
_ROUNDS = 5
"""How often more rows may go because the hierarchies of those that stay are others."""


def search(asked: Asked, prepared: Prepared, work: Work) -> Searched:
    """Find which rows are removed, and then the labels of the others from these alone."""
    found = _search(asked, prepared, work)
    if prepared.problem.suppressed == "star" or not found.outcome.suppressed.any():
        return found
    try:
        again = put_back(_search(asked, _settled(asked, found, work), work))
    except Infeasible as error:
        raise Infeasible(
            f"with {found.algorithm}, rows would be removed, and for the others alone nothing fits without removing "
            f"more: {error}"
        ) from error
    return replace(again, beside=found.beside) if again.algorithm == found.algorithm else again


def _settled(asked: Asked, found: Searched, work: Work) -> Prepared:
    """The rows that stay. Where their values make other hierarchies, more rows may have to go."""
    for _ in range(_ROUNDS):
        whole, removed = found.prepared, found.outcome.suppressed
        rest = rows_that_stay(asked.plan, whole, removed)
        spare = whole.problem.limit - whole.problem.cells.weight(removed)
        if spare <= 0 or same_labels(rest):
            break
        again = _search(asked, replace(rest, problem=replace(rest.problem, limit=spare)), work)
        if not again.outcome.suppressed.any():
            break
        found = put_back(again)
    return rest


def _search(asked: Asked, prepared: Prepared, work: Work) -> Searched:
    """Run the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it."""
    algorithm = asked.plan.algorithm
    if algorithm.name != "auto":
        return search_by(asked, prepared, algorithm.name, work)
    name, why = chosen(prepared.problem)
    taken = replace(search_by(asked, prepared, name, work), why=why)

    def run(other: str, within: Work) -> Searched:
        return search_by(asked, prepared, other, within, hard=True)

    able = [other for other in GROUP_BY_GROUP if runs_on(catalog().algorithms[other], prepared)]
    others = try_others(taken, run, work, algorithm.alternatives, able)
    best = least_lossy(taken, others) if asked.plan.purpose == "least-loss" else taken
    return replace(best, beside=tuple(told(one) for one in (taken, *others) if one.algorithm != best.algorithm))


def search_by(asked: Asked, prepared: Prepared, name: str, work: Work, *, hard: bool = False) -> Searched:
    """Run one algorithm; with ``hard``, the limit also ends one that has no result before its end."""
    plan, parts = asked.plan, catalog()
    part, run = algorithm_of(plan, name, parts)
    grain = grain_of(run, prepared.problem)
    refuse_uncounted(part, prepared, parts)
    needs = (*part.needs, *(("rows",) if grain == "rows" else ()))
    if not {*needs} <= prepared.source.gives:  # only then are the other algorithms imported
        refuse_lacking(prepared.source, needs, f"algorithm.name: {name}", _instead(prepared, name, parts))
    prepared = prepared.at(grain)
    limit = plan.algorithm.seconds or (AUTO_SECONDS if part.anytime and work.steps is None else None)
    inner = work.allowing(limit, hard=hard and not part.anytime)
    inner.chance = Chance(seed=plan.algorithm.seed)
    outcome = run(prepared.problem, inner)
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    return Searched(prepared=prepared, outcome=outcome, algorithm=name, why="Named in the plan.")


def _instead(prepared: Prepared, name: str, parts: Catalog) -> str:
    """What a plan can say instead of an algorithm that its source is not enough for."""
    able = [one for one, part in parts.solving("table").items() if one != name and runs_on(part, prepared)]
    return f"use {listed(able, most=20)}, or give the rows as a file or frame that fits in memory"


def runs_on(part: AlgorithmPart, prepared: Prepared) -> bool:
    """Whether an algorithm as it is without options can work on the prepared source."""
    run = part.found() if isinstance(part.found, type) else part.found
    single = grain_of(run, prepared.problem) == "rows"
    return {*part.needs, *(("rows",) if single else ())} <= prepared.source.gives


def refuse_uncounted(part: AlgorithmPart, prepared: Prepared, parts: Catalog) -> None:
    """Refuse an algorithm that counts rows where people must be counted."""
    if prepared.unit is not None and not part.people:
        able = [name for name, one in parts.solving("table").items() if one.people and runs_on(one, prepared)]
        raise PlanError(
            f"algorithm.name: {part.name} counts rows, and input.unit asks for people; use {listed(able, most=20)}"
        )


def grain_of(run: Any, problem: Problem) -> Grain:
    """Whether an algorithm works on cells or, for this problem, tells single rows apart."""
    found: Any = getattr(run, "grain", "cells")
    told: Grain = found(problem) if callable(found) else found
    return told
