"""The stages of a release of a table: read, search, recode, judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from sfumato.bundle.published import Apart, Published, PublishedColumn
from sfumato.bundle.recoding import Buckets, Recoding
from sfumato.data.table import Kind as ValueKind
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, PlanError, listed
from sfumato.group.cell_source import CellMapping, CellSource
from sfumato.publish.mending import as_read
from sfumato.publish.problem import Outcome
from sfumato.verification.evidence import evidence, groups_apart, required
from sfumato.verification.judging import claim
from sfumato.workflow.catalog.lookup import Catalog, catalog, parameters
from sfumato.workflow.engine_input import frame_source, planned_source, stays
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.kinds.table.preparing import Prepared, unit
from sfumato.workflow.kinds.table.table_release import TableRelease
from sfumato.workflow.large_input import too_large
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sfumato.engines.engine_source import EngineSource
    from sfumato.workflow.kinds.table.parted_rows import ReleasedParts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recoded:
    """Released rows, and how they were changed."""

    recoding: Recoding
    """How."""
    rows: pl.DataFrame
    """The rows."""
    sensitive: pl.DataFrame | None
    """The sensitive values by group, where they are published apart."""
    parts: ReleasedParts | None = None
    """The rows, where they stay in files; ``rows`` has only their columns then."""


def begin(asked: Asked) -> Asked:
    """Refuse a control file that is not there."""
    asked.plan.attack.refuse_files(asked.plan.folder)
    return asked


def read(asked: Asked) -> tuple[CellSource | Table, CellSource | Table | None]:
    """The table and, where there is one, the population; whatever can be counted is taken as it is."""
    plan = asked.plan
    if is_source(asked.like):
        return asked.like, asked.population  # type: ignore[return-value]
    if stays(plan, asked.like) or (asked.like is None and plan.input.engine is not None):
        return _in_engine(asked)
    why = too_large(plan) if asked.like is None and asked.population is None else None
    if why is not None:
        return replace(planned_source(plan), note=why), None
    table = marked(load_table(plan, asked.like, plan.input.path), plan)
    if asked.population is None and plan.input.population is None:
        return table, None
    people = load_table(plan, asked.population, plan.input.population)
    return table, replace(people, missing=table.missing)


def _in_engine(asked: Asked) -> tuple[CellSource, CellSource | None]:
    """The table and the population where they are; counts come from there, and no row before the last step."""
    plan, people = asked.plan, asked.population
    source = planned_source(plan) if asked.like is None else frame_source(plan, asked.like)
    if people is None and plan.input.population is None:
        return source, None
    whole = planned_source(plan, plan.input.population) if people is None else frame_source(plan, people)
    return source, replace(whole, missing=source.missing)


def is_source(frame: object) -> bool:
    """Whether something offers counts itself."""
    return all(hasattr(frame, name) for name in ("gives", "domain", "cells", "apply"))


def recode(asked: Asked, found: Searched) -> Recoded:
    """Let the source apply the mapping, and shuffle the rows."""
    plan, prepared = asked.plan, found.prepared
    recoding = recoding_of(asked, prepared, found.outcome)
    if plan.output_format == "parts":
        from sfumato.workflow.kinds.table.parted_rows import parted

        parts = parted(prepared, recoding, Chance(seed=plan.algorithm.seed))
        return Recoded(recoding=recoding, rows=parts.source.frame, sensitive=None, parts=parts)
    mapped = prepared.source.apply(recoding.mapping, recoding.beside(prepared.schema))
    rows = recoding.released(mapped, prepared.schema, Chance(seed=plan.algorithm.seed))
    sensitive = None
    if recoding.buckets is not None:
        sensitive = recoding.buckets.table(mapped.frame[recoding.buckets.column], recoding.missing)
    return Recoded(recoding=recoding, rows=rows, sensitive=sensitive)


def recoding_of(asked: Asked, prepared: Prepared, outcome: Outcome) -> Recoding:
    """What every cell reads as."""
    shown = outcome.recoding(prepared.problem)
    whole = zip(prepared.schema.quasi, outcome.levels or (), strict=False)
    starred = prepared.problem.suppressed == "star" and bool(outcome.suppressed.any())
    mapping = CellMapping(
        cells=prepared.problem.cells,
        labels=shown.labels,
        shown=shown.keys,
        suppressed=outcome.suppressed,
        unchanged=frozenset() if starred else frozenset(name for name, level in whole if level == 0),
        singly=prepared.grain == "rows",
    )
    return Recoding(
        mapping=mapping,
        rows=asked.plan.algorithm.suppressed,
        pseudonyms=asked.keys,
        buckets=_buckets(asked.plan, prepared, outcome),
        unit=prepared.unit,
        missing=prepared.source.missing,
    )


def _buckets(plan: Plan, prepared: Prepared, outcome: Outcome) -> Buckets | None:
    """The groups by which the sensitive column is published apart, numbered at random."""
    if outcome.buckets is None:
        return None
    column = prepared.models[0].columns[0]
    if prepared.schema.sensitive != (column,):
        raise PlanError(
            f"columns: {plan.algorithm.name} publishes {column!r} apart; other sensitive columns would stand beside "
            f"unchanged quasi-identifiers, but the plan has {listed(prepared.schema.sensitive)}"
        )
    taken = prepared.source.names
    name = next(name for name in ("group", *(f"group_{n}" for n in range(2, len(taken) + 3))) if name not in taken)
    count = int(outcome.buckets.max(initial=-1)) + 1
    numbers = Chance(seed=plan.algorithm.seed).generator().permutation(count)
    return Buckets(name=name, column=column, of_row=numbers[outcome.buckets])


def judge(kind: Kind, asked: Asked, found: Searched, recoded: Recoded) -> TableRelease:
    """Judge the released rows in the same way as a verifier would."""
    plan, prepared, outcome, rows = asked.plan, found.prepared, found.outcome, recoded.rows
    models = prepared.models
    whole = Table(frame=rows, missing=prepared.source.missing, source="the release")
    table = whole if recoded.parts is None else recoded.parts.source
    published = _published(plan, prepared, outcome, table, recoded.recoding.buckets)
    classes = evidence(table, published, counted=[name for model in models for name in model.columns])
    judged = required(classes, published)
    if recoded.sensitive is not None and published.apart is not None:
        judged = groups_apart(whole, Table(frame=recoded.sensitive, missing=published.missing), published.apart)
    claims = tuple(claim(model, parameters(model), judged, prepared.problem.reading) for model in models)
    refuted = [one.model for one in claims if not one.holds]
    if any(not getattr(model, "wished", True) for model in models) and not as_read(prepared.problem, outcome):
        refuted.append("what people wish")
    for name in refuted:
        raise ClaimRefuted(f"{found.algorithm} gave a table that does not meet {name}; nothing was written")
    return TableRelease(
        kind=kind,
        plan=plan,
        prepared=prepared,
        outcome=outcome,
        recoding=recoded.recoding,
        rows=rows,
        published=published,
        classes=classes,
        claims=claims,
        utility=measured(prepared, outcome, catalog()),
        algorithm=found.algorithm,
        why=found.why,
        beside=found.beside,
        sensitive=recoded.sensitive,
        like=None if is_source(asked.like) else asked.like,
        parts=recoded.parts,
    )


def _published(
    plan: Plan, prepared: Prepared, outcome: Outcome, table: Table | EngineSource, buckets: Buckets | None
) -> Published:
    schema, domains = prepared.schema, prepared.domains
    kinds = {name: _kind(plan, prepared, table, name) for name in table.names}
    kinds |= {} if prepared.unit is None else {prepared.unit: "integer"}
    roles = {**schema.roles, **({} if buckets is None else {buckets.name: Role.KEEP})}
    roles |= {} if prepared.unit is None else {prepared.unit: Role.UNIT}
    apart: Apart | None = None
    if buckets is not None:
        hidden = PublishedColumn(name=buckets.column, role=Role.SENSITIVE, kind=domains[buckets.column].kind)
        apart = Apart(group=buckets.name, column=hidden)
    return Published(
        columns=tuple(
            PublishedColumn(name=n, role=roles[n], kind=kinds[n], guarded=n in schema.guarded) for n in table.names
        ),
        apart=apart,
        rows=table.rows,
        missing=prepared.source.missing,
        exempt=plan.algorithm.exempt_suppressed,
        population=_population(prepared, outcome),
    )


def _kind(plan: Plan, prepared: Prepared, table: Table | EngineSource, name: str) -> ValueKind:
    """How the values of a released column are read: as declared, or as the released rows suggest.

    A row that was removed has no part in it. Labels, and columns that are only handed on, are texts; dates that were
    moved are dates.
    """
    if name in plan.columns and plan.columns[name].shift is not None:
        return "date"
    if name in prepared.schema.quasi or name not in prepared.domains:
        return "text"
    declared = plan.columns[name].type if name in plan.columns else None
    if declared:
        return declared  # type: ignore[return-value]
    return table.column(name).kind if isinstance(table, Table) else table.domain(name).kind


def _population(prepared: Prepared, outcome: Outcome) -> tuple[tuple[tuple[str, ...], int], ...]:
    everyone = prepared.problem.cells.population
    if everyone is None:
        return ()
    if outcome.levels is None:
        raise PlanError("input.population: a population needs one level per column; use optimal")
    levels = [h.levels[n] for h, n in zip(prepared.problem.hierarchies, outcome.levels, strict=True)]
    grouped, _ = everyone.recoded([level.parent for level in levels], [level.labels for level in levels])
    return tuple((tuple(grouped.label(i).values()), int(grouped.sizes[i])) for i in range(grouped.count))


def measured(prepared: Prepared, outcome: Outcome, parts: Catalog) -> dict[str, float]:
    """Every metric of the catalog whose needs are met; one that reads something else breaks no release."""
    problem = prepared.problem
    given = {"sizes", "steps", *problem.cells.measures, *(() if problem.target is None else ("target",))}
    view = outcome.recoding(problem).view(problem, outcome.suppressed)
    metrics = [parts.metric(name, k=unit(prepared.models)) for name in parts.metrics]
    return {metric.name: metric.measure(view) for metric in metrics if set(metric.needs) <= given}
