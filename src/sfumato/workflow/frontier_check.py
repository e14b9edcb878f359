"""What a frontier cannot mean is refused by its path, before any work is done."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, SfumatoError, listed, nearest
from sfumato.workflow.catalog import catalog
from sfumato.workflow.frontier_plan import Grid, Tree
from sfumato.workflow.hierarchies import builder
from sfumato.workflow.plan import Plan, put
from sfumato.workflow.private import algorithm_of
from sfumato.workflow.requirements import Ancestors, Context, requirement

ACCURACY = "accuracy"
"""The axis of the classifier, beside the catalog's metrics."""
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
        needs = ("target",) if name == ACCURACY else catalog().metrics[name].needs
        if "target" in needs and not any(column.role is Role.TARGET for column in plan.columns.values()):
            raise PlanError(f"frontier.metrics: {name} needs a column with role = 'target'")


def check_algorithms(bases: Sequence[Tree], folder: Path) -> None:
    """Refuse algorithms that nobody knows, and options that they do not have."""
    for place, base in enumerate(bases):
        try:
            _algorithm_of(base, folder)
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
    refusals = []
    for base in bases:
        changed: dict[str, Any] = copy.deepcopy(dict(base))
        put(changed, key, value, where=f"frontier.grid: {key}")
        try:
            _check_plan(changed, key, folder)
        except SfumatoError as error:
            refusals.append(error)
    if len(refusals) == len(bases):
        raise PlanError(f"frontier.grid: {refusals[0]}") from refusals[0]


def _check_plan(tree: Mapping[str, Any], key: str, folder: Path) -> None:
    """Refuse a plan whose changed key says something that it cannot say."""
    plan = _algorithm_of(tree, folder)
    catalog().metric(plan.metric)
    room, _, rest = key.partition(".")
    name = rest.partition(".")[0]
    if room == "privacy" and "epsilon" not in plan.privacy:
        _check_requirement(plan, name)
    column = plan.columns.get(name) if room == "columns" else None
    if column is not None and column.hierarchy is not None:
        builder(column.hierarchy, f"columns.{name}.hierarchy", folder)


def _algorithm_of(tree: Mapping[str, Any], folder: Path) -> Plan:
    plan = Plan.parse(tree, folder=folder)
    if "epsilon" in plan.privacy:
        algorithm_of(plan)
    else:
        catalog().named_algorithm(plan.algorithm.name, plan.algorithm.options)
    return plan


class _NeedsTable(Exception):
    """What is asked for can be judged only when the table is read."""


def _check_requirement(plan: Plan, name: str) -> None:
    """Build the models of one key of [privacy], as far as that needs no table."""
    wanted = {"k_anonymity": 1, name: plan.privacy[name]} if name in plan.privacy else dict(plan.privacy)
    roles = {column: spec.role for column, spec in plan.columns.items()}
    shown = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)
    context = Context(
        quasi=tuple(column for column, role in roles.items() if role is Role.QUASI),
        sensitive=tuple(column for column, role in roles.items() if role is Role.SENSITIVE),
        published=tuple(column for column, role in roles.items() if role in shown),
        paths=_ancestors,
        costs=lambda column, file: _later(),
    )
    try:
        requirement(wanted, context)
    except _NeedsTable:
        return


def _ancestors(column: str) -> Ancestors:
    _later()


def _later() -> NoReturn:
    raise _NeedsTable
