"""A plan described in one call, for a notebook: columns by their role, models as objects, hierarchies by their look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.data.frames import from_frame
from sfumato.data.table import has_times
from sfumato.describe.roles import Role
from sfumato.ground.errors import unknown_column
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan.sections import AlgorithmPlan, InputPlan


def described(
    frame: object,
    *,
    quasi: Sequence[str],
    models: Any,
    sensitive: Sequence[str] = (),
    target: str | None = None,
    keep: Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    algorithm: Any = "auto",
    metric: str = "loss",
    max_suppressed: float = 0.0,
    missing: Sequence[str] = (),
    seed: int | None = None,
    **more: Any,
) -> Plan:
    """The plan for a frame; a quasi-identifier without a hierarchy gets one that fits the look of its values.

    ``models`` are models or a [privacy] table; ``algorithm`` is a name or an algorithm; ``more`` are other sections of
    a plan. Columns that are not named are dropped.
    """
    from sfumato.workflow.plan.objects import algorithm_tree
    from sfumato.workflow.profile.fitted_trees import DATES, plain_tree, read_off

    table = from_frame(frame, missing=tuple(missing))
    roles = {
        **dict.fromkeys(quasi, Role.QUASI),
        **dict.fromkeys(sensitive, Role.SENSITIVE),
        **dict.fromkeys(keep, Role.KEEP),
        **({} if target is None else {target: Role.TARGET}),
    }
    given = dict(hierarchies or {})
    columns = {}
    for name, role in roles.items():
        if name not in table.names:
            raise unknown_column(name, table.names, where=str(role))
        tree, seen, dated = given.get(name), False, role is Role.QUASI and has_times(table.frame[name])
        if role is Role.QUASI and tree is None:
            tree = DATES if dated else plain_tree(table.column(name))
            seen = read_off(tree)
        columns[name] = ColumnPlan(
            role=role, type="date" if dated else None, hierarchy=tree, domain_from="profile" if seen else "declared"
        )
    how = algorithm_tree(algorithm)
    return Plan(
        input=InputPlan(missing=tuple(missing)),
        columns=columns,
        privacy=models,
        metric=metric,
        algorithm=AlgorithmPlan(name=how.name, options=how.options, max_suppressed=max_suppressed, seed=seed),
        **more,
    )
