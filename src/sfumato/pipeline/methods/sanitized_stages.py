"""The stages of a release of sets that hide rules: plan, read, prepare, search, recode, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.sanitize.problem import HidingProblem, Sanitized
from sfumato.bundles.checks.consistency import AUTO, CUT_SHORT, NAMED
from sfumato.bundles.checks.sanitized import (
    BLOCKED,
    HIDES_ONLY,
    KEY,
    UNKNOWN,
    UNKNOWNS,
    HiddenRules,
    hidden_checks,
    opened,
)
from sfumato.bundles.provenance import Check, same
from sfumato.bundles.verify import tables_of
from sfumato.core.errors import ClaimRefuted, DataError, ParameterError, PlanError, listed, nearest
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.local_table import LocalTable
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns, unchanged
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import SideEffects, side_effects
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.items.problem import item_table
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.methods.schema import refuse_nested, schema_of
from sfumato.pipeline.plan.keys import Keys
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.item_sets import ItemColumn, set_column, written
from sfumato.tables.schema import Role, Schema
from sfumato.tables.table import Table, plain_cells

# What a plan for a sanitized release can say, as far as that needs no table.


LONGEST = 8
"""Sets of at most so many items are looked after, unless the plan says otherwise."""


def asked_for(plan: Plan) -> Keys:
    """The table under ``privacy.hidden_rules``."""
    keys = Keys.of(plan.privacy[KEY], f"privacy.{KEY}")
    keys.only("file", "min_support", "min_confidence", "margin", "longest")
    return keys


def thresholds_of(plan: Plan) -> Thresholds:
    """The thresholds that a plan asks for."""
    keys = asked_for(plan)
    given: dict[str, float] = {}
    for name in ("min_support", "min_confidence"):
        value = keys.number(name)
        if value is None:
            raise PlanError(f"{keys.at(name)} is missing; name the threshold at which others mine, such as 0.01")
        given[name] = value
    margin = keys.number("margin")
    try:
        return Thresholds(**given, margin=0.0 if margin is None else margin)
    except ParameterError as error:
        raise PlanError(f"privacy.{KEY}.{error}") from error


def longest_of(options: Mapping[str, Any]) -> int:
    """The most items of a set that is looked after."""
    longest = Keys.of(options, f"privacy.{KEY}").whole("longest") if "longest" in options else LONGEST
    if longest is None or longest < 1:
        raise PlanError(f"privacy.{KEY}.longest must be at least 1, not {longest}")
    return longest


def rules_of(plan: Plan) -> HiddenRules:
    """What is to be hidden, from the steward's file."""
    name = asked_for(plan).required_text("file")
    return HiddenRules.load(plan.folder / name, where=f"privacy.{KEY}.file")


def algorithm_of(plan: Plan) -> Any:
    """The algorithm with the plan's options."""
    name, known = plan.algorithm.name, catalog().solving("sanitized")
    if name == AUTO:
        from sfumato.algorithms.sanitize.exact_hiding import AutoHiding

        if plan.algorithm.options:
            key = next(iter(plan.algorithm.options))
            raise PlanError(f"algorithm.{key}: auto takes no options; name an algorithm such as 'hide-items'")
        return AutoHiding()
    if name not in known:
        raise PlanError(
            f"algorithm.name: {name!r} hides no rules{nearest(name, known)} For privacy.{KEY} there are auto, "
            f"{listed(known)}"
        )
    return configured(known[name], plan.algorithm.options, other_keys=("name", "seconds", "seed"))


def check(plan: Plan) -> None:
    """Refuse what hiding rules cannot do."""
    thresholds_of(plan)
    longest_of(asked_for(plan).table)
    asked_for(plan).required_text("file")
    algorithm_of(plan)
    _refuse_columns(plan)


def _refuse_columns(plan: Plan) -> None:
    """One column of sets is published; the others are kept as they are, or not at all."""
    if len(plan.itemized) != 1 or plan.columns[plan.itemized[0]].type != "set":
        raise PlanError(
            f"columns: hiding rules takes one column of type 'set', not {len(plan.itemized)} of sets and paths; drop "
            "the others, or write them as items of one column"
        )
    for name, column in plan.columns.items():
        if name in plan.itemized and column.role is not Role.QUASI:
            raise PlanError(f"columns.{name}.role: the column of sets must be 'quasi', not {str(column.role)!r}")
        if name in plan.itemized and column.hierarchy is not None:
            raise PlanError(f"columns.{name}.hierarchy: items are taken out and never shown coarser; remove the key")
        if name not in plan.itemized and column.role not in (Role.KEEP, Role.DROP, Role.IDENTIFIER):
            raise PlanError(
                f"columns.{name}.role: {str(column.role)!r} would promise what nothing here keeps; use 'keep' to "
                "publish the column as it is, or 'drop'"
            )


# A release of sets that hide rules.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SanitizedPrepared(Brief):
    """A table made ready: every record a set of items."""

    table: Table
    """The rows that are used."""
    schema: Schema
    """The roles of every column."""
    column: str
    """The column of sets."""
    rules: HiddenRules
    """What is to be hidden."""
    problem: HidingProblem
    """What the algorithm is given."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SanitizedRelease(Release):
    """Released sets that do not yield what the steward named."""

    prepared: SanitizedPrepared
    """The original, encoded."""
    outcome: Sanitized
    """What the algorithm found."""
    effects: SideEffects
    """What became of all other rules; for the steward."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside the sets that nearly single people out."""
        roles = {name: self.prepared.schema.roles[name] for name in self.rows.columns}
        return near_unique_columns(self.rows, unchanged(roles), self.prepared.table.missing, asked_size(()))

    @property
    def missing(self) -> tuple[str, ...]:
        """What a missing value is written as."""
        return self.prepared.table.missing

    @property
    def described(self) -> dict[str, Any]:
        """How the cells of every column are read."""
        columns = []
        for name in self.rows.columns:
            column = self.plan.columns[name]
            is_set = name == self.prepared.column
            cells = {"type": "set", "separator": column.separator} if is_set else {"type": "text"}
            columns.append({"name": name, "role": str(column.role), **cells})
        return {"rows": self.rows.height, "columns": columns, "missing": list(self.missing)}

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release: first of all, that it is not anonymous."""
        blocked = [BLOCKED] if self.outcome.unknown is not None else []
        return [HIDES_ONLY, *blocked, *super().marks, *(column.told for column in self.near_unique)]

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort


# The stages of a sanitized release: read, prepare, search, recode, judge.


def begin(request: Request) -> Request:
    """Refuse a file of rules that cannot be read, before the table is."""
    rules_of(request.plan)
    return request


def read(request: Request) -> Table:
    """The table, a long one gathered into one record a row."""
    plan = request.plan
    return marked(item_table(plan, load_table(plan, request.like, plan.input.path)), plan)


def prepare(request: Request, table: Table) -> SanitizedPrepared:
    """Encode the sets, find the rules' items among theirs, and count the frequent sets."""
    plan = request.plan
    if not table.rows:
        raise DataError(f"{table.source} has no rows; a release needs some")
    schema = schema_of(plan, table.names, open_columns=plan.itemized)
    refuse_nested(plan, LocalTable(table), schema)
    name, rules = plan.itemized[0], rules_of(plan)
    item_column = set_column(table, name, separator=plan.columns[name].separator)
    _refuse_marks(plan, item_column)
    records = Transactions(starts=item_column.starts, codes=item_column.codes, labels=item_column.labels)
    longest = longest_of(asked_for(plan).table)
    problem = HidingProblem.of(records, rules.patterns, thresholds_of(plan), longest=longest)
    return SanitizedPrepared(table=table, schema=schema, column=name, rules=rules, problem=problem)


def _refuse_marks(plan: Plan, item_column: ItemColumn) -> None:
    """An item that looks unknown could not be told from one that is."""
    marked_ = next((label for label in item_column.labels if label.endswith(UNKNOWN)), None)
    if plan.algorithm.name == UNKNOWNS and marked_ is not None:
        raise PlanError(
            f"columns.{item_column.name}: the item {marked_!r} ends in {UNKNOWN!r}, which marks unknown items; name it "
            "otherwise, or use another algorithm"
        )


def search(request: Request, prepared: SanitizedPrepared, work: Work) -> SearchResult:
    """Run the plan's algorithm, or the one that ``auto`` chooses."""
    plan = request.plan
    inner = work.allowing(plan.algorithm.seconds)
    inner.chance = Chance(seed=plan.algorithm.seed)
    outcome: Sanitized = algorithm_of(plan)(prepared.problem, inner)
    cut = inner.cut or outcome.gap is not None
    inner.cut = cut
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    why = outcome.why if plan.algorithm.name == AUTO else NAMED
    return SearchResult(prepared=prepared, outcome=outcome, algorithm=outcome.method, why=why)


def recode(request: Request, result: SearchResult) -> pl.DataFrame:
    """The released rows in random order; columns beside the sets are unchanged."""
    plan, prepared, outcome = request.plan, result.prepared, result.outcome
    columns = []
    for name, role in prepared.schema.roles.items():
        cells = prepared.table.frame[name]
        if name == prepared.column:
            columns.append(_shown(plan, name, outcome))
        elif role is Role.IDENTIFIER and name in request.keys:
            columns.append(request.keys[name].replace(cells).gather(outcome.rows))
        elif role is Role.KEEP:
            columns.append(plain_cells(cells).gather(outcome.rows))
    order = Chance(seed=plan.algorithm.seed).generator().permutation(len(outcome.rows))
    return pl.DataFrame(columns)[order]


def _shown(plan: Plan, name: str, outcome: Sanitized) -> pl.Series:
    """The sets as they are written; unknown items stand where the items would."""
    sets = outcome.shown if outcome.unknown is None else _with_unknown(outcome.shown, outcome.unknown)
    items = ItemColumn(name=name, kind="set", starts=sets.starts, codes=sets.codes, labels=sets.labels)
    return written(items, lists=plan.output_format == "parquet", separator=plan.columns[name].separator)


def _with_unknown(sets: Transactions, unknown: Transactions) -> Transactions:
    """Both kinds of items in one set: each item is followed by its unknown twin."""
    many = np.int64(max(2 * sets.count, 1))
    own = sets.row_of.astype(np.int64) * many + 2 * sets.codes
    open_ = unknown.row_of.astype(np.int64) * many + 2 * unknown.codes + 1
    keys = np.sort(np.concatenate((own, open_)))
    owner, codes = np.divmod(keys, many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=sets.rows), dtype=np.int64)))
    labels = tuple(text for label in sets.labels for text in (label, f"{label}{UNKNOWN}"))
    return Transactions(starts=starts, codes=codes.astype(np.int32), labels=labels)


def possible(outcome: Sanitized) -> Transactions:
    """The records with every unknown item had."""
    if outcome.unknown is None:
        return outcome.shown
    both = _with_unknown(outcome.shown, outcome.unknown)
    return replace(both, codes=both.codes // 2, labels=outcome.shown.labels)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> SanitizedRelease:
    """Look for every sensitive pattern in the records as they are shown; one that is found is refused."""
    prepared, outcome = result.prepared, result.outcome
    patterns, limits = prepared.rules.patterns, prepared.problem.thresholds
    for check in hidden_checks(outcome.shown, possible(outcome), patterns, limits):
        if not check.holds:
            raise ClaimRefuted(
                f"{result.algorithm} gave records that still yield a sensitive rule; nothing was written"
            )
    effects = _effects(prepared.problem, outcome, patterns)
    return SanitizedRelease(
        kind=kind,
        plan=request.plan,
        prepared=prepared,
        outcome=outcome,
        rows=rows,
        claims=(),
        effects=effects,
        utility=effects.to_json() | {"erased": float(outcome.erased)},
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _effects(problem: HidingProblem, outcome: Sanitized, patterns: tuple[Pattern, ...]) -> SideEffects:
    return side_effects(problem.transactions, outcome.shown, patterns, problem.thresholds, longest=problem.longest)


def again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """What the steward finds beside the original: what is hidden, and the same records, but for chance and time."""
    request = Request(plan=plan, keys={}, like=original)
    table = tables_of(folder, manifest)["data"]
    yield from opened(manifest, table, rules_of(plan))
    if plan.algorithm.name == UNKNOWNS or CUT_SHORT in manifest["marks"]:
        return
    result = search(request, prepare(request, read(request)), work)
    name = result.prepared.column
    yield same("algorithm of the release", manifest["recoding"]["algorithm"], result.algorithm)
    mine = _shown(replace(plan, format="csv"), name, result.outcome)
    cells = table.frame[name]
    theirs = cells.list.join(plan.columns[name].separator) if cells.dtype.is_nested() else cells.cast(pl.String)
    alike = mine.sort().to_list() == theirs.fill_null("").sort().to_list()
    detail = f"{len(mine):,} records, as the original gives them" if alike else "the original gives other records"
    yield Check(what="records of the release", holds=alike, detail=detail)
