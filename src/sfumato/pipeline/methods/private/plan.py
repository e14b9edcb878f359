"""What a plan for a private release can say, and what it spends on what."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from sfumato.bundles.checks.mechanisms import DISCOVERED, FINDING, RANGE, VALUES
from sfumato.core.errors import ParameterError, PlanError, listed, nearest
from sfumato.dp.accounting import Promise, cost_of
from sfumato.dp.events import Approximate, Event, Sequential, exactly
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured, option_names
from sfumato.pipeline.plan.columns import ColumnPlan, refuse_profiled
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Role

# What a private release spends on what: known from the plan alone, before a byte is read.


SHARE = Fraction(1, 10)
"""The part of the budget that finding domains takes, where a plan does not say."""
_DIGITS = 10**12
_RANGES = ("grown", "intervals")


def promise_of(plan: Plan) -> Promise:
    """What is promised, exactly as it is written."""
    try:
        return Promise.of(plan.privacy)
    except ParameterError as error:
        raise PlanError(f"privacy.{error}") from None


def searches(plan: Plan) -> dict[str, Event]:
    """What finding the domain of each column that asks for it costs: even parts of a share of the budget.

    A range is read off noisy counts, by Laplace noise for epsilon and Gaussian noise for rho. Values are those above a
    threshold, which needs a delta: half of the promise's goes to them all.
    """
    wanted = {
        name: column for name, column in plan.columns.items() if column.domain_from == DISCOVERED and _published(column)
    }
    share = _share(plan.privacy)
    if not wanted:
        if "discovery" in plan.privacy:
            raise PlanError(f'privacy.discovery: no column has domain_from = "{DISCOVERED}"; leave it out')
        return {}
    for name, column in wanted.items():
        _refuse_said(name, column)
    promise, keys = promise_of(plan), [name for name, column in wanted.items() if not is_range(column)]
    if keys and promise.delta is None:
        raise PlanError(
            f'columns.{keys[0]}.domain_from = "{DISCOVERED}": values are found with a small probability of telling one '
            "that a single record has, so the promise needs privacy.delta beside privacy.epsilon; or declare values"
        )
    missed = (promise.delta or Fraction(0)) / 2 if keys else Fraction(0)
    each = promise.amount(missed) * share / len(wanted)
    return {name: _cost(promise, name, each, missed / len(keys) if name in keys else None) for name in wanted}


def _published(column: ColumnPlan) -> bool:
    return column.role in (Role.QUASI, Role.TARGET)


def is_range(column: ColumnPlan) -> bool:
    """Whether a column holds numbers, by what the plan says."""
    tree = column.hierarchy or {}
    return tree.get("kind") in _RANGES or (not tree and column.type in ("integer", "real"))


def _share(privacy: Mapping[str, Any]) -> Fraction:
    try:
        share = exactly("discovery", privacy.get("discovery", SHARE))
    except ParameterError as error:
        raise PlanError(f"privacy.{error}") from None
    if share >= 1:
        raise PlanError(f"privacy.discovery must be a share below 1 of the budget, not {privacy['discovery']!r}")
    return share


def _refuse_said(name: str, column: ColumnPlan) -> None:
    """Refuse to look for what the plan says already, and for what cannot be found."""
    tree, at = column.hierarchy or {}, f"columns.{name}"
    if column.values or any(key in tree for key in ("low", "high", "file", "tree", "bundled")):
        raise PlanError(f'{at}: the domain is declared, and domain_from = "{DISCOVERED}" looks for it; leave one out')
    if column.type == "set":
        raise PlanError(
            f'{at}.domain_from = "{DISCOVERED}": a record has many items, which are not found; declare them'
        )
    if tree.get("kind", "flat") not in (*_RANGES, "flat"):
        kind = tree["kind"]
        raise PlanError(f"{at}.hierarchy: values that are found stand side by side, not under kind = {kind!r}")
    if column.outside == "refuse":
        raise PlanError(f'{at}.outside = "refuse": a domain that was found lacks rare values; use "clamp" or "drop"')
    if column.within and not is_range(column):
        raise PlanError(f'{at}.within is about ranges: give the column hierarchy = {{ kind = "grown" }}')


def _cost(promise: Promise, name: str, amount: Fraction, delta: Fraction | None) -> Event:
    if delta is not None:
        root = Fraction(isqrt(int(2 * amount * _DIGITS**2)), _DIGITS)
        return Approximate(epsilon=root, delta=delta, what=VALUES.format(name=name))
    return cost_of(promise.unit, amount, RANGE.format(name=name))


def left_of(plan: Plan) -> Fraction:
    """What is left for the rows when the domains are found, in the promise's unit."""
    promise, costs = promise_of(plan), searches(plan).values()
    missed = sum((cost.delta for cost in costs if isinstance(cost, Approximate)), Fraction(0))
    return promise.amount(missed) - sum((promise.spent_by(cost) for cost in costs), Fraction(0))


def budget_of(plan: Plan) -> dict[str, Fraction]:
    """What a mechanism that protects single rows may spend.

    Where a person has up to m rows it gets epsilon / m, or rho / m^2 (group privacy).
    """
    promise, rows = promise_of(plan), plan.input.rows_per_unit
    return {promise.unit: left_of(plan) / (rows if promise.unit == "epsilon" else rows**2)}


def foreseen(plan: Plan) -> Event:
    """All that a release will cost a person, as a ledger is asked for it."""
    rows = cost_of(promise_of(plan).unit, left_of(plan), "release")
    return with_found(tuple(searches(plan).values()), rows)


def with_found(costs: tuple[Event, ...], rows: Event) -> Event:
    """What finding the domains and making the rows cost together."""
    return rows if not costs else Sequential(parts=(Sequential(parts=costs, what=FINDING), rows), what="release")


# What a plan for a private release can say, as far as that needs no table.


KEYS = ("epsilon", "delta", "rho", "domains", "discovery", "ledger", "analyst")
"""The keys of [privacy] that a private release has."""
OUTPUTS = ("records", "counts")
_SETS = "Chosen by auto: a column has sets, which diffgen specializes along their tree."
_MARGINALS = "Chosen by auto: no column has sets, and noisy marginals publish whole rows of all columns."


def check(plan: Plan) -> None:
    """Refuse domains that were read off the rows, unknown names and options, before anything is paid."""
    refuse_profiled(plan.columns, "a differentially private release")
    check_noise(plan)


def check_noise(plan: Plan) -> None:
    """Refuse what no plan for noisy rows can say."""
    refuse_strangers(plan)
    private_algorithm(plan)


def refuse_strangers(plan: Plan) -> None:
    """Refuse keys that have no meaning beside a promise."""
    others = [key for key in plan.privacy if key not in KEYS]
    if others:
        raise PlanError(
            f"privacy.{others[0]}: a differentially private release meets its promise and nothing else; "
            f"here are {listed(KEYS)} only"
        )
    if plan.privacy.get("domains", "declared") not in ("declared", "observed"):
        raise PlanError(f"privacy.domains must be declared or observed, not {plan.privacy['domains']!r}")
    if plan.algorithm.seed is not None:
        raise PlanError("algorithm.seed: whoever knows the seed can take the noise away; a private release has none")


def private_algorithm(plan: Plan) -> tuple[str, Any, str]:
    """The plan's algorithm with its options and its budget, and why."""
    budget, known = budget_of(plan), catalog().solving("private")
    name, why = plan.algorithm.name, "Named in the plan."
    if name == "auto":
        sets = any(column.type == "set" for column in plan.columns.values())
        name, why = ("diffgen", _SETS) if sets else ("marginals", _MARGINALS)
    if name not in known:
        raise PlanError(
            f"algorithm.name: {name!r} is not differentially private{nearest(name, known)} With privacy.epsilon "
            f"there are auto, {listed(known)}"
        )
    options = {key: value for key, value in plan.algorithm.options.items() if key != "output"}
    if plan.algorithm.options.get("output", "records") not in OUTPUTS:
        output = plan.algorithm.options["output"]
        raise PlanError(f"algorithm.output must be one of {listed(OUTPUTS)}, not {output!r}")
    if "rho" in budget and "rho" not in option_names(known[name]):
        raise PlanError(f"algorithm.name: {name} promises pure epsilon only; leave privacy.delta and privacy.rho out")
    return name, configured(known[name], options, fixed=budget, other_keys=("name", "output")), why
