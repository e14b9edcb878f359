"""What a plan for a sanitized release can say, as far as that needs no table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.bundle.rule_commitments import KEY, HiddenRules
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.group.sensitive_patterns import Thresholds
from sfumato.verification.consistency import AUTO
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan.plan_table import Keys

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


def longest_of(said: Mapping[str, Any]) -> int:
    """The most items of a set that is looked after."""
    found = Keys.of(said, f"privacy.{KEY}").whole("longest") if "longest" in said else LONGEST
    if found is None or found < 1:
        raise PlanError(f"privacy.{KEY}.longest must be at least 1, not {found}")
    return found


def rules_of(plan: Plan) -> HiddenRules:
    """What is to be hidden, from the steward's file."""
    name = asked_for(plan).required_text("file")
    return HiddenRules.load(plan.folder / name, where=f"privacy.{KEY}.file")


def algorithm_of(plan: Plan) -> Any:
    """The algorithm with the plan's options."""
    name, known = plan.algorithm.name, catalog().solving("sanitized")
    if name == AUTO:
        from sfumato.publish.sanitize.auto_hiding import AutoHiding

        if plan.algorithm.options:
            key = next(iter(plan.algorithm.options))
            raise PlanError(f"algorithm.{key}: auto takes no options; name an algorithm such as 'hide-items'")
        return AutoHiding()
    if name not in known:
        raise PlanError(
            f"algorithm.name: {name!r} hides no rules{nearest(name, known)} For privacy.{KEY} there are auto, "
            f"{listed(known)}"
        )
    return configured(known[name], plan.algorithm.options, beside=("name", "seconds", "seed"))


def check(plan: Plan) -> None:
    """Refuse what hiding rules cannot do."""
    others = [key for key in plan.privacy if key != KEY]
    if others:
        raise PlanError(f"privacy.{others[0]}: records that hide rules are judged by no model; {KEY} stands alone")
    thresholds_of(plan)
    longest_of(asked_for(plan).table)
    asked_for(plan).required_text("file")
    algorithm_of(plan)
    refuse_guarded(plan.columns, "a release that hides rules")
    _refuse_columns(plan)
    algorithm = plan.algorithm
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: hiding rules suppresses no rows; remove the key")
    if plan.input.on_missing == "drop":
        raise PlanError("input.on_missing: a missing set is an empty one, and no row is left out; remove the key")
    if plan.input.unit is not None or plan.input.population is not None:
        raise PlanError("input: hiding rules knows neither a unit nor a population; remove the key")
    if plan.attack.control is not None or plan.attack.earlier:
        raise PlanError("attack: the attack on hidden rules has no control run and no earlier bundles; remove the key")
    refuse_attacks(plan.attack.attacks, "sanitized")
    refuse_attacks(plan.attack.accept, "sanitized", key="accept")


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
