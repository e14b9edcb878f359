"""What a plan says about the level from which a column is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError

if TYPE_CHECKING:
    from sfumato.workflow.plan.column_plan import ColumnPlan


def check_base(column: ColumnPlan, name: str) -> None:
    """Refuse a base level below the values, and one where nothing is generalized by levels."""
    at = f"columns.{name}.base"
    if column.base < 0:
        raise PlanError(f"{at} must be a level of the hierarchy, 1 or more, not {column.base}")
    if column.base and (column.role is not Role.QUASI or column.itemized or column.guarded):
        raise PlanError(f"{at}: only a quasi-identifier is counted from a coarser level, and {name!r} {_other(column)}")


def _other(column: ColumnPlan) -> str:
    """What a column is that is no plain quasi-identifier."""
    if column.guarded:
        return "is sensitive too"
    return f"has type {column.type}" if column.itemized else f"has role = '{column.role}'"


def refuse_base(columns: Mapping[str, ColumnPlan], kind: str) -> None:
    """Refuse base levels in a kind of release that does not count cells."""
    for name, column in columns.items():
        if column.base:
            raise PlanError(f"columns.{name}.base is for releases of tables by groups; this one is {kind}")
