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
from sfumato.pipeline.attack import attacked
from sfumato.pipeline.catalog.catalog import Catalog, catalog, parameters
from sfumato.pipeline.catalog.parts import AlgorithmPart
from sfumato.pipeline.inputs import frame_source, load_table, marked, planned_source, stays, too_large
from sfumato.pipeline.methods.method import Audit, Method, Request, SearchResult
from sfumato.pipeline.methods.table.plan import algorithm_of
from sfumato.pipeline.methods.table.problem import Prepared, put_back, rows_that_stay, same_labels, unit
from sfumato.pipeline.methods.table.release import TableRelease, kept
from sfumato.pipeline.methods.table.subject import ROWS, release_subject, sampled_groups
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
        column = near_unique(name, prepared.schema.roles[name], domain.counts, prepared.rows, k)
        if column is not None:
            yield column


# Other searches on the same table, within a time budget: what they would lose, and whether the purpose takes one.
#
# A full-domain optimum lets every value read the same in every row; group by group, the same requirement often costs
# much less. What the others would lose is measured against the original, so only the steward may know it: the inside
# report, the terminal and ``--json`` show it, a bundle does not.


GROUP_BY_GROUP = ("mondrian", "local")
"""Searches that are fast and often lose less, because a value may read differently in different rows."""

Run = Callable[[str, Work], SearchResult]


def try_others(
    taken: SearchResult, run: Run, work: Work, seconds: float, names: Sequence[str] = GROUP_BY_GROUP
) -> tuple[SearchResult, ...]:
    """What the fast searches find together within as many steps as fit into so many seconds."""
    inner = work.allowing(seconds)
    return tuple(_attempt(name, run, inner) for name in names if name != taken.algorithm and seconds > 0)


def _attempt(name: str, run: Run, work: Work) -> SearchResult:
    """What one search finds; a search that cannot be made says why."""
    try:
        if work.expired:
            raise OutOfTime("the time for other searches was over")
        return run(name, work)
    except Interrupted:
        raise
    except SfumatoError as error:
        return SearchResult(prepared=None, outcome=None, algorithm=name, why=str(error))


def search_facts(result: SearchResult) -> SearchFacts:
    """A search as the steward's report shows it."""
    if result.outcome is None:
        return SearchFacts(algorithm=result.algorithm, value=None, alike=False, why=result.why)
    outcome = result.outcome
    return SearchFacts(
        algorithm=result.algorithm,
        value=_value(result),
        alike=outcome.alike,
        cut=outcome.effort.get("stopped") == BY_TIME,
    )


def _value(result: SearchResult) -> float:
    problem: Problem = result.prepared.problem
    return problem.metric.measure(result.outcome.recoding(problem).view(problem, result.outcome.suppressed))


def least_lossy(taken: SearchResult, others: Sequence[SearchResult]) -> SearchResult:
    """The search that loses least by the plan's metric; the first one where others lose as much."""
    able = [result for result in (taken, *others) if result.outcome is not None]
    best = min(able, key=lambda result: result.outcome.loss)
    metric = taken.prepared.problem.metric.name
    return replace(best, why=f"Chosen by auto: of the searches that were made, it lost least by {metric}.")


# The search for a table: the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it.


AUTO_SECONDS = 60.0
"""How long a search that can be stopped at any time goes on improving where the plan gives no limit."""
_ROUNDS = 5
"""How often more rows may go because the hierarchies of those that stay are others."""


def search(request: Request, prepared: Prepared, work: Work) -> SearchResult:
    """Find which rows are removed, and then the labels of the others from these alone."""
    result = _search(request, prepared, work)
    if prepared.problem.suppressed == "star" or not result.outcome.suppressed.any():
        return result
    try:
        again = put_back(_search(request, _settled(request, result, work), work))
    except Infeasible as error:
        raise Infeasible(
            f"with {result.algorithm}, rows would be removed, and for the others alone nothing fits without removing "
            f"more: {error}"
        ) from error
    return replace(again, beside=result.beside) if again.algorithm == result.algorithm else again


def _settled(request: Request, result: SearchResult, work: Work) -> Prepared:
    """The rows that stay. Where their values make other hierarchies, more rows may have to go."""
    for _ in range(_ROUNDS):
        whole, removed = result.prepared, result.outcome.suppressed
        rest = rows_that_stay(request.plan, whole, removed)
        spare = whole.problem.limit - whole.problem.cells.weight(removed)
        if spare <= 0 or same_labels(rest):
            break
        again = _search(request, replace(rest, problem=replace(rest.problem, limit=spare)), work)
        if not again.outcome.suppressed.any():
            break
        result = put_back(again)
    return rest


def _search(request: Request, prepared: Prepared, work: Work) -> SearchResult:
    """Run the plan's algorithm, or the one that ``auto`` stands for and the fast ones beside it."""
    algorithm = request.plan.algorithm
    if algorithm.name != "auto":
        return search_by(request, prepared, algorithm.name, work)
    name, why = chosen(prepared.problem)
    taken = replace(search_by(request, prepared, name, work), why=why)

    def run(other: str, within: Work) -> SearchResult:
        return search_by(request, prepared, other, within, hard=True)

    able = [other for other in GROUP_BY_GROUP if runs_on(catalog().algorithms[other], prepared)]
    others = try_others(taken, run, work, algorithm.alternatives, able)
    best = least_lossy(taken, others) if request.plan.purpose == "least-loss" else taken
    return replace(
        best, beside=tuple(search_facts(result) for result in (taken, *others) if result.algorithm != best.algorithm)
    )


def search_by(request: Request, prepared: Prepared, name: str, work: Work, *, hard: bool = False) -> SearchResult:
    """Run one algorithm; with ``hard``, the limit also ends one that has no result before its end."""
    plan, parts = request.plan, catalog()
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
    return SearchResult(prepared=prepared, outcome=outcome, algorithm=name, why="Named in the plan.")


def _instead(prepared: Prepared, name: str, parts: Catalog) -> str:
    """What a plan can say instead of an algorithm that its source is not enough for."""
    able = [
        algorithm_name
        for algorithm_name, part in parts.solving("table").items()
        if algorithm_name != name and runs_on(part, prepared)
    ]
    return f"use {listed(able, most=20)}, or give the rows as a file or frame that fits in memory"


def runs_on(part: AlgorithmPart, prepared: Prepared) -> bool:
    """Whether an algorithm as it is without options can work on the prepared source."""
    run = part.found() if isinstance(part.found, type) else part.found
    single = grain_of(run, prepared.problem) == "rows"
    return {*part.needs, *(("rows",) if single else ())} <= prepared.source.gives


def refuse_uncounted(part: AlgorithmPart, prepared: Prepared, parts: Catalog) -> None:
    """Refuse an algorithm that counts rows where people must be counted."""
    if prepared.unit is not None and not part.people:
        able = [
            name
            for name, candidate in parts.solving("table").items()
            if candidate.people and runs_on(candidate, prepared)
        ]
        raise PlanError(
            f"algorithm.name: {part.name} counts rows, and input.unit asks for people; use {listed(able, most=20)}"
        )


def grain_of(run: Any, problem: Problem) -> Grain:
    """Whether an algorithm works on cells or, for this problem, tells single rows apart."""
    declared_grain: Any = getattr(run, "grain", "cells")
    grain: Grain = declared_grain(problem) if callable(declared_grain) else declared_grain
    return grain


# The stages of a release of a table: read, search, recode, judge.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecodedTable:
    """Released rows, and how they were changed."""

    recoding: Recoding
    """How."""
    rows: pl.DataFrame
    """The rows."""
    sensitive: pl.DataFrame | None
    """The sensitive values by group, where they are published apart."""
    parts: ReleasedParts | None = None
    """The rows, where they stay in files; ``rows`` has only their columns then."""


def begin(request: Request) -> Request:
    """Refuse a control file that is not there."""
    request.plan.attack.refuse_files(request.plan.folder)
    return request


def read(request: Request) -> tuple[CellSource | Table, CellSource | Table | None]:
    """The table and, where there is one, the population; whatever can be counted is taken as it is."""
    plan = request.plan
    if is_source(request.like):
        return request.like, request.population  # type: ignore[return-value]
    if stays(plan, request.like) or (request.like is None and plan.input.engine is not None):
        return _in_engine(request)
    why = too_large(plan) if request.like is None and request.population is None else None
    if why is not None:
        return replace(planned_source(plan), note=why), None
    table = marked(load_table(plan, request.like, plan.input.path), plan)
    if request.population is None and plan.input.population is None:
        return table, None
    people = load_table(plan, request.population, plan.input.population)
    return table, replace(people, missing=table.missing)


def _in_engine(request: Request) -> tuple[CellSource, CellSource | None]:
    """The table and the population where they are; counts come from there, and no row before the last step."""
    plan, people = request.plan, request.population
    source = planned_source(plan) if request.like is None else frame_source(plan, request.like)
    if people is None and plan.input.population is None:
        return source, None
    whole = planned_source(plan, plan.input.population) if people is None else frame_source(plan, people)
    return source, replace(whole, missing=source.missing)


def is_source(frame: object) -> bool:
    """Whether something offers counts itself."""
    return all(hasattr(frame, name) for name in ("gives", "domain", "cells", "apply"))


def recode(request: Request, result: SearchResult) -> RecodedTable:
    """Let the source apply the mapping, and shuffle the rows."""
    plan, prepared = request.plan, result.prepared
    recoding = recoding_of(request, prepared, result.outcome)
    if plan.output_format == "parts":
        from sfumato.pipeline.methods.table.parts import parted

        parts = parted(prepared, recoding, Chance(seed=plan.algorithm.seed))
        return RecodedTable(recoding=recoding, rows=parts.source.frame, sensitive=None, parts=parts)
    mapped = prepared.source.apply(recoding.mapping, recoding.beside(prepared.schema))
    rows = recoding.released(mapped, prepared.schema, Chance(seed=plan.algorithm.seed))
    sensitive = None
    if recoding.buckets is not None:
        sensitive = recoding.buckets.table(mapped.frame[recoding.buckets.column], recoding.missing)
    return RecodedTable(recoding=recoding, rows=rows, sensitive=sensitive)


def recoding_of(request: Request, prepared: Prepared, outcome: Outcome) -> Recoding:
    """What every cell reads as."""
    outcome_recoding = outcome.recoding(prepared.problem)
    whole = zip(prepared.schema.quasi, outcome.levels or (), strict=False)
    starred = prepared.problem.suppressed == "star" and bool(outcome.suppressed.any())
    mapping = CellMapping(
        cells=prepared.problem.cells,
        labels=outcome_recoding.labels,
        shown=outcome_recoding.keys,
        suppressed=outcome.suppressed,
        unchanged=frozenset() if starred else frozenset(name for name, level in whole if level == 0),
        singly=prepared.grain == "rows",
    )
    return Recoding(
        mapping=mapping,
        rows=request.plan.algorithm.suppressed,
        pseudonyms=request.keys,
        buckets=_buckets(request.plan, prepared, outcome),
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


def judge(kind: Method, request: Request, result: SearchResult, recoded: RecodedTable) -> TableRelease:
    """Judge the released rows in the same way as a verifier would."""
    plan, prepared, outcome, rows = request.plan, result.prepared, result.outcome, recoded.rows
    models = prepared.models
    whole = Table(frame=rows, missing=prepared.source.missing, source="the release")
    table = whole if recoded.parts is None else recoded.parts.source
    published = _published(plan, prepared, outcome, table, recoded.recoding.buckets)
    classes = evidence(table, published, counted=[name for model in models for name in model.columns])
    judged = required(classes, published)
    if recoded.sensitive is not None and published.apart is not None:
        judged = groups_apart(whole, Table(frame=recoded.sensitive, missing=published.missing), published.apart)
    claims = tuple(claim(model, parameters(model), judged, prepared.problem.reading) for model in models)
    refuted = [judged_claim.model for judged_claim in claims if not judged_claim.holds]
    if any(not getattr(model, "wished", True) for model in models) and not as_read(prepared.problem, outcome):
        refuted.append("what people wish")
    for name in refuted:
        raise ClaimRefuted(f"{result.algorithm} gave a table that does not meet {name}; nothing was written")
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
        algorithm=result.algorithm,
        why=result.why,
        beside=result.beside,
        sensitive=recoded.sensitive,
        like=None if is_source(request.like) else request.like,
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


def attack_release(release: TableRelease, work: Work) -> Audit:
    """Attack a release that was just made; one that gives away more than the plan allows is refused."""
    attack_plan = release.plan.attack
    if not attack_plan.run:
        return Audit()
    control = None if attack_plan.control is None else load_table(release.plan, None, attack_plan.control)
    chance = Chance(seed=release.plan.algorithm.seed)
    if release.parts is not None:
        audit = _attacked_groups(release, control, work, chance)
    else:
        subject = release_subject(release, control=control)
        audit = attacked(
            subject, attack_plan, work, chance, _earlier(release, subject, chance) if attack_plan.earlier else None
        )
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def _attacked_groups(release: TableRelease, control: Table | None, work: Work, chance: Chance) -> Audit:
    """Attack random groups of a release whose rows stay in files; every finding says so."""
    attack_plan = release.plan.attack
    if attack_plan.earlier:
        raise PlanError(
            'attack.earlier: earlier bundles are laid over all rows, and output.format = "parts" never has all; use '
            '"parquet"'
        )
    drawn = sampled_groups(release, chance)
    if drawn is None:
        return none_drawn(attack_plan)
    return told_of(
        attacked(release_subject(release, control=control, drawn=drawn), attack_plan, work, chance), drawn.told
    )


def none_drawn(attack_plan: AttackPlan) -> Audit:
    """An audit that made no attack, because every group is too large."""
    names = catalog().chosen_attacks(attack_plan.attacks)
    return Audit(skipped=dict.fromkeys(names, f"every group has more than {ROWS:,} rows, and no more are attacked"))


def told_of(audit: Audit, sample: str) -> Audit:
    """The findings, each of which says what it is about."""
    findings = [
        replace(finding, note=f"{finding.note}; {sample}" if finding.note else sample) for finding in audit.findings
    ]
    return replace(audit, findings=tuple(findings))


def _earlier(release: TableRelease, subject: Subject, chance: Chance) -> Callable[[Work], Audit]:
    """Lay the plan's earlier bundles over a release."""
    from sfumato.pipeline.background import composed

    attack_plan, plan, source = release.plan.attack, release.plan, release.prepared.source
    folders = [plan.folder / name for name in attack_plan.earlier]
    people = Table(
        frame=source.texts(source.names, kept(release)), source=source.source, missing=release.published.missing
    )
    return lambda work: composed(
        subject, folders, people, plan, trials=attack_plan.trials, seconds=attack_plan.seconds, work=work, chance=chance
    )
