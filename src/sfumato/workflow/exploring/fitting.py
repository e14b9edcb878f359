"""Which algorithms can be asked to meet a requirement: each says by itself what it cannot do, before it begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sfumato.ground.errors import Infeasible, Interrupted, OutOfTime, SfumatoError
from sfumato.ground.work import Work
from sfumato.workflow.catalog.listing import first_line
from sfumato.workflow.catalog.lookup import catalog
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


def fitting(plan: Plan, kind: str, begun: Callable[[Plan, Work], object], auto: str, why: str) -> dict[str, Any]:
    """Every algorithm for a kind of release, and what `auto` stands for; ``begun`` begins the one that a plan names."""
    parts = catalog().solving(kind)
    found = [
        Fit(name=name, about=first_line(part.found), why_not=_why_not(plan, name, begun))
        for name, part in parts.items()
    ]
    return {"algorithms": [asdict(one) for one in found], "auto": auto, "why": why}


def _why_not(plan: Plan, name: str, begun: Callable[[Plan, Work], object]) -> str:
    """What the algorithm refuses. It is begun with no time left: what it can do ends at once."""
    work = Work(seconds=0.0)
    work.cancelled.set()
    try:
        begun(replace(plan, algorithm=replace(plan.algorithm, name=name, options={})), work)
    except (Interrupted, OutOfTime, Infeasible):
        return ""
    except SfumatoError as error:
        return str(error).removeprefix("algorithm.name: ")
    return ""
