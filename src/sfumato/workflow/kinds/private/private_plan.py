"""What a plan for a private release can say, as far as that needs no table."""

from __future__ import annotations

from typing import Any

from sfumato.ground.errors import PlanError, listed, nearest
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured, option_names
from sfumato.workflow.kinds.private.private_budget import budget_of
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.domain_plan import refuse_profiled
from sfumato.workflow.plan.plan import Plan

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
    refuse_guarded(plan.columns, "a private release")


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
        found = plan.algorithm.options["output"]
        raise PlanError(f"algorithm.output must be one of {listed(OUTPUTS)}, not {found!r}")
    if "rho" in budget and "rho" not in option_names(known[name]):
        raise PlanError(f"algorithm.name: {name} promises pure epsilon only; leave privacy.delta and privacy.rho out")
    return name, configured(known[name], options, fixed=budget, beside=("name", "output")), why
