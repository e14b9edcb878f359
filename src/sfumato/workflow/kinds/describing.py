"""What a plan says about the columns, held against the table; the same for tables, paths and sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import polars as pl

from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import TOP
from sfumato.describe.roles import Role, Schema
from sfumato.ground.errors import DataError, PlanError, unknown_column
from sfumato.group.cell_source import CellSource
from sfumato.workflow.plan.plan import Plan

S = TypeVar("S", bound=CellSource)


def schema_of(plan: Plan, names: Sequence[str], open_columns: Sequence[str] = ()) -> Schema:
    """The roles of all columns; a quasi-identifier needs a hierarchy where nothing can be left out of it."""
    for name in plan.columns:
        if name not in names:
            raise unknown_column(name, names, where=f"columns.{name}")
    roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in names}
    schema = Schema(roles=roles, guarded=tuple(n for n in names if n in plan.columns and plan.columns[n].guarded))
    if len(schema.named(Role.TARGET)) > 1:
        raise PlanError(f"columns: only one column can be the target, not {', '.join(schema.named(Role.TARGET))}")
    if not schema.quasi:
        raise PlanError("columns: no column has role = 'quasi'; name those that others may know about a person")
    for name in schema.quasi:
        if plan.columns[name].hierarchy is None and name not in open_columns:
            raise PlanError(
                f"columns.{name}.hierarchy is missing; a quasi-identifier needs one, for example "
                '{ kind = "flat" } to show or suppress values, or { file = "..." }'
            )
    return schema


def refuse_nested(plan: Plan, source: CellSource, schema: Schema) -> None:
    """Lists, structs, bytes and durations pass through Parquet only."""
    for name in schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP):
        dtype = source.dtype(name)
        if plan.output_format == "csv" and (dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration)):
            raise PlanError(
                f"columns.{name}: cells of type {dtype} cannot be written as CSV; "
                'set [output] format = "parquet", or drop the column'
            )


def refuse_stars(source: str, quasi: Sequence[ObservedDomain]) -> None:
    """A cell that reads like a suppressed one could not be told from it."""
    for domain in quasi:
        if TOP in domain.values:
            rows = int(domain.counts[domain.values.index(TOP)])
            raise DataError(
                f"{source}, column {domain.column!r}: {rows} cells are {TOP!r}, which a release uses for "
                "suppressed cells; write them as '?' and declare that in [input] missing"
            )


def without_missing(plan: Plan, source: S, schema: Schema) -> tuple[S, int]:
    """Leave out rows with missing values where the plan says so."""
    if plan.input.on_missing == "keep":
        return source, 0
    whole = source.complete(schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET))
    if not whole.rows:
        raise DataError(f'{source.source}: every row has a missing value; set [input] on_missing = "keep"')
    return whole, source.rows - whole.rows
