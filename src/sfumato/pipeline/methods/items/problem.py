"""What a plan for paths and sets can say, and the problem that it poses on a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl

from sfumato.algorithms.items.problem import Axis, ItemProblem, ItemSpace
from sfumato.bundles.checks.items import SPLIT, secret_of
from sfumato.core.errors import DataError, PlanError, listed, nearest, unknown_column
from sfumato.core.short_repr import Brief
from sfumato.counts.local_table import LocalTable
from sfumato.counts.transactions import ItemPart, assembled
from sfumato.pipeline.catalog.catalog import catalog, parameters, refuse_keys, requirement
from sfumato.pipeline.catalog.parts import Ancestors, Context, Costs, configured
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.methods.schema import refuse_nested, refuse_stars, schema_of, without_missing
from sfumato.pipeline.plan.columns import ColumnPlan, Tree, refuse_total
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.item_sets import ItemColumn, set_column
from sfumato.tables.long_tables import gathered, joined
from sfumato.tables.schema import ObservedDomain, Role, Schema
from sfumato.tables.table import Codes, Column, Table
from sfumato.tables.trajectories import trajectory_column

if TYPE_CHECKING:
    from sfumato.pipeline.profile.profile import Profile


# What a plan for paths and sets can say, as far as that needs no table.


OTHERWISE = "paths and sets are judged by what somebody knows of them"
_PATHS = "Chosen by auto: a column has paths, whose frequent sequences it keeps."
_SETS = "Chosen by auto: columns have sets, and no paths."


def check(plan: Plan) -> None:
    """Refuse unknown names and options, and parameters that no table could make right."""
    item_algorithm(plan)
    if plan.privacy:
        refuse_total(plan.columns, "a release of paths or sets")
    if plan.input.unit is not None:
        raise PlanError(
            "input.unit: with paths and sets a record is a person. Gather the rows of each person into one record, by "
            "columns.NAME.long with id"
        )
    for name in plan.itemized:
        if plan.columns[name].role is not Role.QUASI:
            raise PlanError(
                f"columns.{name}.role: a column of type {plan.columns[name].type} is what others may know; make it "
                "'quasi', or 'drop'"
            )
    refuse_keys(plan.privacy, tuple(catalog().builders("items")), OTHERWISE)
    if plan.privacy:
        item_models(plan.privacy, [name for name, column in plan.columns.items() if column.role is Role.SENSITIVE])


def item_models(privacy: Mapping[str, Any], sensitive: Sequence[str]) -> tuple[Any, ...]:
    """Every model that the [privacy] table asks for; ``sensitive`` are the sensitive columns."""
    context = Context(quasi=(), sensitive=tuple(sensitive), published=(), paths=_no_paths, costs=_no_costs)
    return requirement(privacy, context, catalog(), kind="items", otherwise=OTHERWISE)


def _no_paths(column: str) -> Ancestors:
    _none(column)


def _no_costs(column: str, file: str | None) -> Costs:
    _none(column)


def _none(column: str) -> NoReturn:
    raise PlanError(f"columns.{column}: models of paths and sets read no tree over sensitive values")


def item_algorithm(plan: Plan) -> tuple[str, Any, str]:
    """The plan's algorithm with its options, and why."""
    name, why = plan.algorithm.name, "Named in the plan."
    known = catalog().solving("items")
    if name == "auto":
        paths = any(plan.columns[column].type == "trajectory" for column in plan.itemized)
        name, why = ("trajectory", _PATHS) if paths else ("sets", _SETS)
    if name not in known:
        raise PlanError(
            f"algorithm.name: {name!r} does not take columns of type set or trajectory{nearest(name, known)} "
            f"For them there are auto, {listed(known)}"
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
    return name, configured(known[name], plan.algorithm.options, other_keys=("name", "seconds", "seed")), why


def draft(profile: Profile) -> list[str]:
    """The requirement of a drafted plan: whoever knows two items finds five records."""
    k = max(min(5, profile.rows), 1)
    privacy = ["[privacy]", f"km = {{ k = {k}, m = 2 }}  # or lkc, with a sensitive column"]
    return [*privacy, "", "[algorithm]", 'name = "auto"']


class ItemModels:
    """The models of paths and sets, as a verifier needs them."""

    def model(self, name: str, given: Mapping[str, Any]) -> Any:
        """A model from its name and its parameters as the manifest has them."""
        return catalog().model(name, given)

    def asked(self, plan: Mapping[str, Any], sensitive: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
        """The models that a manifest's plan asks for."""
        return [(model.name, parameters(model)) for model in item_models(plan["privacy"], sensitive)]


# The table of a plan with paths or sets: long tables are gathered, one record a row.


def item_table(plan: Plan, table: Table) -> Table:
    """The table with every gathered column; the input itself may be one long table."""
    longs = {name: column.long.file for name, column in plan.columns.items() if column.long is not None}
    inner = [name for name, file in longs.items() if file is None]
    if len(inner) > 1:
        raise PlanError(f"columns.{inner[1]}.long.file is missing; the input can be the long table of one column only")
    if inner:
        table = _gathered_itself(plan, table, inner[0])
    for name, file in longs.items():
        if file is not None:
            table = _joined(plan, table, file, name)
    return table


def _gathered_itself(plan: Plan, table: Table, name: str) -> Table:
    """The input as a long table; the plan's other columns must say one thing per id."""
    spec = plan.columns[name].spec(name)
    used = {spec.place, spec.time, spec.x, spec.y, spec.item, *spec.id, name}
    others = tuple(
        column_name for column_name, column in plan.columns.items() if column_name not in used and column.long is None
    )
    for column_name in others:
        if column_name not in table.names:
            raise unknown_column(column_name, table.names, where=f"columns.{column_name}")
    return gathered(table, replace(spec, keep=others))


def _joined(plan: Plan, table: Table, file: str, name: str) -> Table:
    points, spec = read_file(plan.folder / file, missing=plan.input.missing), plan.columns[name].spec(name)
    for id_column in spec.id:
        if id_column not in table.names:
            raise unknown_column(id_column, table.names, where=f"columns.{name}.long.id")
    return joined(table, gathered(points, spec), spec.id, name)


def item_marks(plan: Plan) -> list[str]:
    """Warnings that belong to what a record is."""
    clocks = [column.clock for column in plan.columns.values()]
    return [SPLIT] if any(clock is not None and clock.split is not None for clock in clocks) else []


# From a plan and a table with paths or sets to a problem that an algorithm can solve.


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
            item_column = items[name]
            parts.append(ItemPart(starts=item_column.starts, codes=item_column.codes, labels=item_column.labels))
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
    hierarchy = builder(tree, where, plan.folder).build(ObservedDomain.of(column))
    return Axis(values=column.values, tree=hierarchy.tree()), column.codes


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
    hierarchy = builder(tree, where, plan.folder).build(ObservedDomain.of(column))
    axis = Axis(values=column.values, tree=hierarchy.tree())
    values = np.arange(len(column.values), dtype=np.int32)[None]
    return ItemSpace(name=column.name, begin=begin, axes=(axis,), values=values, closed=True)
