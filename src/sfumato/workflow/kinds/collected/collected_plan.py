"""What a plan of collected answers can say."""

from __future__ import annotations

from sfumato.collect.published_estimates import Reconstruction
from sfumato.collect.specification import Specification
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.ground.opening import read_text
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.kinds.collected import RECONSTRUCT
from sfumato.workflow.kinds.kind import Asked
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan

BESIDE = (Role.KEEP, Role.TARGET)
"""The roles of columns that stand beside the answers; no coin was thrown for them."""


def algorithm_of(plan: Plan) -> Reconstruction:
    """The algorithm with the plan's options."""
    made: Reconstruction = configured(
        catalog().algorithms[RECONSTRUCT], plan.algorithm.options, beside=("name", "seed")
    )
    return made


def check(plan: Plan) -> None:
    """Refuse what a release of collected answers cannot do."""
    if plan.algorithm.name not in ("auto", RECONSTRUCT):
        raise PlanError(
            f"algorithm.name: {plan.algorithm.name!r} does not take randomized answers; with [collection] it is "
            f"{RECONSTRUCT!r}, or leave it out"
        )
    algorithm_of(plan)
    if plan.privacy:
        raise PlanError(
            f"privacy.{next(iter(plan.privacy))}: answers are protected by the coins of their specification, and by no "
            "model of groups; leave [privacy] out"
        )
    refuse_guarded(plan.columns, "a release of collected answers")
    for name, column in plan.columns.items():
        if column.role not in (*BESIDE, Role.DROP):
            raise PlanError(
                f"columns.{name}.role: a column beside the answers is published as it is ('keep' or 'target') or not "
                f"at all ('drop'), not '{column.role}'; answers need no [columns], the specification describes them"
            )
    algorithm, source = plan.algorithm, plan.input
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: no answer is suppressed; remove the key")
    if source.unit is not None or source.population is not None:
        raise PlanError("input: collected answers know neither a unit nor a population; remove the key")
    if plan.itemized:
        raise PlanError(f"columns.{plan.itemized[0]}.type: paths and sets cannot stand beside answers; drop the column")
    if plan.attack.control is not None or plan.attack.earlier or plan.attack.group is not None:
        raise PlanError(
            "attack: attacks on collected answers know no control, group or earlier bundles; remove the key"
        )
    refuse_attacks(plan.attack.attacks, "collected")
    refuse_attacks(plan.attack.accept, "collected", key="accept")


def begin(asked: Asked) -> Asked:
    """Refuse a specification that is none before the answers are read."""
    specification_of(asked.plan)
    return asked


def specification_of(plan: Plan) -> Specification:
    """The specification that the plan names."""
    if plan.collection is None:
        raise PlanError("collection.spec is missing; name the specification that `sfumato collect design` wrote")
    plan.collection.refuse_files(plan.folder)
    path = plan.folder / plan.collection.spec
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as fault:
        raise PlanError(f"collection.spec: {path} cannot be read: {fault}") from None
    return Specification.parse(text, where=f"collection.spec: {path}")
