"""A private release, its stages and its manifest: pay, read, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.algorithms.cut import ColumnCut
from sfumato.algorithms.private_table import NoisyTable
from sfumato.bundles.checks.private import COUNT, DIFFERENTIAL, neighbours
from sfumato.bundles.columns import Published, PublishedColumn
from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.provenance import Check, same
from sfumato.core.claims import Claim
from sfumato.core.errors import ClaimRefuted, PlanError, unknown_column
from sfumato.core.run_context import Work
from sfumato.counts.tally import Counts
from sfumato.dp.accounting import Promise
from sfumato.dp.chain import Head
from sfumato.dp.events import Event, Grouped, to_json
from sfumato.dp.ledger import Ledger
from sfumato.pipeline.inputs import bounded, frame_source, planned_source, rows_or_none, stays
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.methods.private.domains import Ready, declared_table, released_rows, resolved, stated_domains
from sfumato.pipeline.methods.private.plan import foreseen, private_algorithm, promise_of, searches, with_found
from sfumato.pipeline.payment import payer, pinned, refuse_rolled_back
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, stated, versions
from sfumato.tables.schema import Role
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.apply import Applied, Outside


# The rows of a private release in an engine, which counts the combinations of the plan's columns.


def engine_counts(plan: Plan, frame: object = None) -> tuple[Table, Counts]:
    """Every different row of the columns that are published, and how often it is there.

    What needs single rows is refused by the plan alone. More combinations than an engine gives away are refused too:
    that refusal tells of the table that it has so many, and nothing else.
    """
    if plan.input.unit is not None:
        raise PlanError("input.unit: an engine counts rows, and does not know whose they are; use a file in memory")
    if searches(plan):
        raise PlanError("privacy.discovery looks at single rows, which stay in the engine; declare the domains")
    if any(column.itemized for column in plan.columns.values()):
        raise PlanError("columns: sets and trajectories are read row by row; use a file in memory")
    source = planned_source(plan) if frame is None else frame_source(plan, frame)
    for name in plan.columns:
        if name not in source.names:
            raise unknown_column(name, source.names, where=f"columns.{name}")
    names = [name for name, column in plan.columns.items() if column.role in (Role.QUASI, Role.TARGET)]
    table, times = source.counted(names)
    return replace(table, missing=plan.input.missing), times


# A differentially private release.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateRelease(Release):
    """Noisy rows with what they cost: single records, or groups with counts."""

    domains: Mapping[str, Any]
    """What was declared about every published column."""
    values: Mapping[str, tuple[str, ...]]
    """The declared leaves of every column, or the cells of its grid, by code."""
    outcome: NoisyTable
    """What the algorithm gave."""
    charge: tuple[Ledger, int] | None = None
    """The ledger that paid for it and the number of the charge, if one did."""
    session: Mapping[str, Any] | None = None
    """Who made it together, and what each of them learnt, where several parties did."""

    @property
    def promise(self) -> Promise:
        """What is promised: exactly what the plan asked for."""
        return Promise.of(self.plan.privacy)

    @property
    def event(self) -> Event:
        """Where every part of the budget went."""
        return self.outcome.event

    @property
    def paid(self) -> Head | None:
        """The event of the ledger that paid for it: what the manifest cites."""
        return None if self.charge is None else self.charge[0].receipt(self.charge[1])

    @property
    def described(self) -> dict[str, Any]:
        """Roles and types of the columns, which have no missing values."""
        target = self.domains.get("target")
        roles = dict.fromkeys(self.outcome.columns, "quasi") | ({target["name"]: "target"} if target else {})
        columns = [{"name": n, "role": roles.get(n, COUNT), "type": _kind(self.rows, n)} for n in self.rows.columns]
        return {"rows": self.rows.height, "columns": columns}

    def about_to_appear(self, folder: Path) -> None:
        """The ledger must hold what a bundle cites that is replaced here; and it notes where this one lies."""
        if self.charge is not None:
            ledger, charge = self.charge
            refuse_rolled_back(ledger, [folder] if (folder / MANIFEST).exists() else [])
            ledger.note_bundle(folder, charge)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records in the labels of the release; values outside the domain are refused, starred or left out."""
        return apply_labels(stated(self, {"": ""}), records, outside)


# The file of a private release, what its manifest states, and new records under it.


def manifest(release: PrivateRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` has the data file's name and digest."""
    target = release.domains.get("target")
    noise = {
        error.column: dict(zip(error.labels, error.deviation.tolist(), strict=True)) for error in release.outcome.errors
    }
    return {
        "claims": [{"model": claim.model, "parameters": dict(claim.parameters)} for claim in release.claims],
        "domains": release.domains,
        "ledger": to_json(release.event),
        "paid": None if release.paid is None else release.paid.to_json(),
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            "columns": _recoded(release, noise),
            "steps": list(release.outcome.steps),
        }
        | ({"classes": noise[target["name"]]} if target and target["name"] in noise else {}),
        "search": dict(release.outcome.effort),
        "attacks": [],
        "versions": versions("numpy", "polars", "opendp", *(() if release.session is None else ("cryptography",))),
        **({} if release.session is None else {"session": release.session}),
    }


def _kind(rows: pl.DataFrame, name: str) -> str:
    return "integer" if rows[name].dtype.is_integer() else "text"


def _recoded(release: PrivateRelease, noise: Mapping[str, dict[str, float]]) -> dict[str, Any]:
    """The labels of each column, how noisy their counts are and, where a value always reads alike, its rule."""
    columns: dict[str, Any] = {}
    for place, (name, labels) in enumerate(zip(release.outcome.columns, release.outcome.labels, strict=True)):
        columns[name] = {"labels": dict.fromkeys(labels, 0.0)}
        cut = release.outcome.cut[place] if release.outcome.cut else None
        if cut is not None:
            columns[name]["labels"] |= dict.fromkeys(cut.labels, 0.0)
            columns[name]["rule"] = _rule(release.domains["columns"][name], release.values[name], cut)
        if name in noise:
            columns[name]["deviations"] = noise[name]
    return columns


def _rule(domain: Mapping[str, Any], values: tuple[str, ...], cut: ColumnCut) -> dict[str, Any]:
    """How new records of a column are read; everything in it is public."""
    if domain["kind"] == "number":
        return {"type": "real", "intervals": True}
    return {"type": "text", "values": {value: cut.labels[cut.of_code[code]] for code, value in enumerate(values)}}


def apply_labels(manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
    """New records in the labels of a private release; no model judges them."""
    from sfumato.pipeline.apply import applied, read_records, stated_rules
    from sfumato.pipeline.dates import stated_dates

    rules, table = stated_rules(manifest), stated_dates(read_records(records, ()), manifest)
    return applied(table, rules, _described(manifest), models=[], reading="strict", outside=outside)


def _described(manifest: Mapping[str, Any]) -> Published:
    """The columns of a private bundle's manifest, without its counts."""
    columns = [c for c in manifest["data"]["columns"] if c["role"] in ("quasi", "target")]
    published_columns = tuple(PublishedColumn(name=c["name"], role=Role(c["role"]), kind="text") for c in columns)
    return Published(columns=published_columns, rows=0)


# The stages of a private release: pay, read, search, recode, judge.


def begin(request: Request) -> Request:
    """Reserve the cost in the plan's ledger, before the data is touched."""
    plan = request.plan
    ledger = pinned(plan)
    if ledger is None:
        return request
    analyst = payer(plan, default="release")
    return replace(request, charge=(ledger, ledger.reserve(analyst, foreseen(plan), what="release")))


def read(request: Request) -> tuple[Table, Counts | None]:
    """The table, which may have no rows: a refusal would tell that nobody is in it. Each person has few rows.

    Of a table in an engine every different row comes once, and how often it is there.
    """
    plan, stayed = request.plan, stays(request.plan, request.like)
    if stayed or (request.like is None and plan.input.engine is not None):
        table, times = engine_counts(plan, request.like if stayed else None)
        bound = table.frame.with_columns(pl.Series("\0times", times))
    else:
        table, times = rows_or_none(plan, request.like), None
        bound = table.frame
    if request.charge is not None:
        ledger, reserved = request.charge
        ledger.refuse_other(replace(table, frame=bound), reserved)
    return (bounded(table, plan), None) if times is None else (table, times)


def search(request: Request, ready: Ready, work: Work) -> SearchResult:
    """Run the algorithm; what it and the domains account for must be the promise exactly; settled for what it cost."""
    name, run, why = private_algorithm(request.plan)
    outcome, promise = run(ready.table, work), promise_of(request.plan)
    rows, event = request.plan.input.rows_per_unit, outcome.event
    if rows > 1:
        event = Grouped(part=event, rows=rows, what="all rows of one person")
    outcome = replace(outcome, event=with_found(ready.found, event))
    if not promise.kept_by(outcome.event):
        spent = promise.spent_by(outcome.event)
        raise ClaimRefuted(f"{name} accounted for {spent} of {promise.unit}, not for {promise}; nothing was written")
    if request.charge is not None:
        ledger, reserved = request.charge
        ledger.settle(reserved, outcome.event)
    return SearchResult(prepared=ready.table, outcome=outcome, algorithm=name, why=why)


def recode(request: Request, result: SearchResult) -> pl.DataFrame:
    """Groups with their noisy counts, or a record for each count."""
    counts = request.plan.algorithm.options.get("output") == "counts"
    return released_rows(result.outcome, result.prepared, counts=counts)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> PrivateRelease:
    """The claim is what was accounted for; rows are not looked at."""
    claim = _claim(promise_of(request.plan), neighbours(request.plan.public()["input"]))
    return unjudged(PrivateRelease, kind, request, result, rows, claims=(claim,))


def unjudged(
    release_class: type[PrivateRelease],
    kind: Method,
    request: Request,
    result: SearchResult,
    rows: pl.DataFrame,
    **more: Any,
) -> PrivateRelease:
    """The release of noisy rows with everything but its claims."""
    return release_class(
        kind=kind,
        plan=request.plan,
        domains=stated_domains(result.prepared, searches(request.plan)),
        values={attribute.name: attribute.values for attribute in result.prepared.attributes},
        outcome=result.outcome,
        rows=rows,
        utility={},
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
        charge=request.charge,
        **more,
    )


def _claim(promise: Promise, of: str) -> Claim:
    parameters: dict[str, Any] = {**promise.to_json(), "neighbours": of}
    value = float(promise.epsilon or promise.amount())
    return Claim(
        model=DIFFERENTIAL,
        parameters=parameters,
        holds=True,
        sense="at most",
        limit=value,
        reading="value",
        as_value=value,
        as_wildcard=value,
        classes_failing=0,
        note="accounted for exactly",
    )


def same_domains(
    folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work
) -> Iterable[Check]:
    """The domains are those that the plan declares; noise cannot be drawn again, and nothing is spent.

    A domain that was found is taken from the manifest: it is noisy, and was paid for.
    """
    table = declared_table(resolved(plan, manifest["domains"]), bounded(rows_or_none(plan, original), plan))
    yield same("domains of the plan", plain(stated_domains(table, searches(plan))), manifest["domains"])
