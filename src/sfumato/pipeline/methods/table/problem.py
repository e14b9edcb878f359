"""The problem that a plan poses on a table, and the same problem on the remaining rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.problem import Grain, Outcome, Problem
from sfumato.core.errors import DataError, PlanError, listed, unknown_column
from sfumato.core.fractions import rows_within
from sfumato.core.input_files import read_text
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes, People
from sfumato.counts.keys import distinct, total
from sfumato.counts.local_table import LocalTable
from sfumato.counts.sources import CellSource, refuse_lacking
from sfumato.counts.tally import Tally
from sfumato.metrics.metric import measures
from sfumato.models.composition import PerPerson, per_person
from sfumato.models.k_anonymity import KAnonymity, asked_k
from sfumato.models.model import Model
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.pipeline.catalog.catalog import Catalog, as_claimed, requirement
from sfumato.pipeline.catalog.parts import Ancestors, Context, Costs
from sfumato.pipeline.methods.schema import (
    bound_hierarchy,
    ground,
    refuse_nested,
    refuse_stars,
    schema_of,
    without_missing,
)
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.hierarchy import BaseLevel, Hierarchy, Level
from sfumato.tables.schema import Categories, ObservedDomain, Role, Schema, joined, narrowed, widened
from sfumato.tables.table import Codes, Kind, Table

if TYPE_CHECKING:
    from sfumato.pipeline.methods.method import SearchResult


# From a plan and a source of cells to a problem that an algorithm can solve.


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
    models = requirement(plan.privacy, context, parts, other_keys=READING)
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
        hierarchy_builder = builder(tree, f"columns.{name}.hierarchy", plan.folder)
        declared = hierarchy_builder.declared()
        if not isinstance(declared, Categories):
            raise PlanError(
                f"columns.{name}.hierarchy: this requirement needs a declared tree (file, tree, bundled or groups); "
                "one that is read off the values would tell the values of suppressed rows"
            )
        hierarchy_builder.build(source.domain(name, kinds[name]))
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


# The search again, on the rows that stay: nothing of a release depends on the values of a row that was removed.
#
# A search decides by what all rows cost, and a hierarchy may be read off all values. So the first search only decides
# which rows are removed. Then the rest is described and searched anew, as if nobody else had been in the table and
# with no row left to remove: types, domains, hierarchies, costs and labels follow from the rows that stay, from the
# plan, and from nothing else. The result is put back onto the cells of the whole table, which the source knows how to
# apply.


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Origin(Brief):
    """Where the rows that stay come from."""

    plan: Plan
    """The plan."""
    prepared: Prepared
    """The whole table."""
    suppressed: Flags
    """Which of its cells are removed."""
    lifts: tuple[Codes, ...]
    """For each column and value of the whole table, its code among the rows that stay; -1 where it is in none."""
    place: NDArray[np.int64]
    """For each cell of the whole table that stays, its place here."""

    def by_row(self) -> Prepared:
        """The rows that stay with one cell per row."""
        whole = self.prepared.at("rows")
        cells, rows = self.prepared.problem.cells, whole.problem.cells
        keys = np.concatenate([cells.keys, rows.keys], axis=1)
        ids, count = distinct(list(keys), [len(names) for names in cells.labels], keys.shape[1])
        gone = np.zeros(count, np.bool_)
        gone[ids[: cells.count]] = self.suppressed
        return rows_that_stay(self.plan, whole, gone[ids[cells.count :]])


def rows_that_stay(plan: Plan, prepared: Prepared, suppressed: Flags) -> Prepared:
    """The problem of the rows that are not removed; none of them may be removed any more."""
    problem = prepared.problem
    cells = replace(problem.cells.take(~suppressed), population=problem.cells.population)
    columns = [_column(plan, prepared, cells, place) for place in range(len(cells.quasi))]
    domains, hierarchies, lifts = (tuple(part) for part in zip(*columns, strict=True)) if columns else ((), (), ())
    counted = {name: _tally_domain(plan, tally, cells.people) for name, tally in cells.tallies.items()}
    cells, place = _renamed(cells, domains, lifts, counted, merge=prepared.grain == "cells")
    people = cells.people
    models = tuple(model.model if isinstance(model, PerPerson) else model for model in problem.models)
    numbers, days = scales(domains)
    rest = replace(
        problem,
        cells=with_originals(cells),
        hierarchies=hierarchies,
        models=models if people is None else per_person(models, people),
        limit=0,
        numbers=numbers,
        days=days,
    )
    known = dict(zip(cells.quasi, domains, strict=True))
    origin = Origin(plan=plan, prepared=prepared, suppressed=suppressed, lifts=lifts, place=place)
    return replace(prepared, problem=rest, domains={**prepared.domains, **known}, origin=origin, released=None)


def put_back(result: SearchResult) -> SearchResult:
    """What was found for the rows that stay, on the cells of the whole table."""
    origin: Origin = result.prepared.origin
    whole, outcome = origin.prepared, result.outcome
    lifted = tuple(
        _lifted(hierarchy, lift, before)
        for hierarchy, lift, before in zip(
            result.prepared.problem.hierarchies, origin.lifts, whole.problem.hierarchies, strict=True
        )
    )
    # where the labels are the same, the steward's figures are about the whole table as it was
    problem = whole.problem if same_labels(result.prepared) else replace(whole.problem, hierarchies=lifted)
    recoded = outcome.recoded
    if recoded is not None:
        keys = np.zeros((len(recoded.labels), len(origin.suppressed)), np.int32)
        keys[:, ~origin.suppressed] = recoded.keys[:, origin.place]
        recoded = replace(recoded, keys=keys)
    suppressed = origin.suppressed.copy()
    suppressed[~origin.suppressed] = outcome.suppressed[origin.place]
    placed: Outcome = replace(outcome, recoded=recoded, suppressed=suppressed)
    loss = problem.metric.loss(placed.recoding(problem).view(problem, placed.suppressed)).value
    prepared = replace(whole, problem=problem, released=result.prepared)
    return replace(result, prepared=prepared, outcome=replace(placed, loss=loss))


def same_labels(rest: Prepared) -> bool:
    """Whether the values of rows that stay have the labels that they had in the whole table."""
    assert rest.origin is not None
    pairs = zip(rest.origin.prepared.problem.hierarchies, rest.problem.hierarchies, rest.origin.lifts, strict=True)
    return all(_alike(before, after, lift) for before, after, lift in pairs)


def _alike(before: Hierarchy, after: Hierarchy, lift: Codes) -> bool:
    old, new = np.flatnonzero(lift >= 0), lift[lift >= 0]
    return before.height == after.height and all(
        [level.labels[n] for n in level.parent[old]] == [other.labels[n] for n in other.parent[new]]
        for level, other in zip(before.levels, after.levels, strict=True)
    )


def _column(plan: Plan, prepared: Prepared, cells: Classes, place: int) -> tuple[ObservedDomain, Hierarchy, Codes]:
    """The domain and the hierarchy of one quasi-identifier, from its values in rows that stay and in the population."""
    name, old = cells.quasi[place], prepared.domains[cells.quasi[place]]
    rows = total(cells.keys[place].astype(np.int64), cells.sizes, len(old.labels))
    present = rows > 0
    if cells.population is not None:
        present[cells.population.keys[place]] = True
    if name in prepared.based:
        domain = narrowed(old, {old.labels[code] for code in np.flatnonzero(present)})
        mark = str((plan.columns[name].hierarchy or {}).get("mark", "*"))
        hierarchy = _restricted(prepared.problem.hierarchies[place], np.flatnonzero(present), domain, mark)
    else:
        domain = _described(name, old, present, rows, plan.columns[name].type)
        hierarchy = bound_hierarchy(plan, domain)
    return domain, hierarchy, _lift(old.labels, present, domain.labels)


def _described(name: str, old: ObservedDomain, present: Flags, rows: NDArray[np.int64], kind: Any) -> ObservedDomain:
    """A domain anew, as if it were read from a table that has these values only; its type too."""
    texts = [value for value, here in zip(old.values, present, strict=False) if here]
    frame = pl.DataFrame({name: texts}, schema={name: pl.String})
    domain = ObservedDomain.of(Table(frame=frame).column(name, kind))
    count = dict(zip(old.values, rows.tolist(), strict=False))
    absent = old.missing is not None and bool(present[-1])
    return replace(
        domain,
        counts=np.array([count[value] for value in domain.values], np.int64),
        missing=old.missing if absent else None,
        absent=int(rows[-1]) if absent else 0,
    )


def _tally_domain(plan: Plan, tally: Tally, people: People | None) -> tuple[ObservedDomain, Codes]:
    """The domain of a counted column among the rows that stay, and where its old codes go."""
    values = tally.values if tally.missing is None else tally.values[:-1]
    missing = None if tally.missing is None else tally.values[-1]
    rows = total(tally.codes.astype(np.int64), tally.counts, len(tally.values))
    old = ObservedDomain(column=tally.column, kind="text", values=values, counts=rows[: len(values)], missing=missing)
    column = plan.columns.get(tally.column)
    domain = _described(tally.column, old, rows > 0, rows, None if column is None else column.type)
    return domain, _lift(tally.values, rows > 0, domain.labels)


def _lift(labels: tuple[str, ...], present: Flags, into: tuple[str, ...]) -> Codes:
    place = {label: code for code, label in enumerate(into)}
    return np.array([place[x] if here else -1 for x, here in zip(labels, present, strict=True)], np.int32)


def _renamed(
    cells: Classes,
    domains: tuple[ObservedDomain, ...],
    lifts: tuple[Codes, ...],
    counted: dict[str, tuple[ObservedDomain, Codes]],
    *,
    merge: bool,
) -> tuple[Classes, NDArray[np.int64]]:
    """The same classes under new codes, in the order of these where cells are ordered; and where each went."""
    tallies = {
        name: replace(
            tally,
            values=domain.labels,
            codes=lift[tally.codes],
            missing=None if domain.missing is None else len(domain.values),
            numbers=_with_missing(domain),
            original=None,
        )
        for name, tally in cells.tallies.items()
        for domain, lift in [counted[name]]
    }
    people = cells.people
    if people is not None:
        persons, codes = np.unique(people.persons, return_inverse=True)
        people = replace(
            people,
            persons=codes.reshape(-1).astype(np.int32),
            count=len(persons),
            codes={name: counted[name][1][held] for name, held in people.codes.items()},
        )
    wild = None
    if cells.wild is not None:
        unknown = [
            {x for x, odd in zip(names, flags, strict=True) if odd}
            for names, flags in zip(cells.labels, cells.wild, strict=True)
        ]
        wild = tuple(np.array([x in odd for x in d.labels], np.bool_) for d, odd in zip(domains, unknown, strict=True))
    cells = replace(cells, tallies=tallies, people=people, measures={})
    labels = tuple(domain.labels for domain in domains)
    if merge:
        new_cells, place = cells.recoded(lifts, labels)
        return replace(new_cells, wild=wild), place
    population = None if cells.population is None else cells.population.recoded(lifts, labels)[0]
    keys = np.array([lift[codes] for lift, codes in zip(lifts, cells.keys, strict=True)], np.int32)
    keys = keys.reshape(cells.keys.shape)
    return replace(cells, keys=keys, labels=labels, wild=wild, population=population), np.arange(cells.count)


def _with_missing(domain: ObservedDomain) -> NDArray[np.float64] | None:
    if domain.kind in ("text", "category") or domain.numbers is None:
        return None
    return domain.numbers if domain.missing is None else np.append(domain.numbers, np.nan)


def _restricted(hierarchy: Hierarchy, codes: NDArray[np.int64], domain: ObservedDomain, mark: str) -> Hierarchy:
    """A hierarchy above a base level, over some of its labels; a mask has no more levels than these labels need."""
    levels = [_over(level, codes) for level in hierarchy.levels]
    if hierarchy.open:
        hidden = [j for j, level in enumerate(levels[:-1]) if j and {*"".join(level.labels)} == {mark}]
        levels = [level for j, level in enumerate(levels) if j not in hidden]
    return replace(
        hierarchy,
        levels=tuple(levels),
        total=float(len(domain.values)),
        missing=None if domain.missing is None else len(domain.values),
    )


def _over(level: Level, codes: NDArray[np.int64]) -> Level:
    used, parent = np.unique(level.parent[codes], return_inverse=True)
    sizes = np.bincount(parent.reshape(-1), minlength=len(used)).astype(np.float64)
    return Level(labels=tuple(level.labels[n] for n in used), parent=parent.reshape(-1).astype(np.int32), sizes=sizes)


def _lifted(hierarchy: Hierarchy, lift: Codes, whole: Hierarchy) -> Hierarchy:
    """A hierarchy over all values of the whole table; those that are in removed rows only have just any label."""
    inside = np.maximum(lift, 0)
    tree = hierarchy.taxonomy
    return replace(
        hierarchy,
        levels=(whole.levels[0], *(replace(level, parent=level.parent[inside]) for level in hierarchy.levels[1:])),
        missing=None if hierarchy.missing is None else whole.missing,
        taxonomy=None if tree is None else replace(tree, leaf=tree.leaf[inside]),
    )
