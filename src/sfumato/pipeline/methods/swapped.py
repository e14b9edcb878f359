"""Swapped rows as a method: plan, stages, report, and what attackers find; no model is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.value_swapping import Swapping, SwapProblem, Swaps
from sfumato.attacks.finding import Finding
from sfumato.attacks.subject import Coverage, Subject
from sfumato.bundles.checks.table import NOT_ANONYMOUS, kept_exactly, swapped_checks
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.provenance import Check
from sfumato.bundles.recoding import one_marker
from sfumato.bundles.verify import tables_of
from sfumato.core.errors import BundleError, ClaimRefuted, PlanError, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids, distinct
from sfumato.counts.local_table import LocalTable
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.pipeline.apply import no_rule
from sfumato.pipeline.attack import chosen_attacks, refuse_attacks
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.method import Asked, Audit, Kind, Searched, Summary, over, warned
from sfumato.pipeline.methods.schema import refuse_nested, schema_of, without_missing
from sfumato.pipeline.plan.columns import refuse_guarded
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, as_written, versions
from sfumato.reports.language import translated
from sfumato.reports.unclaimed_rows import SwappedFacts, render_swapped
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Table, plain_cells

# The stages of a release of swapped rows: check, prepare, search, recode, judge.


SWAPPING = "swapping"
"""The algorithm that makes this kind."""
PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SwapPrepared(Brief):
    """A table made ready for swapping."""

    source: LocalTable
    """The rows that are used."""
    schema: Schema
    """The roles of every column."""
    problem: SwapProblem
    """What the algorithm is given."""
    dropped_rows: int
    """Rows left out because of missing values."""

    def cells(self, name: str) -> pl.Series:
        """A column as it is published, in the order of the original."""
        cells = plain_cells(self.source.table.frame[name])
        return cells if self.schema.roles[name] is Role.KEEP else one_marker(cells, self.source.missing)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SwappedRelease(Release):
    """Rows with exchanged values; nothing is claimed about them."""

    prepared: SwapPrepared
    """The original."""
    outcome: Swaps
    """Who took whose value."""
    own: Ids
    """Which released row was made from each row of the original."""
    published: Published
    """What a verifier must know to read the rows."""

    @property
    def swapping(self) -> Swapping:
        """What was asked for."""
        return algorithm_of(self.plan)

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out."""
        return near_unique_columns(self.rows, self.published.schema.roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is not anonymous."""
        return [NOT_ANONYMOUS, *super().marks, *(column.told for column in self.near_unique)]


def algorithm_of(plan: Plan) -> Swapping:
    """The algorithm with the plan's options."""
    algorithm: Swapping = configured(
        catalog().algorithms[SWAPPING], plan.algorithm.options, other_keys=("name", "seed")
    )
    return algorithm


def check(plan: Plan) -> None:
    """Refuse what swapping cannot do, models first of all."""
    swapping = algorithm_of(plan)
    if plan.privacy:
        raise PlanError(
            f"privacy.{next(iter(plan.privacy))}: swapping meets no privacy model; leave [privacy] out, or use another "
            "algorithm"
        )
    refuse_guarded(plan.columns, "a release of swapped rows")
    for name in (*swapping.columns, *swapping.within):
        if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
            where = "algorithm.columns" if name in swapping.columns else "algorithm.within"
            raise PlanError(f"{where}: {name!r} is not published; give it a role in [columns]")
    algorithm = plan.algorithm
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: swapping leaves no row out; remove the key")
    if plan.input.unit is not None or plan.input.population is not None:
        raise PlanError("input: swapping knows neither a unit nor a population; remove the key")
    if plan.itemized:
        raise PlanError(f"columns.{plan.itemized[0]}.type: paths and sets cannot be swapped; use text, or drop it")
    if plan.attack.control is not None or plan.attack.earlier:
        raise PlanError("attack: the attack on swapped rows has no control run and no earlier bundles; remove the key")
    refuse_attacks(plan.attack.attacks, "swapped")
    refuse_attacks(plan.attack.accept, "swapped", key="accept")


def read(request: Asked) -> Table:
    """The table."""
    return marked(load_table(request.plan, request.like, request.plan.input.path), request.plan)


def prepare(request: Asked, table: Table) -> SwapPrepared:
    """Describe the columns, and number the groups of similar rows."""
    plan, source = request.plan, LocalTable(table)
    schema = schema_of(plan, source.names, open_columns=source.names)
    refuse_nested(plan, source, schema)
    source, dropped = without_missing(plan, source, schema)
    problem = SwapProblem(
        quasi=schema.quasi, published=schema.named(*PUBLISHED), similar=_similar(plan, source, algorithm_of(plan))
    )
    return SwapPrepared(source=source, schema=schema, problem=problem, dropped_rows=dropped)


def _similar(plan: Plan, source: LocalTable, swapping: Swapping) -> Ids:
    """The group of each row: rows that agree in the columns of ``within``, each on its level."""
    codes, sizes = [], []
    for name, level in swapping.within.items():
        if name not in source.names:
            raise unknown_column(name, source.names, where="algorithm.within")
        domain = source.domain(name, plan.columns[name].type)  # type: ignore[arg-type]
        column_codes = source.coded(domain).codes
        if level:
            tree = plan.columns[name].hierarchy
            if tree is None:
                raise PlanError(f"columns.{name}.hierarchy is missing; algorithm.within asks for its level {level}")
            levels = builder(tree, f"columns.{name}.hierarchy", plan.folder).build(domain).levels
            if level >= len(levels):
                raise PlanError(
                    f"algorithm.within.{name}: the hierarchy has levels 0 to {len(levels) - 1}, not {level}"
                )
            column_codes = levels[level].parent[column_codes]
        codes.append(column_codes.astype(np.int32))
        sizes.append(int(column_codes.max(initial=0)) + 1)
    return distinct(codes, sizes, source.rows)[0] if codes else np.zeros(source.rows, np.int64)


def search(request: Asked, prepared: SwapPrepared, work: Work) -> Searched:
    """Draw who exchanges values with whom."""
    inner = work.within(None)
    inner.chance = Chance(seed=request.plan.algorithm.seed)
    outcome = algorithm_of(request.plan)(prepared.problem, inner)
    return Searched(prepared=prepared, outcome=outcome, algorithm=SWAPPING, why="Named in the plan.")


def recode(request: Asked, result: Searched) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The released rows in random order, and which of them was made from each row of the original."""
    rows = swapped_rows(result.prepared, result.outcome, request.keys)
    order = Chance(seed=request.plan.algorithm.seed).generator().permutation(rows.height)
    return rows[order], np.argsort(order)


def swapped_rows(prepared: SwapPrepared, outcome: Swaps, keys: Mapping[str, Any]) -> pl.DataFrame:
    """Every row with the values that it took, in the order of the original."""
    columns = []
    for name, role in prepared.schema.roles.items():
        if role in PUBLISHED:
            cells = prepared.cells(name)
            columns.append(cells.gather(outcome.sources[name]) if name in outcome.sources else cells)
        elif role is Role.IDENTIFIER and name in keys:
            columns.append(keys[name].replace(prepared.source.table.frame[name]))
    return pl.DataFrame(columns)


def judge(
    kind: Kind, request: Asked, result: Searched, recoded: tuple[pl.DataFrame, NDArray[np.int64]]
) -> SwappedRelease:
    """Claim nothing; but rows with values that the original does not have are refused."""
    prepared, (rows, own) = result.prepared, recoded
    names = [name for name in rows.columns if prepared.schema.roles[name] in PUBLISHED]
    before = _texts(pl.DataFrame([prepared.cells(name) for name in names]))
    in_order = _texts(rows[own].select(names))
    groups = pl.Series(prepared.problem.similar)
    for check in kept_exactly(before, in_order, list(result.outcome.sources), groups):
        if not check.holds:
            raise ClaimRefuted(f"{result.algorithm} gave rows with other {check.what}; nothing was written")
    return SwappedRelease(
        kind=kind,
        plan=request.plan,
        prepared=prepared,
        outcome=result.outcome,
        own=own,
        rows=rows,
        published=_published(request.plan, prepared, rows),
        claims=(),
        utility=_changed(before, in_order, list(result.outcome.sources)),
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells that can be compared; lists and bytes stay as they are."""
    plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype != pl.Binary]
    return frame.with_columns(pl.col(plain).cast(pl.String))


def _changed(before: pl.DataFrame, after: pl.DataFrame, swapped: list[str]) -> dict[str, float]:
    """For the steward: the share of rows that show another value than their own, by column."""
    differ = {name: before[name].ne_missing(after[name]) for name in swapped}
    return {f"changed {name}": float(cells.mean() or 0.0) for name, cells in differ.items()}  # type: ignore[arg-type]


def _published(plan: Plan, prepared: SwapPrepared, rows: pl.DataFrame) -> Published:
    missing = prepared.source.missing

    def kind(name: str) -> Any:
        if prepared.schema.roles[name] not in (Role.SENSITIVE, Role.TARGET):
            return "text"
        return plan.columns[name].type or Table(frame=rows.select(name), missing=missing).column(name).kind

    return Published(
        columns=tuple(
            PublishedColumn(name=name, role=prepared.schema.roles[name], kind=kind(name)) for name in rows.columns
        ),
        rows=rows.height,
        missing=missing,
    )


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: the same values in every column, and the rest unchanged.

    Partners are drawn anew whenever a release is made, so rows are not compared one by one.
    """
    request = Asked(plan=plan, keys={}, like=original)
    prepared = prepare(request, read(request))
    table = tables_of(folder, manifest)["data"].frame
    names = [name for name in table.columns if prepared.schema.roles[name] in PUBLISHED]
    mark = next(iter(prepared.source.missing), "")
    frames = pl.DataFrame([prepared.cells(name) for name in names]), table.select(names)
    before, after = (_texts(frame).with_columns(pl.col(pl.String).fill_null(mark)) for frame in frames)
    yield from kept_exactly(before, after, [str(name) for name in manifest["recoding"]["columns"]])


# From a release of swapped rows to its files, manifest, report and summary, and to what attackers find.


def attack(release: SwappedRelease, work: Work) -> Audit:
    """Look for people by what is nearest to them; more than the plan allows is refused."""
    attack_plan = release.plan.attack
    if not attack_plan.run:
        return Audit()
    subject, inner = swapped_subject(release), work.within(attack_plan.seconds)
    findings, skipped = [], {}
    chosen = chosen_attacks(attack_plan.attacks, "swapped")
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        attack = part.make(attack_plan.trials)
        if why := over(inner, attack_plan.seconds) or attack.fits(subject):
            skipped[name] = why
            continue
        findings.append(replace(attack.run(subject, Chance(seed=release.plan.algorithm.seed), None), attack=name))
    work.advance("attack", 1, 1)
    audit = Audit(findings=tuple(findings), skipped=skipped)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def swapped_subject(release: SwappedRelease) -> Subject:
    """The released rows and the people behind them; every value stands for itself."""
    prepared, schema = release.prepared, release.prepared.schema
    names = (*schema.quasi, *schema.sensitive)
    mark = next(iter(prepared.source.missing), "")
    people = pl.DataFrame([prepared.cells(name) for name in names]).select(pl.all().cast(pl.String).fill_null(mark))
    released = release.rows.select(pl.col(names).cast(pl.String).fill_null(mark))
    kinds = {name: prepared.source.column(name, release.plan.columns[name].type).kind for name in names}  # type: ignore[arg-type]
    return Subject(
        release=released,
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        coverage={name: Coverage.plain(people[name].unique().sort().to_list()) for name in schema.quasi},
        people=people,
        algorithm=release.algorithm,
        numeric=frozenset(name for name, kind in kinds.items() if kind in ("integer", "real")),
        own=release.own,
    )


def refuse_bundle(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle: afterwards nobody knows whose row is whose."""
    raise BundleError(
        f"{folder}: swapped rows are attacked when they are released, where it is known whose row is whose; the "
        "figures stand in its report"
    )


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: values are exchanged among the rows of one release."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


def refuse_frontier(plan: Plan) -> NoReturn:
    """Refuse a frontier: it draws privacy models against loss, and here is none."""
    raise PlanError("algorithm.name: a frontier compares models, and swapping meets none; make releases one by one")


def files(release: SwappedRelease) -> dict[str, pl.DataFrame]:
    """The released rows."""
    return {"data": as_written(release.rows, release.plan.output_format, release.published.missing)}


def manifest(release: SwappedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; how many values really changed depends on the original, and is the steward's."""
    ((data, digest),) = files.items()
    swapping = release.swapping
    return {
        "data": {"file": data, "sha256": digest, **release.published.to_json()},
        "claims": [],
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            "rate": float(swapping.rate),
            "columns": list(release.outcome.sources),
            "within": dict(swapping.within),
            **({"left_out": release.prepared.dropped_rows} if release.prepared.dropped_rows else {}),
        },
        **release.audit.stated(),
        "versions": versions("numpy", "polars"),
    }


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the rows."""
    rows, stated = tables["data"].frame, manifest["recoding"]
    names = [column["name"] for column in manifest["data"]["columns"] if column["name"] in stated["columns"]]
    facts = SwappedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=rows.height,
        rate=float(stated["rate"]),
        swapped=tuple(stated["columns"]),
        within=tuple((name, int(level)) for name, level in stated["within"].items()),
        left_out=int(stated.get("left_out", 0)),
        marks=tuple(manifest["marks"]),
        columns=tuple((name, _counted(rows[name])) for name in names),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
    )
    return render_swapped(facts, work)


def _counted(cells: pl.Series) -> tuple[tuple[str, int], ...]:
    """Rows per value, the most frequent first."""
    counts = (
        cells.cast(pl.String)
        .fill_null("")
        .alias("value")
        .value_counts()
        .sort("count", "value", descending=[True, False])
    )
    return tuple((str(value), int(many)) for value, many in counts.iter_rows())


def summary(release: SwappedRelease) -> Summary:
    """What was exchanged, how often people are still found, and that nothing is claimed."""
    findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
    risks = tuple(
        f"{finding.attack}: {finding.rate.value:.1%} of {finding.rate.trials:,} people are found."
        for finding in findings
    )
    return Summary(
        lines=(
            f"Swapped, nothing is claimed: {release.rows.height:,} rows with {release.swapping.rate:.3g} exchanged.",
        ),
        heads=("column", "rows that show another value"),
        cells=tuple((name.removeprefix("changed "), f"{share:.1%}") for name, share in release.utility.items()),
        after=(*risks, *warned(release.marks)),
        changes=(("rows", release.prepared.source.rows, release.rows.height),),
    )


def figures(release: SwappedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "algorithm": release.algorithm,
        "claims": [],
        "rate": float(release.swapping.rate),
        "changed": {name.removeprefix("changed "): share for name, share in release.utility.items()},
        "attacks": release.audit.to_json(),
    }


# Rows with exchanged values as a kind of release: its risk is measured, and nothing is claimed.


KIND = Kind(
    name="swapped",
    check=check,
    read=read,
    prepare=prepare,
    search=search,
    recode=recode,
    judge=judge,
    attack=attack,
    files=files,
    manifest=manifest,
    checks=swapped_checks,
    again=again,
    subject=refuse_bundle,
    apply=refuse_records,
    public_page=public_page,
    done=lambda manifest: translated(
        "Values were exchanged between rows: every value was somebody's, and many stand in another row now."
    ),
    summary=summary,
    figures=figures,
    comparison=refuse_frontier,
)
