"""Making a release: read, prepare, search, recode, judge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from sfumato.bundle.pseudonyms import Pseudonyms
from sfumato.bundle.published import MARKERS, Apart, Published, PublishedColumn
from sfumato.bundle.recoding import Buckets, Recoding
from sfumato.bundle.staging import refuse_existing
from sfumato.data.files import read
from sfumato.data.frames import from_frame
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, ClaimRefuted, DataError, PlanError, listed
from sfumato.ground.work import Work
from sfumato.models.k_anonymity import asked_k
from sfumato.publish.problem import Outcome
from sfumato.verification.evidence import evidence, groups_apart, required
from sfumato.verification.judging import claim
from sfumato.workflow.catalog import Catalog, catalog, grain, parameters
from sfumato.workflow.plan import Plan
from sfumato.workflow.prepare import Prepared, prepare
from sfumato.workflow.release import Release

Keys = Mapping[str, Pseudonyms]
AUTO_SECONDS = 60.0
"""How long a search that can be stopped at any time goes on improving where nothing else is said."""
ANYTIME = ("greedy", "k-optimize", "local")
"""The searches that give their best so far when the time is over."""


def release(
    plan: Plan,
    frame: object = None,
    *,
    work: Work | None = None,
    population: object = None,
) -> Release:
    """Make a release of a frame, or of the file that the plan names."""
    work = work or Work()
    parts = catalog()
    parts.named_algorithm(plan.algorithm.name, plan.algorithm.options)
    plan.attack.check(plan.folder)
    work.advance("read", 0, 1)
    table = load_table(plan, frame, plan.input.path)
    everyone = (
        None
        if population is None and plan.input.population is None
        else load_table(plan, population, plan.input.population)
    )
    table = marked(table, plan)
    work.advance("read", 1, 1)
    keys = pseudonyms(plan)
    prepared = prepare(plan, table, everyone, parts)
    name, run, why = parts.algorithm(plan.algorithm.name, prepared.problem, plan.algorithm.options)
    prepared = prepared.at(grain(run, prepared.problem))
    work.seconds = plan.algorithm.seconds or work.seconds or (AUTO_SECONDS if name in ANYTIME else None)
    work.chance = Chance(seed=plan.algorithm.seed)
    outcome = run(prepared.problem, work)
    work.advance("search", 1, 1)
    recoding = _recoding(plan, prepared, outcome, keys)
    made = _released(plan, prepared, outcome, recoding, (name, why), like=frame)
    work.advance("recode and judge", 1, 1)
    return made


def check_output(folder: Path, inside: Path | None, *, force: bool) -> None:
    """Refuse an output folder, or a place of the inside report, before any work is done."""
    refuse_existing(folder, force=force)
    if inside is not None and folder.resolve() in inside.resolve().parents:
        raise BundleError(
            f"the inside report {inside} must not lie inside the bundle {folder}: it is not to be published"
        )
    if inside is not None and inside.exists() and not force:
        raise BundleError(f"{inside} exists already; name another file with --inside, or replace it with --force")
    if inside is not None and not inside.resolve().parent.is_dir():
        raise BundleError(f"{inside} cannot be written: {inside.parent} is no folder")
    parent = next(p for p in folder.resolve().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise BundleError(f"{folder} cannot be written: {parent} is not a writable folder")


def load_table(plan: Plan, frame: object, path: str | None) -> Table:
    """The table of a frame, or of a file that is read as the plan says."""
    if frame is not None:
        return _without_nan(from_frame(frame, missing=plan.input.missing))
    if path is None:
        raise PlanError("input.path is missing; name the data file in the plan or with --input")
    source = plan.input
    found = read(
        plan.folder / path,
        delimiter=source.delimiter,
        quote=source.quote,
        encoding=source.encoding,
        header=source.header,
        names=source.names or None,
        missing=source.missing,
        trim=source.trim,
    )
    return _without_nan(found)


def _without_nan(table: Table) -> Table:
    """A number that is none is a missing value, and zero has no sign."""
    reals = [name for name in table.names if table.frame[name].dtype.is_float()]
    zeros = [pl.when(pl.col(n) == 0).then(pl.col(n).abs()).otherwise(pl.col(n).fill_nan(None)).alias(n) for n in reals]
    return replace(table, frame=table.frame.with_columns(zeros))


def marked(table: Table, plan: Plan) -> Table:
    """Where there are nulls and no missing marker is declared, choose one that is no value of the table."""
    named = [name for name in plan.columns if name in table.names]
    if plan.input.missing or not any(table.frame[name].null_count() for name in named):
        return table
    texts = [table.frame[name] for name in named if table.frame[name].dtype == pl.String]
    free = [marker for marker in MARKERS if not any((cells == marker).any() for cells in texts)]
    if not free:
        raise DataError(
            f"{table.source} has nulls, and {listed(MARKERS)} are all values of it; declare in [input] missing how "
            "a missing value is to be written"
        )
    return replace(table, missing=(free[0],))


def _released(
    plan: Plan, prepared: Prepared, outcome: Outcome, recoding: Recoding, how: tuple[str, str], *, like: object
) -> Release:
    """Recode, and judge the released rows in the same way as a verifier would."""
    rows = recoding.apply(prepared.table, prepared.columns, prepared.schema, Chance(seed=plan.algorithm.seed))
    models = prepared.problem.models
    published = _published(plan, prepared, outcome, rows, recoding.buckets)
    table = Table(frame=rows, missing=published.missing, source="the release")
    classes = evidence(table, published, counted=[name for model in models for name in model.columns])
    judged = required(classes, published)
    sensitive: pl.DataFrame | None = None
    if recoding.buckets is not None and published.apart is not None:
        sensitive = recoding.buckets.table(prepared.table.frame[recoding.buckets.column])
        judged = groups_apart(table, Table(frame=sensitive, missing=published.missing), published.apart)
    claims = tuple(claim(model, parameters(model), judged, prepared.problem.reading) for model in models)
    for one in claims:
        if not one.holds:
            raise ClaimRefuted(f"{how[0]} gave a table that does not meet {one.model}; nothing was written")
    return Release(
        plan=plan,
        prepared=prepared,
        outcome=outcome,
        recoding=recoding,
        rows=rows,
        published=published,
        classes=classes,
        claims=claims,
        utility=_utility(prepared, outcome, catalog()),
        algorithm=how[0],
        why=how[1],
        sensitive=sensitive,
        like=like,
    )


def pseudonyms(plan: Plan) -> Keys:
    """The keys of all pseudonymized columns, read before any work is done."""
    return {
        name: Pseudonyms.load(plan.folder / column.pseudonym["key_file"], where=f"columns.{name}.pseudonym.key_file")
        for name, column in plan.columns.items()
        if column.pseudonym is not None
    }


def _recoding(plan: Plan, prepared: Prepared, outcome: Outcome, keys: Keys) -> Recoding:
    quasi, found = prepared.schema.quasi, outcome.recoding(prepared.problem)
    whole = zip(quasi, outcome.levels or (), strict=False)
    return Recoding(
        labels=dict(zip(quasi, found.labels, strict=True)),
        codes=dict(zip(quasi, found.keys, strict=True)),
        row_cell=prepared.cells.row_cell,
        unchanged=frozenset(name for name, level in whole if level == 0),
        suppressed=outcome.suppressed[prepared.cells.row_cell],
        rows=plan.algorithm.suppressed,
        pseudonyms=keys,
        buckets=_buckets(plan, prepared, outcome),
    )


def _buckets(plan: Plan, prepared: Prepared, outcome: Outcome) -> Buckets | None:
    """The groups by which the sensitive column is published apart, numbered at random."""
    if outcome.buckets is None:
        return None
    column = prepared.problem.models[0].columns[0]
    if prepared.schema.sensitive != (column,):
        raise PlanError(
            f"columns: {plan.algorithm.name} publishes {column!r} apart; other sensitive columns would stand beside "
            f"unchanged quasi-identifiers, but the plan has {listed(prepared.schema.sensitive)}"
        )
    taken = prepared.table.names
    name = next(name for name in ("group", *(f"group_{n}" for n in range(2, len(taken) + 3))) if name not in taken)
    count = int(outcome.buckets.max(initial=-1)) + 1
    numbers = Chance(seed=plan.algorithm.seed).generator().permutation(count)
    return Buckets(name=name, column=column, of_row=numbers[outcome.buckets])


def _published(
    plan: Plan, prepared: Prepared, outcome: Outcome, rows: pl.DataFrame, buckets: Buckets | None
) -> Published:
    schema, encoded = prepared.schema, prepared.columns
    kinds = {name: encoded[name].kind if name in encoded else "text" for name in rows.columns}
    kinds |= dict.fromkeys(schema.quasi, "text")
    roles = {**schema.roles, **({} if buckets is None else {buckets.name: Role.KEEP})}
    apart: Apart | None = None
    if buckets is not None:
        hidden = PublishedColumn(name=buckets.column, role=Role.SENSITIVE, kind=encoded[buckets.column].kind)
        apart = Apart(group=buckets.name, column=hidden)
    return Published(
        columns=tuple(PublishedColumn(name=n, role=roles[n], kind=kinds[n]) for n in rows.columns),
        apart=apart,
        rows=rows.height,
        missing=prepared.table.missing,
        exempt=plan.algorithm.exempt_suppressed,
        references=_references(prepared, outcome),
        population=_population(prepared, outcome),
    )


def _references(prepared: Prepared, outcome: Outcome) -> dict[str, dict[str, int]]:
    """The original distributions that a claim refers to, where removed rows make them differ from the release."""
    if not outcome.suppressed.any() or prepared.problem.suppressed == "star":
        return {}
    wanted = {m.columns[0] for m in prepared.problem.models if getattr(m, "reference", "released") == "original"}
    found = {}
    for name in sorted(wanted):
        column = prepared.columns[name]
        found[name] = {value: int(count) for value, count in zip(column.values, column.counts, strict=True)}
    return found


def _population(prepared: Prepared, outcome: Outcome) -> tuple[tuple[tuple[str, ...], int], ...]:
    everyone = prepared.cells.classes.population
    if everyone is None:
        return ()
    if outcome.levels is None:
        raise PlanError("input.population: a population needs one level per column; use optimal")
    levels = [h.levels[n] for h, n in zip(prepared.problem.hierarchies, outcome.levels, strict=True)]
    grouped, _ = everyone.recoded([level.parent for level in levels], [level.labels for level in levels])
    return tuple((tuple(grouped.label(i).values()), int(grouped.sizes[i])) for i in range(grouped.count))


def _utility(prepared: Prepared, outcome: Outcome, parts: Catalog) -> dict[str, float]:
    """Every metric of the catalog that applies."""
    problem = prepared.problem
    view = outcome.recoding(problem).view(problem, outcome.suppressed)
    metrics = [parts.metric(name, k=asked_k(problem.models)) for name in parts.metrics]
    return {m.name: m.measure(view) for m in metrics if problem.target is not None or "target" not in m.needs}
