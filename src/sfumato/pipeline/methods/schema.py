"""A plan held against its table: the schema, counting from base levels, and algorithms that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl
from msgspec import structs

from sfumato.core.errors import DataError, Infeasible, Interrupted, OutOfTime, PlanError, SfumatoError, unknown_column
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import total
from sfumato.counts.sources import CellSource
from sfumato.pipeline.catalog.catalog import catalog, first_line
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.hierarchy import TOP, BaseLevel, Hierarchy, base_level
from sfumato.tables.schema import ObservedDomain, Role, Schema

# What a plan says about the columns, held against the table; the same for tables, paths and sets.


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


# Counting from base levels: the sources count labels that a plan declares, and not the values below them.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Ground(Brief):
    """What is counted, and over which labels and levels."""

    source: CellSource
    """The rows; columns with a base level have its labels in place of their values."""
    people: CellSource | None
    """The population, read in the same way."""
    domains: Mapping[str, ObservedDomain]
    """What every column can be counted by."""
    hierarchies: tuple[Hierarchy, ...]
    """One per quasi-identifier, from its base level up."""
    based: Mapping[str, BaseLevel]
    """The columns that are counted from a base level."""

    def refuse_changed(self, cells: Classes) -> None:
        """Refuse rows whose values changed since their labels were looked up: they would have none."""
        for name, base in self.based.items():
            place = cells.quasi.index(name)
            counts = total(cells.keys[place].astype(np.int64), cells.sizes, len(cells.labels[place]))
            if not np.array_equal(counts, base.domain.all_counts):
                raise DataError(
                    f"{self.source.source} changed while it was read: column {name!r} has other values than before; "
                    "release a table that nobody writes to, or a copy"
                )


def ground(
    plan: Plan,
    source: CellSource,
    people: CellSource | None,
    domains: Mapping[str, ObservedDomain],
    whole: Mapping[str, ObservedDomain],
) -> Ground:
    """Bind the plan's hierarchies, and let the sources count from the base levels that it declares.

    ``whole`` are the domains of the quasi-identifiers, with the values of the population.
    """
    hierarchies = {name: bound_hierarchy(plan, domain) for name, domain in whole.items()}
    based = {
        name: base_level(domains[name], hierarchy, plan.columns[name].base)
        for name, hierarchy in hierarchies.items()
        if plan.columns[name].base
    }
    labels = {name: base.labels for name, base in based.items()}
    return Ground(
        source=source.coarser(labels) if labels else source,
        people=people.coarser(labels) if labels and people is not None else people,
        domains={**domains, **{name: base.domain for name, base in based.items()}},
        hierarchies=tuple(
            based[name].hierarchy if name in based else hierarchy for name, hierarchy in hierarchies.items()
        ),
        based=based,
    )


def bound_hierarchy(plan: Plan, domain: ObservedDomain) -> Hierarchy:
    """Bind the plan's hierarchy to a column."""
    tree = plan.columns[domain.column].hierarchy
    hierarchy_builder = builder(tree or {"kind": "flat"}, f"columns.{domain.column}.hierarchy", plan.folder)
    return hierarchy_builder.build(domain)


# Which algorithms can be asked to meet a requirement: each says by itself what it cannot do, before it begins.


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Whether an algorithm can be asked."""

    name: str
    """As the plan names it."""
    about: str
    """What it does."""
    why_not: str = ""
    """What it refuses; empty where it can be asked."""


def fitting(plan: Plan, kind: str, begun: Callable[[Plan, Work], object], auto: str, why: str) -> dict[str, Any]:
    """Every algorithm for a kind of release, and what `auto` stands for; ``begun`` begins the one that a plan names."""
    parts = catalog().solving(kind)
    fits = [
        Fit(name=name, about=first_line(part.found), why_not=_why_not(plan, name, begun))
        for name, part in parts.items()
    ]
    return {"algorithms": [asdict(fit) for fit in fits], "auto": auto, "why": why}


def _why_not(plan: Plan, name: str, begun: Callable[[Plan, Work], object]) -> str:
    """What the algorithm refuses. It is begun with no time left: what it can do ends at once."""
    work = Work(seconds=0.0)
    work.cancelled.set()
    try:
        begun(replace(plan, algorithm=structs.replace(plan.algorithm, name=name, options={})), work)
    except (Interrupted, OutOfTime, Infeasible):
        return ""
    except SfumatoError as error:
        return str(error).removeprefix("algorithm.name: ")
    return ""
