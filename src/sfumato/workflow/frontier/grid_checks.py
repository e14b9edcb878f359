"""What a frontier cannot mean is refused by its path, before any work is done."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, SfumatoError, listed, nearest
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.frontier.axes import ACCURACY
from sfumato.workflow.plan.frontier_plan import Grid, Tree
from sfumato.workflow.plan.plan import Plan, put

_FIXED = {
    "input": "all points are made from the same rows",
    "output": "a file's format changes nothing that is measured",
    "frontier": "the frontier is not a part of a point",
    "algorithm.name": "name algorithms in frontier.algorithms",
}


def check_metrics(plan: Plan) -> None:
    """Refuse metrics that nobody knows, and a classifier's accuracy without a target."""
    known = (*catalog().metrics, ACCURACY)
    for name in plan.frontier.metrics:
        if name not in known:
            raise PlanError(
                f"frontier.metrics: {name!r} is not known{nearest(name, known)} Known: {listed(known, most=30)}"
            )
        needs = ("target",) if name == ACCURACY else catalog().metrics[name].make.needs
        if "target" in needs and not any(column.role is Role.TARGET for column in plan.columns.values()):
            raise PlanError(f"frontier.metrics: {name} needs a column with role = 'target'")


def check_algorithms(bases: Sequence[Tree], folder: Path) -> None:
    """Refuse algorithms that nobody knows, and options that they do not have."""
    for place, base in enumerate(bases):
        try:
            Plan.parse(base, folder=folder)
        except SfumatoError as error:
            raise PlanError(f"frontier.algorithms[{place}]: {error}") from error


def check_grid(bases: Sequence[Tree], grid: Grid, folder: Path) -> None:
    """Refuse keys and values that no point can have; what only some algorithms refuse is left to their points."""
    for key, values in grid.items():
        for prefix, why in _FIXED.items():
            if key == prefix or key.startswith(f"{prefix}."):
                raise PlanError(f"frontier.grid: {key} cannot vary: {why}")
        for value in values:
            _check_value(bases, key, value, folder)


def _check_value(bases: Sequence[Tree], key: str, value: Any, folder: Path) -> None:
    """A plan checks itself when it is made."""
    refusals = []
    for base in bases:
        changed: dict[str, Any] = copy.deepcopy(dict(base))
        put(changed, key, value, where=f"frontier.grid: {key}")
        try:
            Plan.parse(changed, folder=folder)
        except SfumatoError as error:
            refusals.append(error)
    if len(refusals) == len(bases):
        raise PlanError(f"frontier.grid: {refusals[0]}") from refusals[0]
