"""The algorithms for paths and sets by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.work import Work
from sfumato.publish.items import Sets, Trajectory
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem
from sfumato.workflow.plan import Plan

ItemAlgorithm = Callable[[ItemProblem, Work], ItemOutcome]
ITEM_ALGORITHMS: Mapping[str, type[Any]] = {"trajectory": Trajectory, "sets": Sets}
"""Records of options that can be called."""


def item_algorithm(plan: Plan) -> tuple[str, Trajectory | Sets, str]:
    """The plan's algorithm with its options, and why."""
    name, why = plan.algorithm.name, "Named in the plan."
    if name == "auto":
        paths = any(plan.columns[one].type == "trajectory" for one in plan.itemized)
        name, why = ("trajectory", _PATHS) if paths else ("sets", _SETS)
    if name not in ITEM_ALGORITHMS:
        raise PlanError(
            f"algorithm.name: {name!r} does not take columns of type set or trajectory{nearest(name, ITEM_ALGORITHMS)} "
            f"For them there are auto, {listed(ITEM_ALGORITHMS)}"
        )
    part = ITEM_ALGORITHMS[name]
    known = [one.name for one in fields(part)]
    for key in plan.algorithm.options:
        if key not in known:
            raise PlanError(
                f"algorithm.{key}: unknown key{nearest(key, known)} Known here, with {name}: {listed(known, most=20)}"
            )
    if plan.algorithm.max_suppressed:
        raise PlanError("algorithm.max_suppressed: here items are left out, never whole records; remove the key")
    if plan.algorithm.suppressed != "remove" or plan.algorithm.exempt_suppressed:
        raise PlanError("algorithm.suppressed: here items are left out, never whole records; remove the key")
    if plan.metric != "loss":
        raise PlanError(
            f"utility.metric: {plan.metric!r} judges columns of a table; paths and sets are measured by the frequent "
            "sets they keep (algorithm.support)"
        )
    try:
        made: Trajectory | Sets = part(**plan.algorithm.options)
    except ParameterError as error:
        raise PlanError(f"algorithm.{error}") from error
    return name, made, why


_PATHS = "Chosen by auto: a column has paths, whose frequent sequences it keeps."
_SETS = "Chosen by auto: columns have sets, and no paths."
