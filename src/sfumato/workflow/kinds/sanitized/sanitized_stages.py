"""The stages of a sanitized release: read, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.itemized import ItemColumn, set_column, written
from sfumato.data.table import Table, plain_cells
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, DataError, PlanError
from sfumato.ground.work import Work
from sfumato.group.local_table import LocalTable
from sfumato.group.sensitive_patterns import Pattern
from sfumato.group.transactions import Transactions
from sfumato.mine.side_effects import SideEffects, side_effects
from sfumato.publish.sanitize.hiding_problem import HidingProblem, Sanitized
from sfumato.verification.checks import Check, same
from sfumato.verification.consistency import AUTO, CUT_SHORT, NAMED
from sfumato.verification.sanitized_checks import UNKNOWN, UNKNOWNS, hidden_checks, opened
from sfumato.verification.verifying import tables_of
from sfumato.workflow.kinds.describing import refuse_nested, schema_of
from sfumato.workflow.kinds.items.long_tables import item_table
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.kinds.sanitized.sanitized_plan import (
    algorithm_of,
    asked_for,
    longest_of,
    rules_of,
    thresholds_of,
)
from sfumato.workflow.kinds.sanitized.sanitized_release import SanitizedPrepared, SanitizedRelease
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan


def begin(asked: Asked) -> Asked:
    """Refuse a file of rules that cannot be read, before the table is."""
    rules_of(asked.plan)
    return asked


def read(asked: Asked) -> Table:
    """The table, a long one gathered into one record a row."""
    plan = asked.plan
    return marked(item_table(plan, load_table(plan, asked.like, plan.input.path)), plan)


def prepare(asked: Asked, table: Table) -> SanitizedPrepared:
    """Encode the sets, find the rules' items among theirs, and count the frequent sets."""
    plan = asked.plan
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    schema = schema_of(plan, table.names, open_columns=plan.itemized)
    refuse_nested(plan, LocalTable(table), schema)
    name, rules = plan.itemized[0], rules_of(plan)
    found = set_column(table, name, separator=plan.columns[name].separator)
    _refuse_marks(plan, found)
    records = Transactions(starts=found.starts, codes=found.codes, labels=found.labels)
    longest = longest_of(asked_for(plan).table)
    problem = HidingProblem.of(records, rules.patterns, thresholds_of(plan), longest=longest)
    return SanitizedPrepared(table=table, schema=schema, column=name, rules=rules, problem=problem)


def _refuse_marks(plan: Plan, found: ItemColumn) -> None:
    """An item that looks unknown could not be told from one that is."""
    marked_ = next((label for label in found.labels if label.endswith(UNKNOWN)), None)
    if plan.algorithm.name == UNKNOWNS and marked_ is not None:
        raise PlanError(
            f"columns.{found.name}: the item {marked_!r} ends in {UNKNOWN!r}, which marks unknown items; name it "
            "otherwise, or use another algorithm"
        )


def search(asked: Asked, prepared: SanitizedPrepared, work: Work) -> Searched:
    """Run the plan's algorithm, or the one that ``auto`` chooses."""
    plan = asked.plan
    inner = work.allowing(plan.algorithm.seconds)
    inner.chance = Chance(seed=plan.algorithm.seed)
    outcome: Sanitized = algorithm_of(plan)(prepared.problem, inner)
    cut = inner.cut or outcome.gap is not None
    inner.cut = cut
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    why = outcome.why if plan.algorithm.name == AUTO else NAMED
    return Searched(prepared=prepared, outcome=outcome, algorithm=outcome.method, why=why)


def recode(asked: Asked, found: Searched) -> pl.DataFrame:
    """The released rows in random order; columns beside the sets are unchanged."""
    plan, prepared, outcome = asked.plan, found.prepared, found.outcome
    columns = []
    for name, role in prepared.schema.roles.items():
        cells = prepared.table.frame[name]
        if name == prepared.column:
            columns.append(_shown(plan, name, outcome))
        elif role is Role.IDENTIFIER and name in asked.keys:
            columns.append(asked.keys[name].replace(cells).gather(outcome.rows))
        elif role is Role.KEEP:
            columns.append(plain_cells(cells).gather(outcome.rows))
    order = Chance(seed=plan.algorithm.seed).generator().permutation(len(outcome.rows))
    return pl.DataFrame(columns)[order]


def _shown(plan: Plan, name: str, outcome: Sanitized) -> pl.Series:
    """The sets as they are written; unknown items stand where the items would."""
    shown = outcome.shown if outcome.unknown is None else _with_unknown(outcome.shown, outcome.unknown)
    items = ItemColumn(name=name, kind="set", starts=shown.starts, codes=shown.codes, labels=shown.labels)
    return written(items, lists=plan.output_format == "parquet", separator=plan.columns[name].separator)


def _with_unknown(shown: Transactions, unknown: Transactions) -> Transactions:
    """Both kinds of items in one set: each item is followed by its unknown twin."""
    many = np.int64(max(2 * shown.count, 1))
    own = shown.row_of.astype(np.int64) * many + 2 * shown.codes
    open_ = unknown.row_of.astype(np.int64) * many + 2 * unknown.codes + 1
    keys = np.sort(np.concatenate((own, open_)))
    owner, codes = np.divmod(keys, many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=shown.rows), dtype=np.int64)))
    labels = tuple(text for label in shown.labels for text in (label, f"{label}{UNKNOWN}"))
    return Transactions(starts=starts, codes=codes.astype(np.int32), labels=labels)


def possible(outcome: Sanitized) -> Transactions:
    """The records with every unknown item had."""
    if outcome.unknown is None:
        return outcome.shown
    both = _with_unknown(outcome.shown, outcome.unknown)
    return replace(both, codes=both.codes // 2, labels=outcome.shown.labels)


def judge(kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame) -> SanitizedRelease:
    """Look for every sensitive pattern in the records as they are shown; one that is found is refused."""
    prepared, outcome = found.prepared, found.outcome
    patterns, limits = prepared.rules.patterns, prepared.problem.thresholds
    for one in hidden_checks(outcome.shown, possible(outcome), patterns, limits):
        if not one.holds:
            raise ClaimRefuted(f"{found.algorithm} gave records that still yield a sensitive rule; nothing was written")
    effects = _effects(prepared.problem, outcome, patterns)
    return SanitizedRelease(
        kind=kind,
        plan=asked.plan,
        prepared=prepared,
        outcome=outcome,
        rows=rows,
        claims=(),
        effects=effects,
        utility=effects.to_json() | {"erased": float(outcome.erased)},
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _effects(problem: HidingProblem, outcome: Sanitized, patterns: tuple[Pattern, ...]) -> SideEffects:
    return side_effects(problem.transactions, outcome.shown, patterns, problem.thresholds, longest=problem.longest)


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: what is hidden, and the same records, but for chance and time."""
    asked = Asked(plan=plan, keys={}, like=original)
    table = tables_of(folder, manifest)["data"]
    yield from opened(manifest, table, rules_of(plan))
    if plan.algorithm.name == UNKNOWNS or CUT_SHORT in manifest["marks"]:
        return
    found = search(asked, prepare(asked, read(asked)), work)
    name = found.prepared.column
    yield same("algorithm of the release", manifest["recoding"]["algorithm"], found.algorithm)
    mine = _shown(replace(plan, format="csv"), name, found.outcome)
    cells = table.frame[name]
    theirs = cells.list.join(plan.columns[name].separator) if cells.dtype.is_nested() else cells.cast(pl.String)
    alike = mine.sort().to_list() == theirs.fill_null("").sort().to_list()
    detail = f"{len(mine):,} records, as the original gives them" if alike else "the original gives other records"
    yield Check(what="records of the release", holds=alike, detail=detail)
