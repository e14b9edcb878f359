"""The table of a plan with paths or sets: long tables are gathered, one record a row."""

from __future__ import annotations

from dataclasses import replace

from sfumato.data.long import Long, gathered, joined
from sfumato.data.table import Table
from sfumato.ground.errors import PlanError, unknown_column
from sfumato.verification.item_checks import SPLIT
from sfumato.workflow.loading import read_file
from sfumato.workflow.plan.column_plan import LongPlan
from sfumato.workflow.plan.plan import Plan


def item_table(plan: Plan, table: Table) -> Table:
    """The table with every gathered column; the input itself may be one long table."""
    longs = {name: column.long for name, column in plan.columns.items() if column.long is not None}
    inner = [name for name, long in longs.items() if long.file is None]
    if len(inner) > 1:
        raise PlanError(f"columns.{inner[1]}.long.file is missing; the input can be the long table of one column only")
    if inner:
        table = _gathered_itself(plan, table, longs[inner[0]], inner[0])
    for name, long in longs.items():
        if long.file is not None:
            table = _joined(plan, table, long, name)
    return table


def _gathered_itself(plan: Plan, table: Table, long: LongPlan, name: str) -> Table:
    """The input as a long table; the plan's other columns must say one thing per id."""
    used = {long.spec.place, long.spec.time, long.spec.x, long.spec.y, long.spec.item, *long.spec.id, name}
    others = tuple(one for one, column in plan.columns.items() if one not in used and column.long is None)
    for one in others:
        if one not in table.names:
            raise unknown_column(one, table.names, where=f"columns.{one}")
    return gathered(table, _keeping(long.spec, others))


def _keeping(spec: Long, others: tuple[str, ...]) -> Long:
    return replace(spec, keep=others)


def _joined(plan: Plan, table: Table, long: LongPlan, name: str) -> Table:
    points = read_file(plan.folder / str(long.file), missing=plan.input.missing)
    for one in long.spec.id:
        if one not in table.names:
            raise unknown_column(one, table.names, where=f"columns.{name}.long.id")
    return joined(table, gathered(points, long.spec), long.spec.id, name)


def item_marks(plan: Plan) -> list[str]:
    """Warnings that belong to what a record is."""
    clocks = [column.long.spec.clock for column in plan.columns.values() if column.long is not None]
    return [SPLIT] if any(clock is not None and clock.split is not None for clock in clocks) else []
