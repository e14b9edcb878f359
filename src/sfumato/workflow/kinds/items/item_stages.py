"""The stages of a release of paths and sets: read, search, recode, judge."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sfumato.bundle.claims import Claim
from sfumato.bundle.recoding import one_marker
from sfumato.data.itemized import ItemColumn, written
from sfumato.data.table import Table, plain_cells
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.near_unique import asked_size, near_unique_columns, unchanged
from sfumato.publish.items.item_algorithms import records as support_of
from sfumato.publish.items.item_problem import ItemOutcome
from sfumato.publish.items.item_space import ItemSpace
from sfumato.utility.item_utility import (
    FrequentSets,
    ItemView,
    QueryError,
    certainty_penalty,
    frequent_sets,
    query_errors,
)
from sfumato.verification.item_checks import item_claim
from sfumato.workflow.catalog.lookup import parameters
from sfumato.workflow.kinds.items.item_columns import column_of
from sfumato.workflow.kinds.items.item_plan import item_algorithm
from sfumato.workflow.kinds.items.item_preparing import ItemPrepared
from sfumato.workflow.kinds.items.item_public import SUPPORT
from sfumato.workflow.kinds.items.item_release import QUERY_COUNT, ItemRelease
from sfumato.workflow.kinds.items.long_tables import item_table
from sfumato.workflow.kinds.kind import Asked, Kind, Searched
from sfumato.workflow.loading import load_table, marked
from sfumato.workflow.plan.plan import Plan

QUERIES = Chance(seed=2012)
"""Random count queries are the same for every release, so that their errors can be compared."""


def read(asked: Asked) -> Table:
    """The table, long ones gathered into one record a row."""
    plan = asked.plan
    return marked(item_table(plan, load_table(plan, asked.like, plan.input.path)), plan)


def search(asked: Asked, prepared: ItemPrepared, work: Work) -> Searched:
    """Run the plan's algorithm, or the one that ``auto`` stands for."""
    name, run, why = item_algorithm(asked.plan)
    inner = work.allowing(asked.plan.algorithm.seconds)
    try:
        outcome = run(prepared.problem, inner)
    except ParameterError as error:
        raise PlanError(f"privacy: {error}") from error
    outcome = replace(outcome, effort=inner.told(outcome.effort))
    return Searched(prepared=prepared, outcome=outcome, algorithm=name, why=why)


def judge(kind: Kind, asked: Asked, found: Searched, rows: pl.DataFrame) -> ItemRelease:
    """Judge the records as they are shown, and measure what was lost."""
    prepared, outcome = found.prepared, found.outcome
    view = outcome.view(prepared.problem.transactions)
    support = getattr(item_algorithm(asked.plan)[1], "support", SUPPORT)
    frequent = frequent_sets(view, support_of(support, prepared.table.rows))
    errors = query_errors(view, chance=QUERIES, queries=QUERY_COUNT)
    return ItemRelease(
        kind=kind,
        plan=asked.plan,
        prepared=prepared,
        outcome=outcome,
        rows=rows,
        claims=_claims(prepared, outcome, found.algorithm),
        frequent=frequent,
        queries=errors,
        utility=_utility(view, frequent, errors),
        algorithm=found.algorithm,
        why=found.why,
        like=asked.like,
    )


def _claims(prepared: ItemPrepared, outcome: ItemOutcome, name: str) -> tuple[Claim, ...]:
    """Every model judged on the records as they are shown; one that fails is a fault of the algorithm."""
    problem = prepared.problem
    found = []
    for model in problem.models:
        one = item_claim(model, parameters(model), problem.looked_at(model, outcome.transactions))
        if not one.holds:
            raise ClaimRefuted(f"{name} gave records that do not meet {one.model}; nothing was written")
        found.append(one)
    return tuple(found)


def _utility(view: ItemView, found: FrequentSets, errors: tuple[QueryError, ...]) -> dict[str, float]:
    changes = found.changes
    figures = {
        "minimum_support": float(found.support),
        "maximal_frequent_sets": float(found.sets.count),
        "lost_frequent_sets": found.lost,
        "coarser_frequent_sets": found.blurred,
        "changed_supports": float((changes > 0).mean()) if len(changes) else 0.0,
        "largest_change": float(changes.max(initial=0.0)),
        "ncp": certainty_penalty(view),
    }
    for one in errors:
        figures |= {f"query_error_{one.items}_median": one.median, f"query_error_{one.items}_mean": one.mean}
    return figures


def notes(prepared: ItemPrepared) -> list[str]:
    """The columns beside paths and sets that nearly single people out."""
    k = asked_size(parameters(model) for model in prepared.problem.models)
    table = prepared.table
    found = near_unique_columns(table.frame, unchanged(prepared.schema.roles), table.missing, k)
    return [one.told for one in found]


def recode(asked: Asked, found: Searched) -> pl.DataFrame:
    """The released rows, in random order; everything but identifiers and quasi-identifiers is unchanged."""
    plan, prepared, keys = asked.plan, found.prepared, asked.keys
    spaces = {space.name: space for space in prepared.problem.spaces}
    columns = []
    for name, role in prepared.schema.roles.items():
        cells = prepared.table.frame[name]
        if role is Role.QUASI:
            columns.append(_shown_cells(plan, spaces[name], found.outcome))
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
