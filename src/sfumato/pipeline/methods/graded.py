"""Graded pseudonyms as a method: codes and aliases that sites agreed on; no model is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from sfumato.algorithms.graded_pseudonyms import GradedPseudonyms
from sfumato.attacks.finding import Finding
from sfumato.attacks.pseudonyms import KnownPlaintext, PseudonymizedColumn
from sfumato.bundles.checks.table import PSEUDONYMIZED, graded_checks, kept_exactly
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.provenance import Check
from sfumato.bundles.recoding import one_marker
from sfumato.bundles.verify import tables_of
from sfumato.core.errors import BundleError, ClaimRefuted, PlanError, unknown_column
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.pipeline.attack import chosen_attacks, refuse_attacks
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.method import Asked, Audit, Kind, Searched, Summary, over, warned
from sfumato.pipeline.plan.columns import refuse_guarded
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, as_written, versions
from sfumato.reports.language import translated
from sfumato.reports.unclaimed_rows import GradedFacts, render_graded
from sfumato.tables.graded_secret import AliasTable, GradedColumn, GradedNumbers, GradedSecret
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_text, plain_cells

# The stages of a pseudonymized release: check, begin, prepare, search, recode, judge.


GRADED = "graded"
"""The algorithm that makes this kind."""
PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GradedPrepared(Brief):
    """A table and the secret that it is transformed with."""

    table: Table
    """The rows."""
    roles: Mapping[str, Role]
    """The role of every column."""
    secret: GradedSecret
    """Key and terms."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GradedRelease(Release):
    """Rows with codes and aliases; nothing is claimed about them."""

    prepared: GradedPrepared
    """The original."""
    shown: Mapping[str, pl.Series]
    """The transformed columns, in the order of the original."""
    published: Published
    """What a verifier must know to read the rows."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out."""
        return near_unique_columns(self.rows, self.published.schema.roles, self.published.missing, asked_size(()))

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is pseudonymized and not anonymous."""
        return [PSEUDONYMIZED, *super().marks, *(column.told for column in self.near_unique)]


def algorithm_of(plan: Plan) -> GradedPseudonyms:
    """The algorithm with the plan's options."""
    algorithm: GradedPseudonyms = configured(
        catalog().algorithms[GRADED], plan.algorithm.options, other_keys=("name", "seed")
    )
    return algorithm


def check(plan: Plan) -> None:
    """Refuse what pseudonyms cannot do, models first of all."""
    algorithm_of(plan)
    if plan.privacy:
        raise PlanError(
            f"privacy.{next(iter(plan.privacy))}: graded grouping meets no privacy model; leave [privacy] out, or use "
            "another algorithm"
        )
    refuse_guarded(plan.columns, "a pseudonymized release")
    algorithm = plan.algorithm
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: graded grouping leaves no row out; remove the key")
    if plan.input.unit is not None or plan.input.population is not None:
        raise PlanError("input: graded grouping knows neither a unit nor a population; remove the key")
    if plan.input.on_missing == "drop":
        raise PlanError("input.on_missing: graded grouping leaves no row out; a missing value stays missing")
    if plan.itemized:
        raise PlanError(f"columns.{plan.itemized[0]}.type: paths and sets have no codes; use text, or drop the column")
    if plan.attack.control is not None or plan.attack.earlier:
        raise PlanError("attack: the attacks on pseudonyms have no control run and no earlier bundles; remove the key")
    refuse_attacks(plan.attack.attacks, GRADED)
    refuse_attacks(plan.attack.accept, GRADED, key="accept")


def begin(request: Asked) -> Asked:
    """Read the secret, and refuse a plan that leaves out an agreed column, before the table is read."""
    plan = request.plan
    for name in secret_of(plan).terms:
        if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
            raise PlanError(f"columns.{name}: the sites agreed on this column, so give it a role that is published")
    return request


def secret_of(plan: Plan) -> GradedSecret:
    """The secret that the plan names."""
    return GradedSecret.load(plan.folder / algorithm_of(plan).secret)


def read(request: Asked) -> Table:
    """The table."""
    return marked(load_table(request.plan, request.like, request.plan.input.path), request.plan)


def prepare(request: Asked, table: Table) -> GradedPrepared:
    """The role of every column."""
    plan = request.plan
    for name in plan.columns:
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
    roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in table.names}
    return GradedPrepared(table=table, roles=roles, secret=secret_of(plan))


def search(request: Asked, prepared: GradedPrepared, work: Work) -> Searched:
    """Codes and aliases for every agreed column."""
    outcome = algorithm_of(request.plan).columns(prepared.table, prepared.secret)
    return Searched(prepared=prepared, outcome=outcome, algorithm=GRADED, why="Named in the plan.")


def recode(request: Asked, result: Searched) -> pl.DataFrame:
    """The released rows in random order."""
    frame = pl.DataFrame(_columns(result.prepared, result.outcome, request.keys))
    return frame[Chance(seed=request.plan.algorithm.seed).generator().permutation(frame.height)]


def _columns(
    prepared: GradedPrepared, pseudonyms: Mapping[str, pl.Series], keys: Mapping[str, Any]
) -> Iterable[pl.Series]:
    table = prepared.table
    for name, role in prepared.roles.items():
        if name in pseudonyms:
            yield pseudonyms[name]
        elif role in PUBLISHED:
            cells = plain_cells(table.frame[name])
            yield cells if role is Role.KEEP else one_marker(cells, table.missing)
        elif role is Role.IDENTIFIER and name in keys:
            yield keys[name].replace(table.frame[name])


def judge(kind: Kind, request: Asked, result: Searched, rows: pl.DataFrame) -> GradedRelease:
    """Claim nothing; but a value that does not come back as it was is refused."""
    prepared = result.prepared
    _refuse_lost(prepared, result.outcome)
    return GradedRelease(
        kind=kind,
        plan=request.plan,
        prepared=prepared,
        shown=result.outcome,
        rows=rows,
        published=_published(request.plan, prepared, rows),
        claims=(),
        utility={},
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _refuse_lost(prepared: GradedPrepared, pseudonyms: Mapping[str, pl.Series]) -> None:
    """Every distinct value is read back and compared with what it was."""
    for name, column in prepared.secret.columns.items():
        pairs = pl.DataFrame({"was": as_text(prepared.table.frame[name]), "is": pseudonyms[name]}).drop_nulls().unique()
        for was, now in pairs.iter_rows():
            back = column.behind(now)
            same = column.shown(back) == now and (back == was or isinstance(column, GradedNumbers))
            if not same:
                raise ClaimRefuted(f"column {name!r}: a value does not come back as it was; nothing was written")


def _published(plan: Plan, prepared: GradedPrepared, rows: pl.DataFrame) -> Published:
    table = prepared.table
    missing = table.missing or (("",) if any(rows[name].null_count() for name in prepared.secret.terms) else ())

    def kind(name: str) -> Any:
        if name in prepared.secret.terms:
            return "real" if isinstance(prepared.secret.columns[name], GradedNumbers) else "text"
        if prepared.roles[name] not in (Role.SENSITIVE, Role.TARGET):
            return "text"
        return plan.columns[name].type or Table(frame=rows.select(name), missing=missing).column(name).kind

    return Published(
        columns=tuple(PublishedColumn(name=name, role=prepared.roles[name], kind=kind(name)) for name in rows.columns),
        rows=rows.height,
        missing=missing,
    )


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original and the secret: the same rows, in any order."""
    request = begin(Asked(plan=plan, keys={}, like=original))
    prepared = prepare(request, read(request))
    expected_rows = pl.DataFrame(_columns(prepared, algorithm_of(plan).columns(prepared.table, prepared.secret), {}))
    agreement = manifest["recoding"]["agreement"]
    yield Check(what="agreement", holds=agreement == prepared.secret.agreement, detail="that of the secret")
    table = tables_of(folder, manifest)["data"].frame
    mark = next(iter(manifest["data"]["missing"]), "")
    before, after = (
        frame.select(pl.col(expected_rows.columns).cast(pl.String).fill_null(mark)) for frame in (expected_rows, table)
    )
    yield from kept_exactly(before, after, [])


# From a pseudonymized release to its attacks, files, manifest, report and summary.


def attack(release: GradedRelease, work: Work) -> Audit:
    """Known pairs on numbers, frequencies on categories; more than the plan allows is refused."""
    attack_plan = release.plan.attack
    if not attack_plan.run:
        return Audit()
    inner, chance = work.within(attack_plan.seconds), Chance(seed=release.plan.algorithm.seed)
    findings, skipped = list[Finding](), dict[str, str]()
    chosen, columns = chosen_attacks(attack_plan.attacks, GRADED), _found(release)
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        attack, n_before = part.make(attack_plan.trials), len(findings) + len(skipped)
        for column in columns:
            if column.codes is not isinstance(attack, KnownPlaintext):
                continue
            if why := over(inner, attack_plan.seconds) or attack.fits(column):
                skipped[f"{name} of {column.name}"] = why
            else:
                findings.append(replace(attack.run(column, chance), attack=f"{name} of {column.name}"))
        if n_before == len(findings) + len(skipped):
            skipped[name] = "no column has codes" if isinstance(attack, KnownPlaintext) else "no column has aliases"
    work.advance("attack", 1, 1)
    audit = Audit(findings=tuple(findings), skipped=skipped)
    audit.refuse(attack_plan.max_risk, attack_plan.accept)
    return audit


def _found(release: GradedRelease) -> list[PseudonymizedColumn]:
    """The transformed columns as an attacker finds them, person by person, without missing values."""
    columns = []
    for name, column in release.prepared.secret.columns.items():
        was = as_text(release.prepared.table.frame[name])
        pairs = pl.DataFrame({"shown": release.shown[name], "was": was}).drop_nulls()
        pseudonyms, true = (tuple(pairs[side].to_list()) for side in pairs.columns)
        codes = isinstance(column, GradedNumbers)
        columns.append(PseudonymizedColumn(name=name, shown=pseudonyms, true=true, codes=codes))
    return columns


def refuse_bundle(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle: afterwards nobody knows whose row is whose."""
    raise BundleError(
        f"{folder}: pseudonyms are attacked when they are released, where it is known whose row is whose; the "
        "figures stand in its report"
    )


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: they need the secret, which no manifest holds."""
    raise BundleError(
        "new records need the secret of the sites, which no bundle holds; use `sfumato graded apply DATA --secret FILE`"
    )


def refuse_frontier(plan: Plan) -> NoReturn:
    """Refuse a frontier: it draws privacy models against loss, and here is neither."""
    raise PlanError("algorithm.name: a frontier compares models, and graded grouping meets none and loses nothing")


def files(release: GradedRelease) -> dict[str, pl.DataFrame]:
    """The released rows."""
    return {"data": as_written(release.rows, release.plan.output_format, release.published.missing)}


def manifest(release: GradedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: nothing of ranges, values or key, but a commitment to all of them."""
    ((data, digest),) = files.items()
    secret = release.prepared.secret
    return {
        "data": {"file": data, "sha256": digest, **release.published.to_json()},
        "claims": [],
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            "agreement": secret.agreement,
            "columns": {name: _stated(secret.columns[name]) for name in release.rows.columns if name in secret.columns},
        },
        **release.audit.stated(),
        "versions": versions("numpy", "polars", "cryptography"),
    }


def _stated(column: GradedColumn) -> dict[str, Any]:
    if isinstance(column, AliasTable):
        return {"form": "aliases", "aliases": len(column.aliases)}
    return {"form": "codes", "digits": column.grouping.digits}


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the rows."""
    rows, stated = tables["data"].frame, manifest["recoding"]
    missing = set(manifest["data"]["missing"])
    facts = GradedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=rows.height,
        agreement=str(stated["agreement"]),
        columns=tuple(
            (name, str(column["form"]), _counted(rows[name], str(column["form"]), missing))
            for name, column in stated["columns"].items()
        ),
        beside=tuple(
            column["name"] for column in manifest["data"]["columns"] if column["name"] not in stated["columns"]
        ),
        marks=tuple(manifest["marks"]),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
    )
    return render_graded(facts, work)


def _counted(cells: pl.Series, form: str, missing: set[str]) -> tuple[tuple[str, int], ...]:
    """Rows per alias, the most frequent first; of codes per whole part, in order."""
    texts = as_text(cells).drop_nulls()
    texts = texts.filter(~texts.is_in(list(missing))).alias("value")
    if form == "aliases":
        counts = texts.value_counts().sort("count", "value", descending=[True, False])
    else:
        counts = texts.str.split(".").list.first().cast(pl.Int64).value_counts().sort("value")
    return tuple((str(value), int(many)) for value, many in counts.iter_rows())


def summary(release: GradedRelease) -> Summary:
    """What was transformed, how often attackers read it back, and that nothing is claimed."""
    findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
    risks = tuple(
        f"{finding.attack}: {finding.rate.value:.1%} of {finding.rate.trials:,} values are read back, "
        f"{finding.naive.value:.1%} by a guesser."
        for finding in findings
    )
    descriptions = {"codes": "numbers have codes", "aliases": "values have aliases"}
    columns = {name: _stated(column)["form"] for name, column in release.prepared.secret.columns.items()}
    return Summary(
        lines=(f"Pseudonymized, nothing is claimed: {release.rows.height:,} rows.",),
        heads=("column", "what was done"),
        cells=tuple((name, descriptions[form]) for name, form in columns.items()),
        after=(
            *risks,
            *warned(release.marks),
            f"The agreement is {release.prepared.secret.agreement[:16]}.",
        ),
        changes=(("rows", release.prepared.table.rows, release.rows.height),),
    )


def figures(release: GradedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "algorithm": release.algorithm,
        "claims": [],
        "agreement": release.prepared.secret.agreement,
        "columns": {name: _stated(column) for name, column in release.prepared.secret.columns.items()},
        "attacks": release.audit.to_json(),
    }


# Codes and aliases that sites agreed on as a kind of release: pseudonymized, its risk measured, nothing claimed.


KIND = Kind(
    name="graded",
    attacked_as="graded",
    check=check,
    begin=begin,
    read=read,
    prepare=prepare,
    search=search,
    recode=recode,
    judge=judge,
    attack=attack,
    files=files,
    manifest=manifest,
    checks=graded_checks,
    again=again,
    subject=refuse_bundle,
    apply=refuse_records,
    public_page=public_page,
    done=lambda manifest: translated(
        "Values were replaced by codes and aliases, so that a miner works on names that mean nothing to them."
    ),
    summary=summary,
    figures=figures,
    comparison=refuse_frontier,
)
