"""The stages of a private release: pay, read, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.budget.events import Grouped
from sfumato.budget.promise import Promise
from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import plain
from sfumato.data.table import Table
from sfumato.ground.errors import ClaimRefuted
from sfumato.ground.work import Work
from sfumato.group.tally import Counts
from sfumato.verification.checks import Check, same
from sfumato.verification.private_checks import DIFFERENTIAL, neighbours
from sfumato.workflow.engine_input import stays
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.kinds.private.counted_rows import engine_counts
from sfumato.workflow.kinds.private.declared import Ready, declared_table
from sfumato.workflow.kinds.private.discovering import resolved
from sfumato.workflow.kinds.private.private_budget import foreseen, promise_of, searches, with_found
from sfumato.workflow.kinds.private.private_plan import private_algorithm
from sfumato.workflow.kinds.private.private_release import PrivateRelease
from sfumato.workflow.kinds.private.private_rows import released_rows, stated_domains
from sfumato.workflow.loading import bounded, rows_or_none
from sfumato.workflow.paying import payer, pinned
from sfumato.workflow.plan.plan import Plan


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
