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
from sfumato.pipeline.methods.method import Asked, Kind, Searched
from sfumato.pipeline.methods.private.domains import Ready, declared_table, released_rows, resolved, stated_domains
from sfumato.pipeline.methods.private.plan import foreseen, private_algorithm, promise_of, searches, with_found
from sfumato.pipeline.payment import payer, pinned, refuse_rolled_back
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, versions
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
    shown = [name for name, column in plan.columns.items() if column.role in (Role.QUASI, Role.TARGET)]
    table, times = source.counted(shown)
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

    def about_to_appear(self, folder: Path) -> None:
        """The ledger must hold what a bundle cites that is replaced here; and it notes where this one lies."""
        if self.charge is not None:
            ledger, charge = self.charge
            refuse_rolled_back(ledger, [folder] if (folder / MANIFEST).exists() else [])
            ledger.note_bundle(folder, charge)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records in the labels of the release; values outside the domain are refused, starred or left out."""
        return apply_labels(manifest(self, {"": ""}), records, outside)


# The file of a private release, what its manifest states, and new records under it.


def manifest(made: PrivateRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` has the data file's name and digest."""
    ((data, digest),) = files.items()
    target = made.domains.get("target")
    noise = {one.column: dict(zip(one.labels, one.deviation.tolist(), strict=True)) for one in made.outcome.errors}
    roles = dict.fromkeys(made.outcome.columns, "quasi") | ({target["name"]: "target"} if target else {})
    columns = [{"name": n, "role": roles.get(n, COUNT), "type": _kind(made.rows, n)} for n in made.rows.columns]
    return {
        "data": {"file": data, "sha256": digest, "rows": made.rows.height, "columns": columns},
        "claims": [{"model": one.model, "parameters": dict(one.parameters)} for one in made.claims],
        "domains": made.domains,
        "ledger": to_json(made.event),
        "paid": None if made.paid is None else made.paid.to_json(),
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            "columns": _recoded(made, noise),
            "steps": list(made.outcome.steps),
        }
        | ({"classes": noise[target["name"]]} if target and target["name"] in noise else {}),
        "search": dict(made.outcome.effort),
        "attacks": [],
        "versions": versions("numpy", "polars", "opendp", *(() if made.session is None else ("cryptography",))),
        **({} if made.session is None else {"session": made.session}),
    }


def _kind(rows: pl.DataFrame, name: str) -> str:
    return "integer" if rows[name].dtype.is_integer() else "text"


def _recoded(made: PrivateRelease, noise: Mapping[str, dict[str, float]]) -> dict[str, Any]:
    """The labels of each column, how noisy their counts are and, where a value always reads alike, its rule."""
    found: dict[str, Any] = {}
    for place, (name, labels) in enumerate(zip(made.outcome.columns, made.outcome.labels, strict=True)):
        found[name] = {"labels": dict.fromkeys(labels, 0.0)}
        cut = made.outcome.cut[place] if made.outcome.cut else None
        if cut is not None:
            found[name]["labels"] |= dict.fromkeys(cut.labels, 0.0)
            found[name]["rule"] = _rule(made.domains["columns"][name], made.values[name], cut)
        if name in noise:
            found[name]["deviations"] = noise[name]
    return found


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
    told = tuple(PublishedColumn(name=c["name"], role=Role(c["role"]), kind="text") for c in columns)
    return Published(columns=told, rows=0)


# The stages of a private release: pay, read, search, recode, judge.


def begin(asked: Asked) -> Asked:
    """Reserve the cost in the plan's ledger, before the data is touched."""
    plan = asked.plan
    ledger = pinned(plan)
    if ledger is None:
        return asked
    analyst = payer(plan, default="release")
    return replace(asked, charge=(ledger, ledger.reserve(analyst, foreseen(plan), what="release")))


def read(asked: Asked) -> tuple[Table, Counts | None]:
    """The table, which may have no rows: a refusal would tell that nobody is in it. Each person has few rows.

    Of a table in an engine every different row comes once, and how often it is there.
    """
    plan, stayed = asked.plan, stays(asked.plan, asked.like)
    if stayed or (asked.like is None and plan.input.engine is not None):
        table, times = engine_counts(plan, asked.like if stayed else None)
        bound = table.frame.with_columns(pl.Series("\0times", times))
    else:
        table, times = rows_or_none(plan, asked.like), None
        bound = table.frame
    if asked.charge is not None:
        ledger, reserved = asked.charge
        ledger.refuse_other(replace(table, frame=bound), reserved)
    return (bounded(table, plan), None) if times is None else (table, times)


def search(asked: Asked, ready: Ready, work: Work) -> Searched:
    """Run the algorithm; what it and the domains account for must be the promise exactly; settled for what it cost."""
    name, run, why = private_algorithm(asked.plan)
    outcome, promise = run(ready.table, work), promise_of(asked.plan)
    rows, event = asked.plan.input.rows_per_unit, outcome.event
    if rows > 1:
        event = Grouped(part=event, rows=rows, what="all rows of one person")
    outcome = replace(outcome, event=with_found(ready.found, event))
    if not promise.kept_by(outcome.event):
        spent = promise.spent_by(outcome.event)
        raise ClaimRefuted(f"{name} accounted for {spent} of {promise.unit}, not for {promise}; nothing was written")
    if asked.charge is not None:
        ledger, reserved = asked.charge
        ledger.settle(reserved, outcome.event)
    return Searched(prepared=ready.table, outcome=outcome, algorithm=name, why=why)


def recode(asked: Asked, found: Searched) -> pl.DataFrame:
    """Groups with their noisy counts, or a record for each count."""
    counts = asked.plan.algorithm.options.get("output") == "counts"
    return released_rows(found.outcome, found.prepared, counts=counts)


def judge(kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame) -> PrivateRelease:
    """The claim is what was accounted for; rows are not looked at."""
    claim = _claim(promise_of(asked.plan), neighbours(asked.plan.public()["input"]))
    return unjudged(PrivateRelease, kind, asked, found, rows, claims=(claim,))


def unjudged(
    made: type[PrivateRelease], kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame, **more: Any
) -> PrivateRelease:
    """The release of noisy rows with everything but its claims."""
    return made(
        kind=kind,
        plan=asked.plan,
        domains=stated_domains(found.prepared, searches(asked.plan)),
        values={one.name: one.values for one in found.prepared.attributes},
        outcome=found.outcome,
        rows=rows,
        utility={},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
        charge=asked.charge,
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
