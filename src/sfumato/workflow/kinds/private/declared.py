"""Rows over declared domains: what a differentially private algorithm may be given.

Domains come from the plan and never from the table: labels that only occur because somebody has them would tell of that
person. Only the kind ``observed`` reads them off the rows, and claims nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.budget.events import Event
from sfumato.data.table import Codes, Table
from sfumato.describe.domains import Categories, Numbers, ObservedDomain
from sfumato.describe.paths import Paths
from sfumato.describe.ranges import Grown, Intervals
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, unknown_column
from sfumato.group.coded_rows import CodedRows
from sfumato.group.tally import Counts
from sfumato.publish.noisy_table import PrivateTable
from sfumato.queries.queryable import texts_in
from sfumato.workflow.kinds.private.placing import Placed, Rows, classes_of, leaf_of, left_out, number_of, set_of
from sfumato.workflow.plan.builders import Builder, builder
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ready:
    """A table over declared domains, and what finding the domains cost."""

    table: PrivateTable
    """What an algorithm is given."""
    notes: tuple[str, ...] = ()
    """What the steward should know, and nobody else."""
    found: tuple[Event, ...] = ()
    """What was paid for domains that were looked for."""


def declared_table(plan: Plan, table: Table) -> PrivateTable:
    """The plan's quasi-identifiers as predictors and its target as the class."""
    return declared(plan, table).table


def declared(plan: Plan, table: Table, times: Counts | None = None) -> Ready:
    """The table over the plan's domains; a record with a value outside is clamped, told as other or left out.

    ``times`` says how often each row is there, where an engine counted equal ones together.
    """
    observed = plan.privacy.get("domains") == "observed"
    for name, column in plan.columns.items():
        if times is None and name not in table.names:
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
    classes, codes, outside = _classes(plan, table, target, observed=observed)
    found = [_attribute(plan, table, name, column, observed=observed) for name, column in quasi]
    outside |= {one.attribute.name: (one.kept, one.moved) for one in found}
    if plan.input.on_missing == "drop":
        outside |= {name: (kept & ~_absent(table, name), moved) for name, (kept, moved) in outside.items()}
    made = PrivateTable(
        attributes=tuple(one.attribute for one in found),
        classes=classes,
        counts=CodedRows(columns=tuple(one.rows for one in found), counted={target or "": codes}, times=times),
        target_name=target,
    )
    notes = left_out(outside, table.rows) if times is None else ()
    return Ready(table=_kept(made, [kept for kept, _ in outside.values()]), notes=notes)


def _kept(table: PrivateTable, kept: list[Rows]) -> PrivateTable:
    """The table without the records that have no place in some domain."""
    rows = np.logical_and.reduce(kept)
    if rows.all() or not isinstance(table.counts, CodedRows):
        return table
    return replace(table, counts=table.counts.take(np.flatnonzero(rows)))


def _absent(table: Table, name: str) -> Rows:
    found: Rows = table.is_missing(name).to_numpy()
    return found


def _classes(
    plan: Plan, table: Table, target: str | None, *, observed: bool
) -> tuple[tuple[str, ...], Codes, dict[str, tuple[Rows, int]]]:
    if target is None:
        return ("all",), np.zeros(table.rows, np.int32), {}
    column = plan.columns[target]
    if not column.values and not observed:
        raise PlanError(f"columns.{target}.values is missing; declare every class that a record can have")
    names = column.values or tuple(sorted(texts_in(table.frame[target]).drop_nulls().unique().to_list()))
    if column.other is not None:
        names = tuple(dict.fromkeys((*names, column.other)))
    codes, kept, moved = classes_of(table, target, names or ("all",), column)
    return names or ("all",), codes, {target: (kept, moved)}


def made_of(plan: Plan, name: str, column: ColumnPlan) -> Builder:
    """The builder of a column's hierarchy: the one that the plan describes, or its values side by side; with other."""
    tree: Mapping[str, Any] = column.hierarchy or ({"kind": "flat"} if not column.values else {})
    path = f"columns.{name}.hierarchy"
    made: Builder = (
        Paths(paths=dict.fromkeys(column.values, ()))
        if column.values and not tree
        else builder(tree, path, plan.folder)
    )
    said = made.declared()
    if column.other is None or not isinstance(said, Categories) or column.other in said.values:
        return made
    if column.other in {label for labels in said.paths.values() for label in labels}:
        raise PlanError(f"columns.{name}.other: {column.other!r} is a group of the tree; take a value, or a new name")
    whole = made if isinstance(made, Paths) else Paths(paths=said.paths)
    return replace(whole, paths={**whole.paths, column.other: ()})


def _attribute(plan: Plan, table: Table, name: str, column: ColumnPlan, *, observed: bool) -> Placed:
    path, made = f"columns.{name}.hierarchy", made_of(plan, name, column)
    said = made.declared()
    if column.type == "set":
        if not isinstance(said, Categories):
            raise PlanError(f"{path}: sets need a declared tree over their items (file, tree, bundled)")
        return set_of(table, name, made.build(ObservedDomain.whole(name, said)), column)
    if isinstance(said, Numbers):
        return number_of(table, name, said, column)
    if isinstance(said, Categories):
        missing = plan.input.missing[0] if plan.input.missing and plan.input.on_missing == "keep" else None
        whole = ObservedDomain.whole(name, said, missing=None if missing in said.values else missing)
        return leaf_of(table, name, made.build(whole), column, missing)
    if isinstance(made, Intervals | Grown):
        raise PlanError(
            f"{path}: low and high are missing; limits that are read off the rows break the promise, also for studies. "
            'domain_from = "discover" looks for them and pays'
        )
    if not observed:
        raise PlanError(
            f"{path}: a differentially private release needs a declared domain: a tree (file, tree, bundled, groups), "
            '{ kind = "grown", low = .., high = .. } for numbers, or values = [..]. One that is read off the rows '
            'breaks the promise; domain_from = "discover" looks for it and pays, and privacy.domains = "observed" '
            "reads it off for studies, without any claim"
        )
    domain = ObservedDomain.of(table.column(name, column.type if column.type != "set" else None))  # type: ignore[arg-type]
    return leaf_of(table, name, made.build(domain), column, domain.missing)
