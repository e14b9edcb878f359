"""The rows of a private release in an engine, which counts the combinations of the plan's columns."""

from __future__ import annotations

from dataclasses import replace

from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, unknown_column
from sfumato.group.tally import Counts
from sfumato.workflow.engine_input import frame_source, planned_source
from sfumato.workflow.kinds.private.private_budget import searches
from sfumato.workflow.plan.plan import Plan


def engine_counts(plan: Plan, frame: object = None) -> tuple[Table, Counts]:
    """Every different row of the columns that are published, and how often it is there.

    What needs single rows is refused by the plan alone. More combinations than an engine gives away are refused too:
    that refusal tells of the table that it has so many, and nothing else.
    """
    if plan.input.unit is not None:
        raise PlanError("input.unit: an engine counts rows, and does not know whose they are; use a file in memory")
    if searches(plan):
        raise PlanError("privacy.discovery looks at single rows, which stay in the engine; declare the domains")
    if any(column.itemized for column in plan.columns.values()):
        raise PlanError("columns: sets and trajectories are read row by row; use a file in memory")
    source = planned_source(plan) if frame is None else frame_source(plan, frame)
    for name in plan.columns:
        if name not in source.names:
            raise unknown_column(name, source.names, where=f"columns.{name}")
    shown = [name for name, column in plan.columns.items() if column.role in (Role.QUASI, Role.TARGET)]
    table, times = source.counted(shown)
    return replace(table, missing=plan.input.missing), times
