"""What a plan for a private release can say, as far as that needs no table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sfumato.budget.events import exactly
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan

KEYS = ("epsilon", "domains", "ledger", "analyst")
"""The keys of [privacy] that a private release has."""
OUTPUTS = ("records", "counts")
_SETS = "Chosen by auto: a column has sets, which diffgen specializes along their tree."
_MARGINALS = "Chosen by auto: no column has sets, and noisy marginals keep most about the class at every epsilon."


def check(plan: Plan) -> None:
    """Refuse unknown names and options, before anything is paid."""
    private_algorithm(plan)
    refuse_guarded(plan.columns, "a private release")


def epsilon_of_plan(plan: Plan) -> Fraction:
    """The budget, exactly as it is written."""
    others = [key for key in plan.privacy if key not in KEYS]
    if others:
        raise PlanError(
            f"privacy.{others[0]}: a differentially private release meets its epsilon and nothing else; "
            f"here are {listed(KEYS)} only"
        )
    if plan.privacy.get("domains", "declared") not in ("declared", "observed"):
        raise PlanError(f"privacy.domains must be declared or observed, not {plan.privacy['domains']!r}")
    if plan.algorithm.seed is not None:
        raise PlanError("algorithm.seed: whoever knows the seed can take the noise away; a private release has none")
    try:
        return exactly("privacy.epsilon", plan.privacy["epsilon"])
    except ParameterError as error:
        raise PlanError(str(error)) from None


def private_algorithm(plan: Plan) -> tuple[str, Any, str]:
    """The plan's algorithm with its options and its epsilon, and why.

    Where a person has up to m rows, a mechanism that protects single rows gets epsilon / m (group privacy).
    """
    epsilon, known = epsilon_of_plan(plan), catalog().solving("private")
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
    return (
        name,
        configured(
            known[name], options, fixed={"epsilon": epsilon / plan.input.rows_per_unit}, beside=("name", "output")
        ),
        why,
    )
