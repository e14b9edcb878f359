"""A party's rows over declared domains: every party has the same columns with the same codes, whatever it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Self, cast

import numpy as np
import polars as pl

from sfumato.data.table import Kind, Table, as_text
from sfumato.describe.domains import Categories, Numbers, ObservedDomain, widened
from sfumato.describe.roles import Role
from sfumato.ground.errors import DataError, PlanError, listed, unknown_column
from sfumato.group.local_table import LocalTable
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan

MOST_VALUES = 100_000
"""No column has more declared values."""
_SLACK = 1e-9
"""Room for rounding on a grid, in steps."""


@dataclass(slots=True, eq=False, repr=False)
class DeclaredTable(LocalTable):
    """Rows whose columns have every declared value, also those that no row has."""

    domains: Mapping[str, ObservedDomain] = field(default_factory=dict)
    """The declared values of each column that is released; none of them counted."""

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The declared values, with the counts of these rows."""
        own = ObservedDomain.of(self.column(name, self.domains[name].kind))
        return widened(own, self.domains[name])

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""
        kept = LocalTable(self.table).complete(names)
        return type(self)(kept.table, domains=self.domains)


def declared_domains(plan: Plan) -> dict[str, ObservedDomain]:
    """Every declared value of each column that is released, or a refusal that names the key."""
    released = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
    return {name: _domain(plan, name, column) for name, column in plan.columns.items() if column.role in released}


def declared_rows(plan: Plan, table: Table, domains: Mapping[str, ObservedDomain]) -> DeclaredTable:
    """A table over declared domains; a value outside, a missing one, and no row at all are refused."""
    missing = plan.input.missing or table.missing
    columns = []
    for name, domain in domains.items():
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"parameters.columns.{name}")
        read = replace(table, missing=missing)
        columns.append(_placed(read, domain, drops=plan.input.on_missing == "drop"))
    kept = Table(frame=pl.DataFrame(columns), source=table.source, missing=tuple(missing))
    return DeclaredTable(kept, domains=domains)


def _domain(plan: Plan, name: str, column: ColumnPlan) -> ObservedDomain:
    where = f"columns.{name}"
    if column.hierarchy is None or column.values:
        if not column.values:
            raise PlanError(f"{where}.values is missing; declare every value that a row of any party can have")
        return _listed(name, column.values, column.type)
    made = builder(column.hierarchy, f"{where}.hierarchy", plan.folder)
    declared = made.declared()
    if isinstance(declared, Categories):
        return _listed(name, declared.values, column.type)
    if isinstance(declared, Numbers):
        grid = float(column.hierarchy.get("grid", 1.0))
        return _grid(name, declared, grid)
    raise PlanError(
        f"{where}.hierarchy declares no domain, so parties would have to tell which values they have; use a tree, "
        "groups, grown or intervals with low and high, or flat beside values"
    )


def _listed(name: str, values: Sequence[str], kind: str | None) -> ObservedDomain:
    texts = pl.DataFrame({name: list(values)}, schema={name: pl.String})
    found = ObservedDomain.of(Table(frame=texts).column(name, cast("Any", kind)))
    return replace(found, counts=np.zeros(len(found.values), np.int64))


def _grid(name: str, declared: Numbers, grid: float) -> ObservedDomain:
    many = floor((declared.high - declared.low) / grid + _SLACK) + 1
    if many > MOST_VALUES:
        raise PlanError(f"columns.{name}.hierarchy.grid has {many:,} values; a wider grid than {grid:g} would do")
    points = declared.low + np.arange(many) * grid
    texts = [_written(point) for point in points.tolist()]
    whole = all(point.is_integer() for point in points.tolist())
    return ObservedDomain(
        column=name,
        kind="integer" if whole else "real",
        values=tuple(texts),
        counts=np.zeros(many, np.int64),
        numbers=np.array([float(text) for text in texts]),
    )


def _written(point: float) -> str:
    return str(int(point)) if point.is_integer() else f"{point:.12g}"


def _placed(table: Table, domain: ObservedDomain, *, drops: bool) -> pl.Series:
    """The cells of a column, each as its declared value is written."""
    name, where = domain.column, f"{table.source}, column {domain.column!r}"
    absent = table.is_missing(name)
    if absent.any() and not drops:
        raise DataError(
            f"{where}: {int(absent.sum()):,} rows have no value; declare a value for them, or say "
            'input.on_missing = "drop", so that every party leaves such rows out'
        )
    texts = as_text(table.require(name)).set(absent, None)
    if domain.numbers is not None:
        return _numbers(texts, domain, where)
    strange = texts.filter(~texts.is_in(list(domain.values)) & texts.is_not_null())
    if len(strange):
        raise DataError(f"{where}: {listed(strange.unique().sort().to_list(), most=3)} is not a declared value")
    return texts


def _numbers(texts: pl.Series, domain: ObservedDomain, where: str) -> pl.Series:
    found = texts.str.strip_chars().cast(pl.Float64, strict=False)
    bad = texts.filter(found.is_null() & texts.is_not_null())
    if len(bad):
        raise DataError(f"{where}: {listed(bad.unique().sort().to_list(), most=3)} is no number")
    points = cast("Any", domain.numbers)
    step = points[1] - points[0] if len(points) > 1 else 1.0
    given = found.fill_null(float(points[0])).to_numpy()
    codes = np.clip(np.rint((given - points[0]) / step), 0, len(points) - 1).astype(np.int64)
    off = np.abs(given - points[codes]) > _SLACK * step * 10
    if off.any():
        value = float(given[np.flatnonzero(off)[0]])
        raise DataError(
            f"{where}: {value:g} is not on the declared grid from {points[0]:g} to {points[-1]:g} in steps of {step:g}"
        )
    placed = pl.Series(texts.name, list(domain.values), dtype=pl.String).gather(codes)
    return placed.set(texts.is_null(), None)
