"""Rows over declared domains: what a differentially private algorithm may be given.

Domains come from the plan and never from the table: labels that only occur because somebody has them would tell of that
person. ``privacy.domains = "observed"`` allows it all the same, and the manifest says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.table import Codes, Table, as_text
from sfumato.describe.domains import Categories, Numbers, ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.paths import Paths
from sfumato.describe.ranges import Grown, Intervals
from sfumato.describe.roles import Role
from sfumato.describe.spans import Ends
from sfumato.ground.errors import DataError, PlanError, listed, unknown_column
from sfumato.group.coded_column import CodedColumn
from sfumato.group.coded_rows import CodedRows
from sfumato.publish.noisy_table import Attribute, PrivateTable, grid_cells
from sfumato.workflow.plan.builders import Builder, builder
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan

Declared = tuple[Attribute, CodedColumn]
"""A declared domain, and every row's value in it."""
MOST_CELLS = 1_000_000
"""More cells than this have no use: no count of them would be above its noise."""


def declared_table(plan: Plan, table: Table) -> PrivateTable:
    """The plan's quasi-identifiers as predictors and its target as the class; values outside a domain are refused."""
    observed = plan.privacy.get("domains") == "observed"
    if plan.input.on_missing == "drop":
        raise PlanError("input.on_missing: a private release cannot drop rows by their values; clean the table first")
    for name, column in plan.columns.items():
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
        if column.role in (Role.SENSITIVE, Role.KEEP):
            raise PlanError(
                f"columns.{name}.role: {str(column.role)!r} would publish the column unchanged, which no epsilon "
                "covers; make it 'quasi' (with a declared domain) or 'drop'"
            )
    quasi = [(name, column) for name, column in plan.columns.items() if column.role is Role.QUASI]
    if not quasi:
        raise PlanError("columns: no column has role = 'quasi'; name those that are to be published")
    target = next((name for name, column in plan.columns.items() if column.role is Role.TARGET), None)
    classes, codes = _classes(plan, table, target, observed=observed)
    found = [_attribute(plan, table, name, column, observed=observed) for name, column in quasi]
    return PrivateTable(
        attributes=tuple(attribute for attribute, _ in found),
        classes=classes,
        counts=CodedRows(columns=tuple(rows for _, rows in found), counted={target or "": codes}),
        target_name=target,
    )


def _classes(plan: Plan, table: Table, target: str | None, *, observed: bool) -> tuple[tuple[str, ...], Codes]:
    if target is None:
        return ("all",), np.zeros(table.rows, np.int32)
    values = plan.columns[target].values
    if not values and not observed:
        raise PlanError(f"columns.{target}.values is missing; declare every class that a record can have")
    cells = as_text(table.frame[target])
    names = values or tuple(sorted(cells.drop_nulls().unique().to_list()))
    return names, _coded(table, target, cells, {name: code for code, name in enumerate(names)})


def _attribute(plan: Plan, table: Table, name: str, column: ColumnPlan, *, observed: bool) -> Declared:
    tree: Mapping[str, Any] = column.hierarchy or ({"kind": "flat"} if not column.values else {})
    path = f"columns.{name}.hierarchy"
    made = (
        Paths(paths=dict.fromkeys(column.values, ()))
        if column.values and not tree
        else builder(tree, path, plan.folder)
    )
    declared = made.declared()
    if column.type == "set":
        return _set(table, column, made, name)
    if isinstance(declared, Numbers):
        return _number(table, name, declared, path)
    if isinstance(declared, Categories):
        missing = plan.input.missing[0] if plan.input.missing and plan.input.on_missing == "keep" else None
        return _leaf(table, name, made.build(ObservedDomain.whole(name, declared, missing=missing)))
    if isinstance(made, Intervals | Grown):
        raise PlanError(
            f"{path}: low and high are missing; limits that are read off the rows break the promise, also for studies"
        )
    if not observed:
        raise PlanError(
            f"{path}: a differentially private release needs a declared domain: a tree (file, tree, bundled, groups), "
            '{ kind = "grown", low = .., high = .. } for numbers, or values = [..]. One that is read off the rows '
            'breaks the promise; privacy.domains = "observed" does it all the same, for studies'
        )
    domain = ObservedDomain.of(table.column(name, column.type if column.type != "set" else None))  # type: ignore[arg-type]
    return _leaf(table, name, made.build(domain))


def _leaf(table: Table, name: str, hierarchy: Hierarchy) -> Declared:
    """Every row's leaf; a declared missing marker is one even if it never occurs."""
    values = hierarchy.levels[0].labels
    cells = as_text(table.frame[name])
    if hierarchy.missing is not None:
        absent = table.is_missing(name)
        cells = pl.Series(name, cells).zip_with(~absent, pl.Series([values[hierarchy.missing]], dtype=pl.String))
    codes = _coded(table, name, cells, {value: code for code, value in enumerate(values)})
    made = Attribute(name=name, kind="tree", values=values, tree=hierarchy.tree())
    return made, CodedColumn(codes=codes, size=len(values))


def _number(table: Table, name: str, declared: Numbers, path: str) -> Declared:
    grid = declared.grid or 1.0
    cells = grid_cells(declared.low, declared.high, grid)
    if cells > MOST_CELLS:
        raise PlanError(f"{path}: a grid of {grid:g} has {cells:,} cells; at most {MOST_CELLS:,} can be told apart")
    column = table.column(name, "real")
    numbers = column.numbers[column.codes]
    beyond = ~((numbers >= declared.low) & (numbers <= declared.high))
    if beyond.any():
        raise DataError(
            f"{table.source}, column {name!r}: {int(beyond.sum())} cells lie outside the declared range "
            f"{declared.low:g} to {declared.high:g}, or are missing; widen the range, or clean the table first"
        )
    codes = np.minimum(((numbers - declared.low) / grid).astype(np.int64), cells - 1).astype(np.int32)
    ends = Ends(low=declared.low, high=declared.high, low_known=True, high_known=True)
    bounds = [min(declared.low + place * grid, declared.high) for place in range(cells)] + [declared.high]
    labels = [ends.named((a, b), first=not n, last=n == cells - 1) for n, (a, b) in enumerate(pairwise(bounds))]
    found = Attribute(name=name, kind="number", values=tuple(labels), low=declared.low, high=declared.high, grid=grid)
    return found, CodedColumn(codes=codes, size=cells)


def _set(table: Table, column: ColumnPlan, made: Builder, name: str) -> Declared:
    """Every row's items; a row without items has an empty set."""
    declared = made.declared()
    if not isinstance(declared, Categories):
        raise PlanError(f"columns.{name}.hierarchy: sets need a declared tree over their items (file, tree, bundled)")
    hierarchy = made.build(ObservedDomain.whole(name, declared))
    cells = table.frame[name]
    lists = cells if cells.dtype == pl.List else cells.cast(pl.String).str.split(column.separator)
    pairs = pl.DataFrame([pl.Series("row", np.arange(table.rows)), lists.alias("item")]).explode("item")
    pairs = pairs.with_columns(pl.col("item").cast(pl.String).str.strip_chars())
    pairs = pairs.filter(pl.col("item").is_not_null() & (pl.col("item") != "")).unique(maintain_order=True)
    codes = _coded(table, name, pairs["item"], {value: code for code, value in enumerate(hierarchy.levels[0].labels)})
    lengths = np.bincount(pairs["row"].to_numpy(), minlength=table.rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = hierarchy.levels[0].labels
    found = Attribute(name=name, kind="set", values=values, tree=hierarchy.tree())
    return found, CodedColumn(codes=codes, size=len(values), starts=starts)


def _coded(table: Table, name: str, cells: pl.Series, known: Mapping[str, int]) -> Codes:
    """The code of every cell, or a refusal that names the strange values."""
    found = cells.replace_strict(pl.Series(list(known)), pl.Series(list(known.values()), dtype=pl.Int32), default=None)
    if found.null_count():
        strange = cells.filter(found.is_null()).unique(maintain_order=True).to_list()[:5]
        raise DataError(
            f"{table.source}, column {name!r}: {found.null_count()} cells are outside the declared domain: "
            f"{listed([str(one) for one in strange])}; declare these values, or clean the table first"
        )
    return found.to_numpy().astype(np.int32)
