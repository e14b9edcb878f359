"""From a plan and a table to a problem that an algorithm can solve."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.table import Column, Table, as_text
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.describe.paths import Paths
from sfumato.describe.roles import Role, Schema
from sfumato.describe.texts import OrderedGroups
from sfumato.ground.errors import DataError, PlanError, unknown_column
from sfumato.ground.shares import rows_within
from sfumato.group.cells import Cells, cells
from sfumato.group.classes import Classes
from sfumato.models.k_anonymity import asked_k
from sfumato.models.verdict import Model
from sfumato.publish.problem import Grain, Problem
from sfumato.utility.view import measures
from sfumato.workflow.catalog import Catalog
from sfumato.workflow.hierarchies import builder
from sfumato.workflow.plan import Plan
from sfumato.workflow.requirements import Ancestors, Context, Costs, requirement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """A table made ready: encoded, described, counted, with its requirement."""

    table: Table
    """The rows that are used."""
    schema: Schema
    """The roles of every column of the table; columns that the plan does not name are dropped."""
    columns: Mapping[str, Column]
    """Quasi-identifiers, sensitive and target columns, encoded."""
    cells: Cells
    """The cells."""
    problem: Problem
    """What the algorithm is given."""
    dropped_rows: int
    """Rows left out because of missing values."""

    def at(self, grain: Grain) -> Prepared:
        """The same with one cell per row, where the algorithm asks for that."""
        if grain == "cells":
            return self
        apart = self.cells.singly(self.columns)
        return replace(self, cells=apart, problem=replace(self.problem, cells=apart.classes))


def prepare(plan: Plan, table: Table, population: Table | None, parts: Catalog) -> Prepared:
    """Check the plan against the table and count; nothing is searched yet."""
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    schema = schema_of(plan, table)
    refuse_nested(plan, table, schema)
    table, dropped = without_missing(plan, table, schema)
    kinds: dict[str, Any] = {name: column.type for name, column in plan.columns.items()}
    models = requirement(plan.privacy, _context(plan, table, schema, kinds))
    wanted = dict.fromkeys([*schema.named(Role.SENSITIVE, Role.TARGET), *(c for m in models for c in m.columns)])
    encoded = {name: table.column(name, kinds[name]) for name in (*schema.quasi, *wanted)}
    refuse_stars(table, [encoded[name] for name in schema.quasi])
    quasi = [encoded[name] for name in schema.quasi]
    everyone = None if population is None else _shared_codes(quasi, replace(population, missing=table.missing), kinds)
    if everyone is not None:
        quasi = [mine for mine, _ in everyone]
        encoded |= {column.name: column for column in quasi}
    hierarchies = tuple(_hierarchy(plan, column, theirs) for column, theirs in _pairs(quasi, everyone))
    counted = cells(quasi, [encoded[name] for name in wanted])
    grouped = _with_originals(counted.classes)
    if everyone is not None:
        grouped = replace(grouped, population=cells([theirs for _, theirs in everyone]).classes)
    _refuse_population(plan, models, known=everyone is not None)
    return Prepared(
        table=table,
        schema=schema,
        columns=encoded,
        cells=replace(counted, classes=grouped),
        problem=replace(
            _problem(plan, grouped, hierarchies, models, schema, parts),
            numbers=tuple(c.numbers if c.kind in ("integer", "real") else None for c in quasi),
        ),
        dropped_rows=dropped,
    )


def _refuse_population(plan: Plan, models: tuple[Model, ...], *, known: bool) -> None:
    """Models of presence need a population, and rows of nothing but ``*`` have none."""
    if not any(model.name in ("delta-presence", "k-map") for model in models):
        return
    if not known:
        raise PlanError("input.population: delta_presence and k_map need a population table; name its file")
    if plan.algorithm.suppressed == "star" and plan.algorithm.max_suppressed:
        raise PlanError(
            'algorithm.suppressed = "star": a row of nothing but * cannot be compared with a population, as '
            'delta_presence and k_map do; use "remove"'
        )


def _problem(
    plan: Plan,
    grouped: Classes,
    hierarchies: tuple[Hierarchy, ...],
    models: tuple[Model, ...],
    schema: Schema,
    parts: Catalog,
) -> Problem:
    if plan.metric == "classification" and schema.target is None:
        raise PlanError("utility.metric: classification needs a column with role = 'target'")
    if plan.learner is not None and schema.target is None:
        raise PlanError("utility.learner: a learner needs a column with role = 'target'")
    return Problem(
        cells=grouped,
        hierarchies=hierarchies,
        models=models,
        metric=parts.metric(plan.metric, k=asked_k(models)),
        target=schema.target,
        limit=rows_within(plan.algorithm.max_suppressed, grouped.rows),
        suppressed=plan.algorithm.suppressed,
        exempt=plan.algorithm.exempt_suppressed,
        reading=plan.privacy.get("reading", "strict"),
    )


def schema_of(plan: Plan, table: Table, open_columns: Sequence[str] = ()) -> Schema:
    """The roles of all columns; a quasi-identifier needs a hierarchy where nothing can be left out of it."""
    for name in plan.columns:
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
    roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in table.names}
    schema = Schema(roles=roles)
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


def refuse_nested(plan: Plan, table: Table, schema: Schema) -> None:
    """Lists, structs, bytes and durations pass through Parquet only."""
    for name in schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP):
        dtype = table.frame[name].dtype
        if plan.output_format == "csv" and (dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration)):
            raise PlanError(
                f"columns.{name}: cells of type {dtype} cannot be written as CSV; "
                'set [output] format = "parquet", or drop the column'
            )


def refuse_stars(table: Table, quasi: list[Column]) -> None:
    """A cell that reads like a suppressed one could not be told from it."""
    for column in quasi:
        if TOP in column.values:
            rows = int(column.counts[column.values.index(TOP)])
            raise DataError(
                f"{table.source}, column {column.name!r}: {rows} cells are {TOP!r}, which a release uses for "
                "suppressed cells; write them as '?' and declare that in [input] missing"
            )


def without_missing(plan: Plan, table: Table, schema: Schema) -> tuple[Table, int]:
    """Leave out rows with missing values where the plan says so."""
    if plan.input.on_missing == "keep":
        return table, 0
    absent = np.zeros(table.rows, np.bool_)
    for name in schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET):
        absent |= table.is_missing(name).to_numpy()
    if absent.all():
        raise DataError(f'{table.source}: every row has a missing value; set [input] on_missing = "keep"')
    return replace(table, frame=table.frame.filter(~pl.Series(absent))), int(absent.sum())


def _context(plan: Plan, table: Table, schema: Schema, kinds: Mapping[str, Any]) -> Context:
    def paths(name: str) -> Ancestors:
        tree = plan.columns[name].hierarchy
        if tree is None:
            raise PlanError(f"columns.{name}.hierarchy is missing; this requirement needs a tree over its values")
        made = builder(tree, f"columns.{name}.hierarchy", plan.folder)
        if not isinstance(made, Paths | OrderedGroups):
            raise PlanError(
                f"columns.{name}.hierarchy: this requirement needs a declared tree (file, tree, bundled or groups); "
                "one that is read off the values would tell the values of suppressed rows"
            )
        made.build(ObservedDomain.of(table.column(name, kinds[name])))
        return made.declared()

    return Context(
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        published=schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP),
        paths=paths,
        costs=lambda column, file: read_costs(plan.folder, file),
    )


def read_costs(folder: Path, file: str | None) -> Costs:
    """A square cost matrix from a CSV file: the values in the first line and in the first column."""
    if file is None:
        raise PlanError("privacy.t_closeness.file: emd-matrix needs a file with the cost matrix")
    try:
        with (folder / file).open(encoding="utf-8", newline="") as handle:
            first, *lines = [[cell.strip() for cell in line] for line in csv.reader(handle) if line]
        costs = tuple(tuple(float(cell) for cell in line[1:]) for line in lines)
    except (OSError, ValueError) as error:
        raise PlanError(f"privacy.t_closeness.file: {file} is no cost matrix: {error}") from error
    if [line[0] for line in lines] != first[1:]:
        raise PlanError(
            f"privacy.t_closeness.file: {file} must name the same values in its first line and first column"
        )
    return tuple(first[1:]), costs


def _shared_codes(quasi: list[Column], population: Table, kinds: Mapping[str, Any]) -> list[tuple[Column, Column]]:
    """Encode table and population over the same values."""
    pairs = []
    for column in quasi:
        theirs = population.require(column.name, where="input.population")
        known = [*column.present, None]
        mine = pl.Series(column.name, known, dtype=pl.String).gather(np.minimum(column.codes, len(column.present)))
        both = Table(frame=pl.DataFrame([pl.concat([mine, as_text(theirs)])]), missing=population.missing)
        joint = both.column(column.name, kinds[column.name] or column.kind)
        rows = len(column.codes)
        pairs.append((replace(joint, codes=joint.codes[:rows]), replace(joint, codes=joint.codes[rows:])))
    return pairs


def _pairs(quasi: list[Column], everyone: list[tuple[Column, Column]] | None) -> list[tuple[Column, Column | None]]:
    return [(column, None) for column in quasi] if everyone is None else list(everyone)


def _hierarchy(plan: Plan, column: Column, theirs: Column | None) -> Hierarchy:
    """Bind the plan's hierarchy to a column (and to the population's values where there are some)."""
    whole = column if theirs is None else replace(column, codes=np.concatenate([column.codes, theirs.codes]))
    tree = plan.columns[column.name].hierarchy
    made = builder(tree or {"kind": "flat"}, f"columns.{column.name}.hierarchy", plan.folder)
    return made.build(ObservedDomain.of(whole))


def _with_originals(grouped: Classes) -> Classes:
    """Remember the original distributions and what metrics need, before anything is taken out."""
    tallies = {name: replace(tally, original=tally.overall) for name, tally in grouped.tallies.items()}
    return replace(grouped, tallies=tallies, measures=measures(grouped))
