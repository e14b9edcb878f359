"""The stages of a release of a table: read, search, recode, judge, attack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.algorithms.feasibility import as_read
from sfumato.algorithms.lattice.nodes import MOST_NODES
from sfumato.algorithms.problem import Grain, Outcome, Problem
from sfumato.attacks.subject import Subject
from sfumato.bundles.checks.evidence import claim, evidence, groups_apart, required
from sfumato.bundles.columns import Apart, Published, PublishedColumn
from sfumato.bundles.recoding import Buckets, Recoding
from sfumato.core.errors import ClaimRefuted, Infeasible, Interrupted, OutOfTime, PlanError, SfumatoError, listed
from sfumato.core.randomness import Chance
from sfumato.core.run_context import BY_TIME, Work
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique
from sfumato.counts.sources import CellMapping, CellSource, refuse_lacking
from sfumato.pipeline.attack import attacked, chosen_attacks
from sfumato.pipeline.catalog.catalog import Catalog, catalog, parameters
from sfumato.pipeline.catalog.parts import AlgorithmPart
from sfumato.pipeline.inputs import frame_source, load_table, marked, planned_source, stays, too_large
from sfumato.pipeline.methods.method import Asked, Audit, Kind, Searched
from sfumato.pipeline.methods.table.plan import algorithm_of
from sfumato.pipeline.methods.table.problem import Prepared, put_back, rows_that_stay, same_labels, unit
from sfumato.pipeline.methods.table.release import TableRelease
from sfumato.pipeline.methods.table.subject import ROWS, kept, release_subject, sampled_groups
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.plan.plan import Plan
from sfumato.reports.table_facts import SearchFacts
from sfumato.tables.schema import Role
from sfumato.tables.table import Kind as ValueKind
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource
    from sfumato.pipeline.methods.table.parts import ReleasedParts


# Which algorithm ``auto`` stands for, by size, metric and models, and why.


_UNBOUNDED = 200_000
"""The most nodes for an optimum by a metric whose loss is not a sum over columns: most of them must be judged."""


def chosen(problem: Problem) -> tuple[str, str]:
    """What ``auto`` stands for, and why.

    The optimum comes first: it is proven, and a value reads the same in every row. Where it cannot be had, Mondrian
    loses least in seconds, if the models judge groups one by one; for the others there is the greedy search.
    """
    name = problem.metric.name
    most = MOST_NODES if problem.floors() is not None else _UNBOUNDED
    if problem.nodes <= most:
        return "optimal", (
            f"Chosen by auto: the optimal search can prove its result, for {name} and these models, on a lattice of at "
            f"most {most:,} nodes, and a value reads the same in every row."
        )
    why = f"Chosen by auto: the lattice has more than the {most:,} nodes that an optimum by {name} "
    whole = [m.name for m in problem.models if m.counts_anew or not m.kept_by_merging]
    if whole or problem.cells.population is not None:
        asks = f"{whole[0]} judges" if whole else "a population is counted with"
        return "greedy", f"{why}can be proven for; {asks} the whole table, which a full-domain search keeps."
    return "mondrian", f"{why}can be proven for, and the models judge groups one by one."


# What can be told about a table before anything is searched: columns that nearly single people out as they are.


def foreseen(prepared: Prepared) -> tuple[NearUnique, ...]:
    """The near-unique columns among those that are published unchanged; quasi-identifiers are still to be generalized.

    It asks for nothing but domains, so any source of cells will do. Lists and the like have none: only the released
    rows tell about them.
    """
    k = asked_size(parameters(model) for model in prepared.models)
    return tuple(_judged(prepared, k))


def _judged(prepared: Prepared, k: int) -> Iterable[NearUnique]:
    for name in prepared.schema.named(Role.SENSITIVE, Role.TARGET, Role.KEEP):
        dtype = prepared.source.dtype(name)
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            continue
        domain = prepared.domains[name] if name in prepared.domains else prepared.source.domain(name)
        found = near_unique(name, prepared.schema.roles[name], domain.counts, prepared.rows, k)
        if found is not None:
            yield found


# Other searches on the same table, within a time budget: what they would lose, and whether the purpose takes one.
#
# A full-domain optimum lets every value read the same in every row; group by group, the same requirement often costs
# much less. What the others would lose is measured against the original, so only the steward may know it: the inside
# report, the terminal and ``--json`` show it, a bundle does not.


GROUP_BY_GROUP = ("mondrian", "local")
"""Searches that are fast and often lose less, because a value may read differently in different rows."""

Run = Callable[[str, Work], Searched]


def try_others(
    taken: Searched, run: Run, work: Work, seconds: float, names: Sequence[str] = GROUP_BY_GROUP
) -> tuple[Searched, ...]:
    """What the fast searches find together within as many steps as fit into so many seconds."""
    inner = work.allowing(seconds)
    return tuple(_attempt(name, run, inner) for name in names if name != taken.algorithm and seconds > 0)


def _attempt(name: str, run: Run, work: Work) -> Searched:
    """What one search finds; a search that cannot be made says why."""
    try:
        if work.expired:
            raise OutOfTime("the time for other searches was over")
        return run(name, work)
    except Interrupted:
        raise
    except SfumatoError as error:
        return Searched(prepared=None, outcome=None, algorithm=name, why=str(error))


def told(found: Searched) -> SearchFacts:
    """A search as the steward's report shows it."""
    if found.outcome is None:
        return SearchFacts(algorithm=found.algorithm, value=None, alike=False, why=found.why)
    outcome = found.outcome
    return SearchFacts(
        algorithm=found.algorithm,
        value=_value(found),
        alike=outcome.alike,
        cut=outcome.effort.get("stopped") == BY_TIME,
    )


def _value(found: Searched) -> float:
    problem: Problem = found.prepared.problem
    return problem.metric.measure(found.outcome.recoding(problem).view(problem, found.outcome.suppressed))


def least_lossy(taken: Searched, others: Sequence[Searched]) -> Searched:
    """The search that loses least by the plan's metric; the first one where others lose as much."""
    able = [one for one in (taken, *others) if one.outcome is not None]
    best = min(able, key=lambda one: one.outcome.loss)
    metric = taken.prepared.problem.metric.name
    return replace(best, why=f"Chosen by auto: of the searches that were made, it lost least by {metric}.")


# The search for a table: the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it.


AUTO_SECONDS = 60.0
"""How long a search that can be stopped at any time goes on improving where the plan gives no limit."""
_ROUNDS = 5
"""How often more rows may go because the hierarchies of those that stay are others."""


def search(asked: Asked, prepared: Prepared, work: Work) -> Searched:
    """Find which rows are removed, and then the labels of the others from these alone."""
    found = _search(asked, prepared, work)
    if prepared.problem.suppressed == "star" or not found.outcome.suppressed.any():
        return found
    try:
        again = put_back(_search(asked, _settled(asked, found, work), work))
    except Infeasible as error:
        raise Infeasible(
            f"with {found.algorithm}, rows would be removed, and for the others alone nothing fits without removing "
            f"more: {error}"
        ) from error
    return replace(again, beside=found.beside) if again.algorithm == found.algorithm else again


def _settled(asked: Asked, found: Searched, work: Work) -> Prepared:
    """The rows that stay. Where their values make other hierarchies, more rows may have to go."""
    for _ in range(_ROUNDS):
        whole, removed = found.prepared, found.outcome.suppressed
        rest = rows_that_stay(asked.plan, whole, removed)
        spare = whole.problem.limit - whole.problem.cells.weight(removed)
        if spare <= 0 or same_labels(rest):
            break
        again = _search(asked, replace(rest, problem=replace(rest.problem, limit=spare)), work)
        if not again.outcome.suppressed.any():
            break
        found = put_back(again)
    return rest


def _search(asked: Asked, prepared: Prepared, work: Work) -> Searched:
    """Run the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it."""
    algorithm = asked.plan.algorithm
    if algorithm.name != "auto":
        return search_by(asked, prepared, algorithm.name, work)
    name, why = chosen(prepared.problem)
    taken = replace(search_by(asked, prepared, name, work), why=why)

    def run(other: str, within: Work) -> Searched:
        return search_by(asked, prepared, other, within, hard=True)

    able = [other for other in GROUP_BY_GROUP if runs_on(catalog().algorithms[other], prepared)]
    others = try_others(taken, run, work, algorithm.alternatives, able)
    best = least_lossy(taken, others) if asked.plan.purpose == "least-loss" else taken
    return replace(best, beside=tuple(told(one) for one in (taken, *others) if one.algorithm != best.algorithm))


def search_by(asked: Asked, prepared: Prepared, name: str, work: Work, *, hard: bool = False) -> Searched:
    """Run one algorithm; with ``hard``, the limit also ends one that has no result before its end."""
    plan, parts = asked.plan, catalog()
    part, run = algorithm_of(plan, name, parts)
    grain = grain_of(run, prepared.problem)
    refuse_uncounted(part, prepared, parts)
    needs = (*part.needs, *(("rows",) if grain == "rows" else ()))
    if not {*needs} <= prepared.source.gives:  # only then are the other algorithms imported
        refuse_lacking(prepared.source, needs, f"algorithm.name: {name}", _instead(prepared, name, parts))
    prepared = prepared.at(grain)
    limit = plan.algorithm.seconds or (AUTO_SECONDS if part.anytime and work.steps is None else None)
    inner = work.allowing(limit, hard=hard and not part.anytime)
    inner.chance = Chance(seed=plan.algorithm.seed)
    outcome = run(prepared.problem, inner)
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    return Searched(prepared=prepared, outcome=outcome, algorithm=name, why="Named in the plan.")


def _instead(prepared: Prepared, name: str, parts: Catalog) -> str:
    """What a plan can say instead of an algorithm that its source is not enough for."""
    able = [one for one, part in parts.solving("table").items() if one != name and runs_on(part, prepared)]
    return f"use {listed(able, most=20)}, or give the rows as a file or frame that fits in memory"


def runs_on(part: AlgorithmPart, prepared: Prepared) -> bool:
    """Whether an algorithm as it is without options can work on the prepared source."""
    run = part.found() if isinstance(part.found, type) else part.found
    single = grain_of(run, prepared.problem) == "rows"
    return {*part.needs, *(("rows",) if single else ())} <= prepared.source.gives


def refuse_uncounted(part: AlgorithmPart, prepared: Prepared, parts: Catalog) -> None:
    """Refuse an algorithm that counts rows where people must be counted."""
    if prepared.unit is not None and not part.people:
        able = [name for name, one in parts.solving("table").items() if one.people and runs_on(one, prepared)]
        raise PlanError(
            f"algorithm.name: {part.name} counts rows, and input.unit asks for people; use {listed(able, most=20)}"
        )


def grain_of(run: Any, problem: Problem) -> Grain:
    """Whether an algorithm works on cells or, for this problem, tells single rows apart."""
    found: Any = getattr(run, "grain", "cells")
    told: Grain = found(problem) if callable(found) else found
    return told


# The stages of a release of a table: read, search, recode, judge.


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
        from sfumato.pipeline.methods.table.parts import parted

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


# Attacks on a release of a table before it is written: on all of its rows, or on groups of them.


def attack_release(made: TableRelease, work: Work) -> Audit:
    """Attack a release that was just made; one that gives away more than the plan allows is refused."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    control = None if asked.control is None else load_table(made.plan, None, asked.control)
    chance = Chance(seed=made.plan.algorithm.seed)
    if made.parts is not None:
        found = _attacked_groups(made, control, work, chance)
    else:
        subject = release_subject(made, control=control)
        found = attacked(subject, asked, work, chance, _earlier(made, subject, chance) if asked.earlier else None)
    found.refuse(asked.max_risk, asked.accept)
    return found


def _attacked_groups(made: TableRelease, control: Table | None, work: Work, chance: Chance) -> Audit:
    """Attack random groups of a release whose rows stay in files; every finding says so."""
    asked = made.plan.attack
    if asked.earlier:
        raise PlanError(
            'attack.earlier: earlier bundles are laid over all rows, and output.format = "parts" never has all; use '
            '"parquet"'
        )
    drawn = sampled_groups(made, chance)
    if drawn is None:
        return none_drawn(asked)
    return told_of(attacked(release_subject(made, control=control, drawn=drawn), asked, work, chance), drawn.told)


def none_drawn(asked: AttackPlan) -> Audit:
    """An audit that made no attack, because every group is too large."""
    names = chosen_attacks(asked.attacks)
    return Audit(skipped=dict.fromkeys(names, f"every group has more than {ROWS:,} rows, and no more are attacked"))


def told_of(found: Audit, sample: str) -> Audit:
    """The findings, each of which says what it is about."""
    told = [replace(one, note=f"{one.note}; {sample}" if one.note else sample) for one in found.findings]
    return replace(found, findings=tuple(told))


def _earlier(made: TableRelease, subject: Subject, chance: Chance) -> Callable[[Work], Audit]:
    """Lay the plan's earlier bundles over a release."""
    from sfumato.pipeline.background import composed

    asked, plan, source = made.plan.attack, made.plan, made.prepared.source
    folders = [plan.folder / name for name in asked.earlier]
    people = Table(frame=source.texts(source.names, kept(made)), source=source.source, missing=made.published.missing)
    return lambda work: composed(
        subject, folders, people, plan, trials=asked.trials, seconds=asked.seconds, work=work, chance=chance
    )
