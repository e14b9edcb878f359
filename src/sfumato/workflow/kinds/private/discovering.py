"""Domains that a plan does not declare, found by noise and paid for: ranges of numbers, values of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Approximate, Event
from sfumato.bundle.form import SHORT
from sfumato.data.table import Table
from sfumato.describe.taxonomy import TOP
from sfumato.group.tally import Counts
from sfumato.noise import chosen_keys, counted
from sfumato.queries.queryable import numbers_in, present, texts_in
from sfumato.workflow.kinds.private.declared import Ready, declared
from sfumato.workflow.kinds.private.private_budget import searches
from sfumato.workflow.loading import bounded
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.domain_plan import OTHER
from sfumato.workflow.plan.plan import Plan

SMALLEST, LARGEST = -3, 9
"""Without ``within``, a range is looked for among 0 and 1, 2 and 5 times the powers of ten from here to there."""
MISSED = 0.01
"""How probably a part of a range that nobody is in is taken in, at most."""
CELLS, MOST = 100, 1000
"""How many cells a found range has about, and at most where the plan declares their width."""


def prepared(plan: Plan, table: Table, times: Counts | None = None) -> Ready:
    """The table over declared domains; those that the plan asks for are found first, among one row of each person.

    ``times`` says how often each row is there, where an engine counted equal ones together.
    """
    found = searches(plan)
    if not found:
        return declared(plan, table, times)
    people = bounded(table, plan, most=1)
    columns = {name: _found(people, name, plan.columns[name], cost, plan.input.missing) for name, cost in found.items()}
    ready = declared(replace(plan, columns={**plan.columns, **columns}, privacy=_settled(plan)), table)
    return replace(ready, found=tuple(found.values()))


def resolved(plan: Plan, domains: Mapping[str, Any]) -> Plan:
    """The plan with the domains that a manifest says were found."""
    sought = searches(plan)
    target = domains.get("target") or {}
    columns = {}
    for name in sought:
        column = plan.columns[name]
        if name == target.get("name"):
            columns[name] = _with_values(column, target["values"], plan.input.missing)
        elif domains["columns"][name]["kind"] == "number":
            columns[name] = _with_range(column, *(domains["columns"][name][key] for key in ("low", "high", "grid")))
        else:
            nodes = [str(label) for label, _ in domains["columns"][name]["nodes"][1:]]
            columns[name] = _with_values(column, nodes, plan.input.missing)
    return replace(plan, columns={**plan.columns, **columns}, privacy=_settled(plan)) if columns else plan


def _settled(plan: Plan) -> dict[str, Any]:
    return {key: value for key, value in plan.privacy.items() if key != "discovery"}


def _found(people: Table, name: str, column: ColumnPlan, cost: Event, missing: Sequence[str]) -> ColumnPlan:
    if isinstance(cost, Approximate):
        counts = texts_in(present(people, name)).drop_nulls().value_counts(name="rows of the text")
        keys = {str(key): int(many) for key, many in counts.iter_rows() if key not in ("", TOP) and len(key) <= SHORT}
        found, _ = chosen_keys(keys, epsilon=cost.epsilon, delta=cost.delta, what=cost.what)
        return _with_values(column, found, missing)
    numbers = numbers_in(present(people, name))
    marks = candidates(column.within, whole=column.type == "integer")
    inside = np.clip(numbers[~np.isnan(numbers)], marks[0], marks[-1])
    place = np.clip(np.searchsorted(marks, inside, side="right") - 1, 0, len(marks) - 2)
    noisy = counted(np.bincount(place, minlength=len(marks) - 1).astype(np.int64), cost)  # type: ignore[arg-type]
    low, high = ends(marks, noisy.values, noisy.margin(1 - MISSED / (len(marks) - 1)))
    return _with_range(column, low, high, grid_of(low, high, (column.hierarchy or {}).get("grid")))


def candidates(within: Sequence[float], *, whole: bool = False) -> NDArray[np.float64]:
    """The numbers at which a range can begin and end: public, whatever the table holds; of whole numbers, whole ones.

    >>> candidates((0, 30))[-5:].tolist()
    [2.0, 5.0, 10.0, 20.0, 30.0]
    """
    tens = [digit * 10.0**power for power in range(0 if whole else SMALLEST, LARGEST + 1) for digit in (1, 2, 5)]
    every = np.array(sorted({0.0, *tens, *(-one for one in tens)}))
    if not within:
        return every
    low, high = within
    found: NDArray[np.float64] = np.unique([low, *every[(every > low) & (every < high)], high])
    return found


def ends(marks: NDArray[np.float64], counts: NDArray[Any], margin: float) -> tuple[float, float]:
    """From the first to the last part whose noisy count is above the noise; the largest is always taken in.

    >>> ends(np.array([0.0, 1.0, 2.0, 5.0, 10.0]), np.array([2, 40, 70, -3]), 10.0)
    (1.0, 5.0)
    """
    above = np.flatnonzero(counts > margin)
    held = np.union1d(above, [int(np.argmax(counts))])
    return float(marks[held[0]]), float(marks[held[-1] + 1])


def grid_of(low: float, high: float, declared: float | None) -> float:
    """How wide the cells of a found range are: as declared, or the next of 1, 2 and 5 times a power of ten.

    >>> grid_of(0, 100, None), grid_of(0, 1, None), grid_of(0, 5000, 1.0), grid_of(10, 100, 5.0)
    (1.0, 0.01, 5.0, 5.0)
    """
    least = (high - low) / (CELLS if declared is None else MOST)
    if declared is not None and declared >= least:
        return float(declared)
    power = floor(log10(least) + 1e-9)
    return next(float(f"{digit}e{power}") for digit in (1, 2, 5, 10) if float(f"{digit}e{power}") >= least * (1 - 1e-9))


def _with_range(column: ColumnPlan, low: float, high: float, grid: float) -> ColumnPlan:
    tree = {"kind": "grown", "low": low, "high": high, "grid": grid}
    return replace(column, hierarchy=tree, domain_from="declared", within=())


def _with_values(column: ColumnPlan, found: Sequence[str], missing: Sequence[str]) -> ColumnPlan:
    """Values in the order of their texts, with one more that stands for all that were not found."""
    other = None if column.outside == "drop" else column.other or OTHER
    values = tuple(sorted(set(found) - {*missing, *([] if other is None else [other])}))
    return replace(
        column,
        hierarchy=None,
        type=None,
        values=(*values, *([] if other is None else [other])) or (OTHER,),
        other=other,
        domain_from="declared",
    )
