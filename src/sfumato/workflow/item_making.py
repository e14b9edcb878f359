"""Making a release of paths and sets: read, gather, search, judge, measure."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfumato.bundle.claims import Claim
from sfumato.bundle.pseudonyms import Pseudonyms
from sfumato.bundle.recoding import plain_cells
from sfumato.data.itemized import ItemColumn, written
from sfumato.describe.roles import Role
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ClaimRefuted, ParameterError, PlanError
from sfumato.ground.work import Work
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
from sfumato.workflow.catalog import parameters
from sfumato.workflow.item_audit import refuse_attacks
from sfumato.workflow.item_catalog import item_algorithm
from sfumato.workflow.item_columns import column_of
from sfumato.workflow.item_prepare import ItemPrepared, prepare_items
from sfumato.workflow.item_release import QUERY_COUNT, ItemRelease
from sfumato.workflow.item_table import item_table
from sfumato.workflow.making import load_table, marked, pseudonyms
from sfumato.workflow.plan import Plan

QUERIES = Chance(seed=2012)
"""Random count queries are the same for every release, so that their errors can be compared."""


def item_release(plan: Plan, frame: object = None, *, work: Work | None = None) -> ItemRelease:
    """Make a release of a frame, or of the file that the plan names."""
    work = work or Work()
    name, run, why = item_algorithm(plan)
    refuse_attacks(plan)
    work.advance("read", 0, 1)
    keys = pseudonyms(plan)
    table = marked(item_table(plan, load_table(plan, frame, plan.input.path)), plan)
    prepared = prepare_items(plan, table)
    work.advance("read", 1, 1)
    try:
        outcome = run(prepared.problem, work)
    except ParameterError as error:
        raise PlanError(f"privacy: {error}") from error
    work.advance("recode and judge", 0, 1)
    claims = _claims(prepared, outcome, name)
    view = item_view(prepared, outcome)
    found = frequent_sets(view, support_of(run.support, prepared.table.rows))
    errors = query_errors(view, chance=QUERIES, queries=QUERY_COUNT)
    made = ItemRelease(
        plan=plan,
        prepared=prepared,
        outcome=outcome,
        rows=_rows(plan, prepared, outcome, keys),
        claims=claims,
        frequent=found,
        queries=errors,
        utility=_utility(view, found, errors),
        algorithm=name,
        why=why,
        like=frame,
    )
    work.advance("recode and judge", 1, 1)
    return made


def item_view(prepared: ItemPrepared, outcome: ItemOutcome) -> ItemView:
    """Records before and after, for whoever measures what was lost."""
    return ItemView(
        original=prepared.problem.transactions,
        released=outcome.transactions,
        to=outcome.shown.to,
        spread=outcome.shown.spread,
        penalty=outcome.shown.penalty,
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


def _rows(plan: Plan, prepared: ItemPrepared, outcome: ItemOutcome, keys: Mapping[str, Pseudonyms]) -> pl.DataFrame:
    """The released rows, in random order; everything but identifiers and quasi-identifiers is unchanged."""
    spaces = {space.name: space for space in prepared.problem.spaces}
    found = []
    for name, role in prepared.schema.roles.items():
        cells = prepared.table.frame[name]
        if role is Role.QUASI:
            found.append(_shown_cells(plan, spaces[name], outcome))
        elif role is Role.IDENTIFIER and name in keys:
            found.append(keys[name].replace(cells))
        elif role in (Role.SENSITIVE, Role.TARGET, Role.KEEP):
            found.append(plain_cells(cells))
    order = Chance(seed=plan.algorithm.seed).generator().permutation(prepared.table.rows)
    return pl.DataFrame(found)[order]


def _shown_cells(plan: Plan, space: ItemSpace, outcome: ItemOutcome) -> pl.Series:
    """A column as it is shown."""
    part, labels = column_of(space, outcome)
    if space.closed:
        names = [label.removeprefix(f"{space.name}=") for label in labels]
        return pl.Series(space.name, names, dtype=pl.String).gather(part.codes)
    items = ItemColumn(name=space.name, kind="set", starts=part.starts, codes=part.codes, labels=labels)
    column = plan.columns[space.name]
    return written(items, lists=plan.output_format == "parquet", separator=column.separator)
