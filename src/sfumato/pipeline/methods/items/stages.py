"""A release of paths and sets: its stages, columns, file, manifest and public report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.items.problem import ItemOutcome, ItemSpace
from sfumato.algorithms.items.suppression import records as support_of
from sfumato.attacks.finding import Finding
from sfumato.bundles.checks.items import LOCAL, LOCAL_SETS, RECODED, item_claim, released_records
from sfumato.bundles.recoding import one_marker
from sfumato.core.claims import Claim, titled
from sfumato.core.errors import ClaimRefuted, ParameterError, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import maximal_within
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.near_unique import NearUnique, asked_size, near_unique_columns, unchanged
from sfumato.counts.transactions import ItemPart, Transactions, assembled
from sfumato.metrics.item_utility import (
    FrequentSets,
    ItemView,
    QueryError,
    certainty_penalty,
    frequent_sets,
    query_errors,
)
from sfumato.pipeline.catalog.catalog import catalog, parameters
from sfumato.pipeline.dates import moved_marks
from sfumato.pipeline.inputs import load_table, marked
from sfumato.pipeline.methods.items.problem import ItemPrepared, item_algorithm, item_marks, item_table
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release, versions
from sfumato.reports.items.facts import GridCounts, ItemColumnFacts, ItemFacts, SequenceFacts, Spot
from sfumato.reports.items.page import claimed
from sfumato.reports.language import retold, translated
from sfumato.reports.table_facts import ClaimFacts
from sfumato.tables.item_sets import ItemColumn, written
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, plain_cells

# What became of the columns of a release of paths and sets.


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodedColumn:
    """How many items of a column there were and are, and what coarser ones stand for; no name of one left out."""

    name: str
    """The column."""
    kind: str
    """Whether it has paths, sets, or the cells of a table."""
    items: int
    """Different items before."""
    shown: int
    """Different items after."""
    entries_before: int
    """Items of all records together, before."""
    entries: int
    """And after."""
    coarser: Mapping[str, int]
    """How many original items, or pairs of values, each coarser one stands for."""
    within: Mapping[str, str]
    """For each item the next wider one that stands for it in other records, where there is one."""


def column_of(space: ItemSpace, outcome: ItemOutcome) -> tuple[Transactions, tuple[str, ...]]:
    """What the records show of one column, and what its items are called."""
    first = outcome.shown.first
    indices = np.flatnonzero((first >= space.begin) & (first < space.begin + space.count))
    low, high = (int(indices[0]), int(indices[-1]) + 1) if len(indices) else (0, 0)
    whole = outcome.transactions
    part = whole.only((whole.codes >= low) & (whole.codes < high))
    labels = whole.labels[low:high]
    return replace(part, codes=part.codes - np.int32(low), labels=labels), labels


def recoded(prepared: ItemPrepared, outcome: ItemOutcome, space: ItemSpace) -> RecodedColumn:
    """What became of one quasi-identifier."""
    part, labels = column_of(space, outcome)
    original = prepared.problem.transactions.codes
    supports = np.bincount(part.codes, minlength=len(labels))
    spread = dict(zip(outcome.shown.labels, outcome.shown.spread.tolist(), strict=True))
    names = [label.removeprefix(f"{space.name}=") if space.closed else label for label in labels]
    seen = [(name, label) for name, label, many in zip(names, labels, supports, strict=True) if many]
    over = dict(zip(outcome.shown.labels, outcome.shown.over.tolist(), strict=True))
    called = dict(zip(labels, names, strict=True))
    return RecodedColumn(
        name=space.name,
        kind="table" if space.closed else prepared.items[space.name].kind,
        items=space.count,
        shown=len(seen),
        entries_before=int(((original >= space.begin) & (original < space.begin + space.count)).sum()),
        entries=len(part.codes),
        coarser={name: spread[label] for name, label in seen if spread[label] > 1},
        within={name: called[outcome.shown.labels[over[label]]] for name, label in seen if over[label] >= 0},
    )


# A release of paths, sets and mixed records.


QUERY_COUNT = 300
"""How many random count queries of each size are asked."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemRelease(Release):
    """Released records of which nobody with little knowledge can tell much."""

    prepared: ItemPrepared
    """The original, encoded."""
    outcome: ItemOutcome
    """What the search found."""
    frequent: FrequentSets
    """The maximal frequent sets of the original, and what became of them."""
    queries: tuple[QueryError, ...]
    """How far answers to random count queries are off."""

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The columns beside paths and sets that nearly single people out, as anybody can count in the release."""
        k = asked_size(claim.parameters for claim in self.claims)
        return near_unique_columns(self.rows, unchanged(self.prepared.schema.roles), self.prepared.table.missing, k)

    @property
    def missing(self) -> tuple[str, ...]:
        """What a missing value is written as."""
        return self.prepared.table.missing

    @property
    def described(self) -> dict[str, Any]:
        """How the cells of every column are read."""
        columns = [_published(self.plan, self.prepared, name) for name in self.rows.columns]
        return {"rows": self.rows.height, "columns": columns, "missing": list(self.missing)}

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [
            *super().marks,
            *(column.told for column in self.near_unique),
            *([LOCAL] if self.plan.algorithm.options.get("scope") == "local" else []),
            *([RECODED] if self.algorithm == LOCAL_SETS else []),
            *item_marks(self.plan),
        ]

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort

    @cached_property
    def recoded(self) -> tuple[RecodedColumn, ...]:
        """What became of each quasi-identifier."""
        return tuple(recoded(self.prepared, self.outcome, space) for space in self.prepared.problem.spaces)


# The report that a bundle of paths and sets hands out: a function of its manifest and its records.


MOST = 40
"""How many items and frequent sets a report names."""
MOST_LOOKED_AT = 50_000_000
"""How many places in records are looked at for frequent sets; where that does not suffice, none are shown."""
SUPPORT = 0.01
"""What is frequent where the algorithm has no support of its own: a share of the records."""

Manifest = Mapping[str, Any]


def public_page(manifest: Manifest, tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page."""
    from sfumato.reports.items.page import render

    return render(public_facts(manifest, tables), work)


def public_facts(manifest: Manifest, tables: Mapping[str, Table]) -> ItemFacts:
    """Everything that the report of a bundle shows."""
    table, columns = tables["data"], manifest["data"]["columns"]
    claims = [Claim.from_json(claim) for claim in manifest["claims"]]
    quasi = [column for column in columns if column["role"] == "quasi"]
    parts = [released_records(table, [column]) for column in quasi]
    roles = unchanged({column["name"]: Role(column["role"]) for column in columns})
    k = asked_size(claim.parameters for claim in claims)
    left_out = manifest["recoding"].get("left_out")
    return ItemFacts(
        title="Release report",
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        inside=False,
        records_before=table.rows,
        records_after=table.rows,
        claims=tuple(map(_claim, claims)),
        columns=tuple(_column(manifest, column, part) for column, part in zip(quasi, parts, strict=True)),
        algorithm=manifest["recoding"]["algorithm"],
        why=manifest["recoding"]["why"],
        sequences=tuple(_frequent_sets(manifest, quasi, parts)),
        marks=(*manifest["marks"], *moved_marks(manifest)),
        near_unique=near_unique_columns(table.frame, roles, table.missing, k),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        notes=(translated("{left_out} rows were left out before, because of missing values.", left_out=left_out),)
        if left_out
        else (),
    )


def promises(manifest: Manifest) -> list[tuple[str, str]]:
    """What each promise means, and what it leaves open."""
    claim_facts = [_claim(Claim.from_json(claim)) for claim in manifest["claims"]]
    return [(facts.meaning, facts.limits) for facts in claim_facts]


def _claim(claim: Claim) -> ClaimFacts:
    """A claim with the words for paths and sets, or with those that its part of the catalog brings."""
    facts = claimed(claim)
    if facts.meaning:
        return facts
    meaning, limits = catalog().explained(claim.model, claim.parameters)
    return ClaimFacts(claim=claim, title=retold(titled(claim.model, claim.parameters)), meaning=meaning, limits=limits)


def _column(manifest: Manifest, column: Mapping[str, Any], records: Transactions) -> ItemColumnFacts:
    stated = manifest["recoding"]["columns"][column["name"]]
    supports = records.supports()
    path = column["type"] == "trajectory"
    return ItemColumnFacts(
        name=column["name"],
        kind=stated["kind"],
        items_after=stated["shown"],
        entries_after=stated["entries"],
        items_coarser=len(stated["coarser"]),
        frequent=() if path else _foremost_items(records.labels, supports),
        after=_grid(records.labels, supports, column["mark"]) if path else None,
    )


def _foremost_items(labels: Sequence[str], supports: Any) -> tuple[tuple[str, None, int], ...]:
    order = np.argsort(-supports, kind="stable")[:MOST]
    return tuple((labels[item], None, int(supports[item])) for item in order.tolist())


def _grid(labels: Sequence[str], supports: Any, mark: str) -> GridCounts:
    """Readings by places and times, these in the order of the numbers in their names."""
    spots = [spot(label, mark) for label in labels]
    places = tuple(sorted({place for place, _ in spots}, key=by_numbers))
    times = tuple(sorted({time for _, time in spots}, key=by_numbers))
    rows, columns = ({name: n for n, name in enumerate(names)} for names in (places, times))
    table = np.zeros((len(rows), len(columns)), np.int64)
    for (place, time), many in zip(spots, supports.tolist(), strict=True):
        table[rows[place], columns[time]] += many
    return GridCounts(places=places, times=times, counts=tuple(map(tuple, table.tolist())))


def by_numbers(name: str) -> tuple[bool, tuple[float, ...], int, str]:
    """The key by which places and times are put in order: by the numbers in them, what has none by its letters.

    >>> sorted(["10", "9", "[8, 10)", "night", "08:30"], key=by_numbers)
    ['[8, 10)', '08:30', '9', '10', 'night']
    """
    numbers = tuple(float(digits) for digits in re.findall(r"[0-9]{1,18}", name))
    return not numbers, numbers, len(name), name


def spot(label: str, mark: str) -> Spot:
    """The place and the time of a reading."""
    place, _, time = label.rpartition(mark)
    return place, time


def _frequent_sets(
    manifest: Manifest, columns: Sequence[Mapping[str, Any]], parts: Sequence[Transactions]
) -> list[SequenceFacts]:
    """The maximal frequent sets of the release, which anybody can count."""
    records = assembled([ItemPart(starts=part.starts, codes=part.codes, labels=part.labels) for part in parts])
    support = support_of(float(manifest["plan"]["algorithm"].get("support", SUPPORT)), records.rows)
    frequent_sets = maximal_within(records, support, MOST_LOOKED_AT)
    if frequent_sets is None:
        return []
    owner = np.repeat(np.arange(len(parts)), [len(part.labels) for part in parts])
    facts = []
    for number in foremost(frequent_sets):
        items = frequent_sets.codes[frequent_sets.starts[number] : frequent_sets.starts[number + 1]]
        labels, spots = [records.labels[item] for item in items], []
        column = columns[int(owner[items[0]])]
        if column["type"] == "trajectory" and (owner[items] == owner[items[0]]).all():
            labels.sort(key=lambda label, mark=column["mark"]: by_numbers(spot(label, mark)[1]))  # type: ignore[misc]
            spots = [spot(label, column["mark"]) for label in labels]
        facts.append(SequenceFacts(labels=tuple(labels), after=int(frequent_sets.rows[number]), spots=tuple(spots)))
    return facts


def foremost(sets: Itemsets) -> list[int]:
    """The most frequent sets, those of several items first."""
    order = np.lexsort((-sets.rows, -np.minimum(np.diff(sets.starts), 2)))
    return [int(number) for number in order[:MOST]]


# The stages of a release of paths and sets: read, search, recode, judge.


QUERIES = Chance(seed=2012)
"""Random count queries are the same for every release, so that their errors can be compared."""


def read(request: Request) -> Table:
    """The table, long ones gathered into one record a row."""
    plan = request.plan
    return marked(item_table(plan, load_table(plan, request.like, plan.input.path)), plan)


def search(request: Request, prepared: ItemPrepared, work: Work) -> SearchResult:
    """Run the plan's algorithm, or the one that ``auto`` stands for."""
    name, run, why = item_algorithm(request.plan)
    inner = work.allowing(request.plan.algorithm.seconds)
    try:
        outcome = run(prepared.problem, inner)
    except ParameterError as error:
        raise PlanError(f"privacy: {error}") from error
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    return SearchResult(prepared=prepared, outcome=outcome, algorithm=name, why=why)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> ItemRelease:
    """Judge the records as they are shown, and measure what was lost."""
    prepared, outcome = result.prepared, result.outcome
    view = outcome.view(prepared.problem.transactions)
    support = getattr(item_algorithm(request.plan)[1], "support", SUPPORT)
    frequent = frequent_sets(view, support_of(support, prepared.table.rows))
    errors = query_errors(view, chance=QUERIES, queries=QUERY_COUNT)
    return ItemRelease(
        kind=kind,
        plan=request.plan,
        prepared=prepared,
        outcome=outcome,
        rows=rows,
        claims=_claims(prepared, outcome, result.algorithm),
        frequent=frequent,
        queries=errors,
        utility=_utility(view, frequent, errors),
        algorithm=result.algorithm,
        why=result.why,
        like=request.like,
    )


def _claims(prepared: ItemPrepared, outcome: ItemOutcome, name: str) -> tuple[Claim, ...]:
    """Every model judged on the records as they are shown; one that fails is a fault of the algorithm."""
    problem = prepared.problem
    claims = []
    for model in problem.models:
        claim = item_claim(model, parameters(model), problem.looked_at(model, outcome.transactions))
        if not claim.holds:
            raise ClaimRefuted(f"{name} gave records that do not meet {claim.model}; nothing was written")
        claims.append(claim)
    return tuple(claims)


def _utility(view: ItemView, frequent_sets: FrequentSets, errors: tuple[QueryError, ...]) -> dict[str, float]:
    changes = frequent_sets.changes
    figures = {
        "minimum_support": float(frequent_sets.support),
        "maximal_frequent_sets": float(frequent_sets.sets.count),
        "lost_frequent_sets": frequent_sets.lost,
        "coarser_frequent_sets": frequent_sets.blurred,
        "changed_supports": float((changes > 0).mean()) if len(changes) else 0.0,
        "largest_change": float(changes.max(initial=0.0)),
        "ncp": certainty_penalty(view),
    }
    for error in errors:
        figures |= {f"query_error_{error.items}_median": error.median, f"query_error_{error.items}_mean": error.mean}
    return figures


def notes(prepared: ItemPrepared) -> list[str]:
    """The columns beside paths and sets that nearly single people out."""
    k = asked_size(parameters(model) for model in prepared.problem.models)
    table = prepared.table
    columns = near_unique_columns(table.frame, unchanged(prepared.schema.roles), table.missing, k)
    return [column.told for column in columns]


def recode(request: Request, result: SearchResult) -> pl.DataFrame:
    """The released rows, in random order; everything but identifiers and quasi-identifiers is unchanged."""
    plan, prepared, keys = request.plan, result.prepared, request.keys
    spaces = {space.name: space for space in prepared.problem.spaces}
    columns = []
    for name, role in prepared.schema.roles.items():
        cells = prepared.table.frame[name]
        if role is Role.QUASI:
            columns.append(_shown_cells(plan, spaces[name], result.outcome))
        elif role is Role.IDENTIFIER and name in keys:
            columns.append(keys[name].replace(cells))
        elif role is Role.KEEP:
            columns.append(plain_cells(cells))
        elif role in (Role.SENSITIVE, Role.TARGET):
            columns.append(one_marker(plain_cells(cells), prepared.table.missing))
    order = Chance(seed=plan.algorithm.seed).generator().permutation(prepared.table.rows)
    return pl.DataFrame(columns)[order]


def _shown_cells(plan: Plan, space: ItemSpace, outcome: ItemOutcome) -> pl.Series:
    """A column as it is shown."""
    part, labels = column_of(space, outcome)
    if space.closed:
        names = [label.removeprefix(f"{space.name}=") for label in labels]
        return pl.Series(space.name, names, dtype=pl.String).gather(part.codes)
    items = ItemColumn(name=space.name, kind="set", starts=part.starts, codes=part.codes, labels=labels)
    column = plan.columns[space.name]
    return written(items, lists=plan.output_format == "parquet", separator=column.separator)


# The file of a release of paths and sets, and what its manifest states.


def manifest(release: ItemRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` has the data file's name and digest.

    What was left out and lost is measured against the original, and how the search went depends on it: that is for the
    inside report.
    """
    return {
        "claims": [claim.to_json() for claim in release.claims],
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            **({"left_out": release.prepared.dropped_rows} if release.prepared.dropped_rows else {}),
            "columns": {column.name: _public(column) for column in release.recoded},
        },
        **release.audit.stated(),
        "versions": versions("numpy", "numba", "polars"),
    }


def _published(plan: Plan, prepared: ItemPrepared, name: str) -> dict[str, Any]:
    column = plan.columns[name]
    description: dict[str, Any] = {"name": name, "role": str(column.role), "type": "text"}
    if name in prepared.items:
        description |= {"type": column.type, "separator": column.separator}
        if column.type == "trajectory":
            description["mark"] = column.mark
    return description


def _public(column: RecodedColumn) -> dict[str, Any]:
    """What the file itself shows of a column, and which of its items stand for several, or for others that it shows."""
    return {
        "kind": column.kind,
        "shown": column.shown,
        "entries": column.entries,
        "coarser": sorted(column.coarser),
        **({"within": dict(sorted(column.within.items()))} if column.within else {}),
    }
