"""From a plan and a source of cells to a problem that an algorithm can solve."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Kind, Table
from sfumato.describe.base_levels import BaseLevel
from sfumato.describe.domains import Categories, ObservedDomain, joined, widened
from sfumato.describe.hierarchy import Hierarchy
from sfumato.describe.roles import Role, Schema
from sfumato.ground.brief import Brief
from sfumato.ground.errors import DataError, PlanError, listed, unknown_column
from sfumato.ground.opening import read_text
from sfumato.ground.shares import rows_within
from sfumato.group.cell_source import CellSource
from sfumato.group.classes import Classes
from sfumato.group.local_table import LocalTable
from sfumato.group.needs import refuse_lacking
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.per_person import per_person
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.verdict import Model
from sfumato.publish.problem import Grain, Problem
from sfumato.utility.view import measures
from sfumato.workflow.catalog.lookup import Catalog
from sfumato.workflow.catalog.parts import Ancestors, Context, Costs
from sfumato.workflow.catalog.requirement import as_claimed, requirement
from sfumato.workflow.kinds.describing import refuse_nested, refuse_stars, schema_of, without_missing
from sfumato.workflow.kinds.table.counted_from import ground
from sfumato.workflow.plan.builders import builder
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sfumato.workflow.kinds.table.released_rows import Origin

Scales = tuple[NDArray[np.float64] | None, ...]
READING = ("reading",)
"""Keys of [privacy] that ask for no model: how unknown cells are read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Prepared(Brief):
    """A table made ready: described, counted, with its requirement."""

    source: CellSource
    """The rows that are used; nobody else knows them."""
    schema: Schema
    """The roles of every column of the table; columns that the plan does not name are dropped."""
    domains: Mapping[str, ObservedDomain]
    """What quasi-identifiers, sensitive and target columns were seen to have."""
    problem: Problem
    """What the algorithm is given."""
    counted: tuple[str, ...]
    """The columns that are tallied in every cell."""
    dropped_rows: int
    """Rows left out because of missing values."""
    models: tuple[Model, ...]
    """What must hold; the problem's own models know besides what a search may rely on."""
    unit: str | None = None
    """The column that tells people apart, where people are counted."""
    grain: Grain = "cells"
    """Whether the search tells rows with equal quasi-identifiers apart (``rows``) or not (``cells``)."""
    based: Mapping[str, BaseLevel] = field(default_factory=dict)
    """The columns that are counted from a coarser level of their hierarchy."""
    origin: Origin | None = None
    """The whole table, where these are the rows that stay of it."""
    released: Prepared | None = None
    """The rows that stay, where others were removed: whatever is public is read off these."""

    @property
    def public(self) -> Prepared:
        """The rows that are released, described by themselves."""
        return self if self.released is None else self.released

    @property
    def rows(self) -> int:
        """How many rows are used."""
        return self.source.rows

    @property
    def people(self) -> int | None:
        """How many people they are of, where people are counted."""
        people = self.problem.cells.people
        return None if people is None else people.count

    def at(self, grain: Grain) -> Prepared:
        """The same with one cell per row, where the algorithm asks for that."""
        if grain in ("cells", self.grain):
            return self
        if self.origin is not None:
            return self.origin.by_row()
        names = self.problem.cells.quasi
        columns = [self.domains[n] for n in names], [self.domains[n] for n in self.counted]
        apart = self.source.singles(*columns, self.unit)
        apart = replace(with_originals(apart), population=self.problem.cells.population)
        return replace(self, problem=replace(self.problem, cells=apart), grain="rows")


def prepare(plan: Plan, rows: CellSource | Table, population: CellSource | Table | None, parts: Catalog) -> Prepared:
    """Check the plan against the table and count; nothing is searched yet."""
    source, people = _source(rows), None if population is None else _source(population)
    if not source.rows:
        raise DataError(f"{source.source} has no rows; a release needs some")
    schema = schema_of(plan, source.names)
    refuse_nested(plan, source, schema)
    source, dropped = without_missing(plan, source, schema)
    kinds: dict[str, Any] = {name: column.type for name, column in plan.columns.items()}
    context = context_of(plan, source, schema, kinds)
    for name in schema.guarded:
        context.paths(name)
    models = requirement(plan.privacy, context, parts, beside=READING)
    _refuse_wishes(plan, models, source)
    wanted = tuple(dict.fromkeys([*schema.named(Role.SENSITIVE, Role.TARGET), *(c for m in models for c in m.columns)]))
    domains = {name: source.domain(name, kinds.get(name)) for name in (*schema.quasi, *wanted)}
    refuse_stars(source.source, [domains[name] for name in schema.quasi])
    whole = {
        name: domains[name] if people is None else _shared(domains[name], people, kinds[name]) for name in schema.quasi
    }
    domains |= {name: widened(domains[name], domain) for name, domain in whole.items()}
    counted = ground(plan, source, people, domains, whole)
    source, people, domains = counted.source, counted.people, dict(counted.domains)
    quasi = [domains[name] for name in schema.quasi]
    unit = unit_of(plan, source)
    if plan.attack.group is not None and plan.attack.group not in source.names:
        raise unknown_column(plan.attack.group, source.names, where="attack.group")
    grouped = with_originals(source.cells(quasi, [domains[name] for name in wanted], unit))
    counted.refuse_changed(grouped)
    if people is not None:
        grouped = replace(grouped, population=people.cells(quasi))
    _refuse_population(plan, models, parts, known=people is not None)
    _refuse_reference(plan, models)
    if unit is not None and any(getattr(model, "reference", "released") == "original" for model in models):
        raise PlanError('privacy.t_closeness.reference = "original" counts rows; with input.unit use "released"')
    numbers, days = scales(quasi)
    problem = _problem(plan, grouped, counted.hierarchies, models, schema, parts)
    return Prepared(
        source=source,
        schema=schema,
        domains=domains,
        problem=replace(problem, numbers=numbers, days=days),
        counted=wanted,
        dropped_rows=dropped,
        models=tuple(as_claimed(model, context.published) for model in models),
        unit=unit,
        based=counted.based,
    )


def unit_of(plan: Plan, source: CellSource) -> str | None:
    """The column that tells people apart, or a refusal of one that cannot."""
    unit = plan.input.unit
    if unit is None:
        return None
    if unit not in source.names:
        raise unknown_column(unit, source.names, where="input.unit")
    column = plan.columns.get(unit)
    if column is not None and column.role not in (Role.IDENTIFIER, Role.DROP):
        raise PlanError(
            f"input.unit: {unit!r} tells people apart, so it cannot have role = '{column.role}'; use 'identifier'"
        )
    if column is not None and column.pseudonym is not None:
        raise PlanError(
            f"columns.{unit}.pseudonym: a pseudonym of the unit would link a person's rows across groups, and k people "
            "in each group hide nobody then; leave it out: rows of one person in one group share a number anyway"
        )
    refuse_lacking(source, ("people",), "input.unit", "give the rows as a file or frame that fits in memory")
    return unit


def _source(rows: CellSource | Table) -> CellSource:
    return LocalTable(rows) if isinstance(rows, Table) else rows


def scales(quasi: Sequence[ObservedDomain]) -> tuple[Scales, Scales]:
    """The values of every column as numbers, and as day numbers."""
    return (
        tuple(_numbers(domain, "integer", "real") for domain in quasi),
        tuple(_numbers(domain, "date") for domain in quasi),
    )


def _numbers(domain: ObservedDomain, *kinds: Kind) -> NDArray[np.float64] | None:
    """The values of a column of one of these types as numbers, by code; a missing one is no number."""
    if domain.kind not in kinds or domain.numbers is None:
        return None
    return domain.numbers if domain.missing is None else np.append(domain.numbers, np.nan)


def _refuse_wishes(plan: Plan, models: tuple[Any, ...], source: CellSource) -> None:
    """Refuse a column of wishes that is not there, or whose pseudonyms would tell who has the same wish."""
    for guard in (m.guard_column for m in models if isinstance(m, PersonalizedPrivacy) and m.guard_column is not None):
        if guard not in source.names:
            raise unknown_column(guard, source.names, where="privacy.personalized.guard_column")
        if plan.columns[guard].pseudonym is not None:
            raise PlanError(
                f"columns.{guard}.pseudonym: pseudonyms of wishes would tell who has the same wish; leave it out, or "
                "use role = 'drop'"
            )


def _refuse_population(plan: Plan, models: tuple[Any, ...], parts: Catalog, *, known: bool) -> None:
    """Models of presence need a population, and rows of nothing but ``*`` have none."""
    if not any("population" in parts.part_of(model).needs for model in models):
        return
    *most, last = dict.fromkeys(part.key for part in parts.models.values() if "population" in part.needs)
    keys = f"{', '.join(most)} and {last}"
    if not known:
        raise PlanError(f"input.population: {keys} need a population table; name its file")
    if plan.algorithm.suppressed == "star" and plan.algorithm.max_suppressed:
        raise PlanError(
            'algorithm.suppressed = "star": a row of nothing but * cannot be compared with a population, as '
            f'{keys} do; use "remove"'
        )


def _refuse_reference(plan: Plan, models: tuple[Any, ...]) -> None:
    """Refuse a distribution of rows that may be removed: published beside the rest it would tell their values."""
    asks = any(getattr(model, "reference", "released") == "original" for model in models)
    if asks and plan.algorithm.suppressed == "remove" and plan.algorithm.max_suppressed:
        raise PlanError(
            'privacy.t_closeness.reference = "original": a verifier needs the distribution of the original table, and '
            "its difference to the released rows would tell the sensitive values of the rows that are removed; use "
            'reference = "released", algorithm.suppressed = "star", or max_suppressed = 0'
        )


def unit(models: Iterable[Any]) -> int:
    """The k in which metrics count: of models called k-anonymity and no others, as a verifier reads it off claims."""
    return asked_k(model for model in models if model.name == KAnonymity.name)


def _problem(
    plan: Plan,
    grouped: Classes,
    hierarchies: tuple[Hierarchy, ...],
    models: tuple[Any, ...],
    schema: Schema,
    parts: Catalog,
) -> Problem:
    metric = parts.metric(plan.metric, k=unit(models))
    if "target" in metric.needs and schema.target is None:
        raise PlanError(f"utility.metric: {plan.metric} needs a column with role = 'target'")
    strange = [need for need in metric.needs if need not in ("sizes", "steps", "target", *grouped.measures)]
    if strange:
        raise PlanError(f"utility.metric: {plan.metric} needs {listed(strange)}, which no release offers")
    if plan.learner is not None and schema.target is None:
        raise PlanError("utility.learner: a learner needs a column with role = 'target'")
    people = grouped.people
    return Problem(
        cells=grouped,
        hierarchies=hierarchies,
        models=models if people is None else per_person(models, people),
        metric=metric,
        target=schema.target,
        limit=rows_within(plan.algorithm.max_suppressed, grouped.rows if people is None else people.count),
        suppressed=plan.algorithm.suppressed,
        exempt=plan.algorithm.exempt_suppressed,
        reading=plan.privacy.get("reading", "strict"),
    )


def context_of(plan: Plan, source: CellSource, schema: Schema, kinds: Mapping[str, Any]) -> Context:
    """What the requirement of a plan may refer to."""

    def paths(name: str) -> Ancestors:
        tree = plan.columns[name].hierarchy
        if tree is None:
            raise PlanError(f"columns.{name}.hierarchy is missing; this requirement needs a tree over its values")
        made = builder(tree, f"columns.{name}.hierarchy", plan.folder)
        declared = made.declared()
        if not isinstance(declared, Categories):
            raise PlanError(
                f"columns.{name}.hierarchy: this requirement needs a declared tree (file, tree, bundled or groups); "
                "one that is read off the values would tell the values of suppressed rows"
            )
        made.build(source.domain(name, kinds[name]))
        return declared.paths

    return Context(
        quasi=schema.quasi,
        sensitive=(*schema.sensitive, *schema.guarded),
        published=schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP),
        paths=paths,
        costs=lambda column, file: read_costs(plan.folder, file),
        guarded=schema.guarded,
        tree=paths,
    )


def read_costs(folder: Path, file: str | None) -> Costs:
    """A square cost matrix from a CSV file: the values in the first line and in the first column."""
    if file is None:
        raise PlanError("privacy.t_closeness.file: emd-matrix needs a file with the cost matrix")
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(read_text(folder / file).splitlines()) if line]
        first, *lines = lines
        costs = tuple(tuple(float(cell) for cell in line[1:]) for line in lines)
    except (OSError, ValueError, csv.Error) as error:
        raise PlanError(f"privacy.t_closeness.file: {file} is no cost matrix: {error}") from error
    if [line[0] for line in lines] != first[1:]:
        raise PlanError(
            f"privacy.t_closeness.file: {file} must name the same values in its first line and first column"
        )
    return tuple(first[1:]), costs


def _shared(mine: ObservedDomain, people: CellSource, kind: Any) -> ObservedDomain:
    """The values of the table and of the population together."""
    if mine.column not in people.names:
        raise unknown_column(mine.column, people.names, where="input.population")
    return joined(mine, people.domain(mine.column, kind or mine.kind))


def with_originals(grouped: Classes) -> Classes:
    """Remember the original distributions and what metrics need, before anything is taken out."""
    tallies = {name: replace(tally, original=tally.overall) for name, tally in grouped.tallies.items()}
    return replace(grouped, tallies=tallies, measures=measures(grouped))
