"""From a plan and a table with paths or sets to a problem that an algorithm can solve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.itemized import ItemColumn, set_column
from sfumato.data.table import Codes, Column, Table
from sfumato.data.trajectories import trajectory_column
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.roles import Role, Schema
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, PlanError
from sfumato.group.assembled import ItemPart, assembled
from sfumato.group.local_table import LocalTable
from sfumato.publish.items.item_problem import ItemProblem
from sfumato.publish.items.item_space import Axis, ItemSpace
from sfumato.verification.item_checks import secret_of
from sfumato.workflow.kinds.describing import refuse_nested, refuse_stars, schema_of, without_missing
from sfumato.workflow.kinds.items.item_plan import item_models
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.column_plan import ColumnPlan, Tree
from sfumato.workflow.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemPrepared(Brief):
    """A table made ready: every record a set of items."""

    table: Table
    """The rows that are used."""
    schema: Schema
    """The roles of every column of the table."""
    items: Mapping[str, ItemColumn]
    """The columns of paths and sets."""
    cells: Mapping[str, Column]
    """The quasi-identifiers and sensitive columns that have one value a row."""
    problem: ItemProblem
    """What the algorithm is given."""
    dropped_rows: int
    """Rows left out because of missing values."""


def prepare_items(plan: Plan, table: Table) -> ItemPrepared:
    """Check the plan against the table and encode it; nothing is searched yet."""
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    schema = schema_of(plan, table.names, open_columns=plan.itemized)
    local = LocalTable(table)
    refuse_nested(plan, local, schema)
    models = item_models(plan.privacy, schema.sensitive)
    plain = [name for name in schema.quasi if name not in plan.itemized]
    roles = {**schema.roles, **dict.fromkeys(plan.itemized, Role.DROP)}
    whole, dropped = without_missing(plan, local, Schema(roles=roles))
    table = whole.table
    items = {name: items_of(plan.columns[name], table, name) for name in plan.itemized}
    wanted = dict.fromkeys([*plain, *(name for model in models for name in model.columns)])
    kinds: dict[str, Any] = {name: plan.columns[name].type for name in wanted}
    cells = {name: table.column(name, kinds[name]) for name in wanted}
    refuse_stars(table.source, [ObservedDomain.of(cells[name]) for name in plain])
    spaces: list[ItemSpace] = []
    parts: list[ItemPart] = []
    for name in schema.quasi:
        begin = spaces[-1].begin + spaces[-1].count if spaces else 0
        if name in items:
            spaces.append(_item_space(plan, items[name], begin))
            found = items[name]
            parts.append(ItemPart(starts=found.starts, codes=found.codes, labels=found.labels))
        else:
            spaces.append(_cell_space(plan, cells[name], begin))
            labels = tuple(f"{name}={value}" for value in cells[name].values)
            parts.append(ItemPart.of_cells(cells[name].codes, labels))
    secrets = {name: secret_of(cells[name]) for model in models for name in model.columns}
    problem = ItemProblem(transactions=assembled(parts), spaces=tuple(spaces), models=models, secrets=secrets)
    return ItemPrepared(table=table, schema=schema, items=items, cells=cells, problem=problem, dropped_rows=dropped)


def items_of(column: ColumnPlan, table: Table, name: str) -> ItemColumn:
    """The cells of a column as items, read as the plan says."""
    if column.type == "set":
        return set_column(table, name, separator=column.separator)
    first = column.repeats == "first"
    return trajectory_column(table, name, separator=column.separator, mark=column.mark, compress=first)


def _item_space(plan: Plan, items: ItemColumn, begin: int) -> ItemSpace:
    """The items of a column with the trees that the plan gives them."""
    column, path = plan.columns[items.name], f"columns.{items.name}"
    if items.kind == "set":
        sides = [(items.labels, np.arange(len(items.labels), dtype=np.int32), column.hierarchy, f"{path}.hierarchy")]
    else:
        sides = [
            (items.places, items.place, column.hierarchy, f"{path}.hierarchy"),
            (items.times, items.time, column.time_hierarchy, f"{path}.time_hierarchy"),
        ]
    axes, values = [], []
    for texts, codes, tree, where in sides:
        axis, moved = _axis(plan, items.name, texts, tree, where)
        axes.append(axis)
        values.append(moved[codes])
    space = ItemSpace(name=items.name, begin=begin, axes=tuple(axes), values=np.stack(values), mark=column.mark)
    _refuse_separators(axes, column, path)
    return space


def _axis(plan: Plan, name: str, texts: tuple[str, ...], tree: Tree | None, where: str) -> tuple[Axis, Codes]:
    """The values of one axis with their tree, and the place of each text among them."""
    if tree is None or not texts:
        return Axis(values=texts), np.arange(len(texts), dtype=np.int32)
    column = Table(frame=pl.DataFrame({name: list(texts)}), source=where).column(name)
    made = builder(tree, where, plan.folder).build(ObservedDomain.of(column))
    return Axis(values=column.values, tree=made.tree()), column.codes


def _refuse_separators(axes: list[Axis], column: ColumnPlan, path: str) -> None:
    """A coarser label that holds the separator could not be read again."""
    for axis in axes:
        for label in () if axis.tree is None else axis.tree.labels:
            if column.separator in label:
                raise PlanError(
                    f"{path}.separator: {column.separator!r} stands in {label!r}, a label of the hierarchy; name "
                    "another separator"
                )


def _cell_space(plan: Plan, column: Column, begin: int) -> ItemSpace:
    """A column of the table: one item a record, which can be shown coarser but not left out."""
    where = f"columns.{column.name}.hierarchy"
    tree = plan.columns[column.name].hierarchy or {"kind": "flat"}
    made = builder(tree, where, plan.folder).build(ObservedDomain.of(column))
    axis = Axis(values=column.values, tree=made.tree())
    values = np.arange(len(column.values), dtype=np.int32)[None]
    return ItemSpace(name=column.name, begin=begin, axes=(axis,), values=values, closed=True)
