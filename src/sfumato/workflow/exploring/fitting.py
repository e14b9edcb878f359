"""Which algorithms can be asked to meet a requirement: each says by itself what it cannot do, before it begins."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from sfumato.ground.errors import Infeasible, Interrupted, OutOfTime, SfumatoError
from sfumato.ground.work import Work
from sfumato.workflow.catalog.listing import first_line
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.kind import Asked
from sfumato.workflow.kinds.table.auto import chosen
from sfumato.workflow.kinds.table.preparing import Prepared
from sfumato.workflow.kinds.table.table_search import search_by
from sfumato.workflow.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Whether an algorithm can be asked."""

    name: str
    """As the plan names it."""
    about: str
    """What it does."""
    why_not: str = ""
    """What it refuses; empty where it can be asked."""


def fitting(prepared: Prepared, plan: Plan) -> dict[str, Any]:
    """Every algorithm for tables, and what `auto` stands for."""
    parts = catalog()
    found = [
        Fit(name=name, about=first_line(part.found), why_not=_why_not(prepared, plan, name))
        for name, part in parts.solving("table").items()
    ]
    name, why = chosen(prepared.problem)
    return {"algorithms": [asdict(one) for one in found], "auto": name, "why": why, "nodes": prepared.problem.nodes}


def _why_not(prepared: Prepared, plan: Plan, name: str) -> str:
    """What the algorithm refuses. It is begun with no time left: what it can do ends at once, untold."""
    named = replace(plan, algorithm=replace(plan.algorithm, name=name, options={}))
    work = Work(seconds=0.0)
    work.cancelled.set()
    try:
        search_by(Asked(plan=named, keys={}), prepared, name, work)
    except (Interrupted, OutOfTime, Infeasible):
        return ""
    except SfumatoError as error:
        return str(error).removeprefix("algorithm.name: ")
    return ""
