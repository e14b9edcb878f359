"""The stages of a pseudonymized release: check, begin, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundle.graded_secret import GradedNumbers, GradedSecret
from sfumato.bundle.published import Published, PublishedColumn
from sfumato.bundle.recoding import one_marker
from sfumato.data.table import Table, as_text, plain_cells
from sfumato.describe.roles import Role
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, PlanError, unknown_column
from sfumato.ground.work import Work
from sfumato.group.near_unique import NearUnique, asked_size, near_unique_columns
from sfumato.publish.graded_pseudonyms import GradedPseudonyms
from sfumato.verification.checks import Check
from sfumato.verification.graded_checks import PSEUDONYMIZED
from sfumato.verification.swapped_checks import kept_exactly
from sfumato.verification.verifying import tables_of
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.kinds.graded import GRADED
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

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
        return [PSEUDONYMIZED, *super().marks, *(one.told for one in self.near_unique)]


def algorithm_of(plan: Plan) -> GradedPseudonyms:
    """The algorithm with the plan's options."""
    made: GradedPseudonyms = configured(catalog().algorithms[GRADED], plan.algorithm.options, beside=("name", "seed"))
    return made


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


def begin(asked: Asked) -> Asked:
    """Read the secret, and refuse a plan that leaves out an agreed column, before the table is read."""
    plan = asked.plan
    for name in secret_of(plan).terms:
        if name not in plan.columns or plan.columns[name].role not in PUBLISHED:
            raise PlanError(f"columns.{name}: the sites agreed on this column, so give it a role that is published")
    return asked


def secret_of(plan: Plan) -> GradedSecret:
    """The secret that the plan names."""
    return GradedSecret.load(plan.folder / algorithm_of(plan).secret)


def read(asked: Asked) -> Table:
    """The table."""
    return marked(load_table(asked.plan, asked.like, asked.plan.input.path), asked.plan)


def prepare(asked: Asked, table: Table) -> GradedPrepared:
    """The role of every column."""
    plan = asked.plan
    for name in plan.columns:
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
    roles = {name: plan.columns[name].role if name in plan.columns else Role.DROP for name in table.names}
    return GradedPrepared(table=table, roles=roles, secret=secret_of(plan))


def search(asked: Asked, prepared: GradedPrepared, work: Work) -> Searched:
    """Codes and aliases for every agreed column."""
    outcome = algorithm_of(asked.plan).columns(prepared.table, prepared.secret)
    return Searched(prepared=prepared, outcome=outcome, algorithm=GRADED, why="Named in the plan.")


def recode(asked: Asked, found: Searched) -> pl.DataFrame:
    """The released rows in random order."""
    shown = pl.DataFrame(_columns(found.prepared, found.outcome, asked.keys))
    return shown[Chance(seed=asked.plan.algorithm.seed).generator().permutation(shown.height)]


def _columns(prepared: GradedPrepared, made: Mapping[str, pl.Series], keys: Mapping[str, Any]) -> Iterable[pl.Series]:
    table = prepared.table
    for name, role in prepared.roles.items():
        if name in made:
            yield made[name]
        elif role in PUBLISHED:
            cells = plain_cells(table.frame[name])
            yield cells if role is Role.KEEP else one_marker(cells, table.missing)
        elif role is Role.IDENTIFIER and name in keys:
            yield keys[name].replace(table.frame[name])


def judge(kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame) -> GradedRelease:
    """Claim nothing; but a value that does not come back as it was is refused."""
    prepared = found.prepared
    _refuse_lost(prepared, found.outcome)
    return GradedRelease(
        kind=kind,
        plan=asked.plan,
        prepared=prepared,
        shown=found.outcome,
        rows=rows,
        published=_published(asked.plan, prepared, rows),
        claims=(),
        utility={},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _refuse_lost(prepared: GradedPrepared, shown: Mapping[str, pl.Series]) -> None:
    """Every distinct value is read back and compared with what it was."""
    for name, column in prepared.secret.columns.items():
        pairs = pl.DataFrame({"was": as_text(prepared.table.frame[name]), "is": shown[name]}).drop_nulls().unique()
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
    asked = begin(Asked(plan=plan, keys={}, like=original))
    prepared = prepare(asked, read(asked))
    made = pl.DataFrame(_columns(prepared, algorithm_of(plan).columns(prepared.table, prepared.secret), {}))
    told = manifest["recoding"]["agreement"]
    yield Check(what="agreement", holds=told == prepared.secret.agreement, detail="that of the secret")
    table = tables_of(folder, manifest)["data"].frame
    mark = next(iter(manifest["data"]["missing"]), "")
    before, after = (frame.select(pl.col(made.columns).cast(pl.String).fill_null(mark)) for frame in (made, table))
    yield from kept_exactly(before, after, [])
