"""What a plan for a condensed release can say, as far as that needs no table."""

from __future__ import annotations

from sfumato.bundle.condensed_names import KEY
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, listed
from sfumato.publish.condensation.condense import Condense
from sfumato.verification.consistency import AUTO, NAMED
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.kinds.condensed import CONDENSE
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.plan import Plan

PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)
"""The roles whose columns are published, all treated alike."""
_WHY = "Chosen by auto: it is the algorithm that draws records from groups."


def algorithm_of(plan: Plan) -> Condense:
    """The algorithm with the plan's options and the plan's k."""
    part = catalog().algorithms[CONDENSE]
    made: Condense = configured(part, plan.algorithm.options, fixed={"k": k_of(plan)}, beside=("name", "seed"))
    return made


def k_of(plan: Plan) -> int:
    """The fewest records of a group that the plan asks for."""
    if KEY not in plan.privacy:
        raise PlanError(f"privacy.{KEY} is missing; condense needs it, for example {KEY} = 20: the fewest records that "
                        "a group may have")  # fmt: skip
    k = plan.privacy[KEY]
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise PlanError(f"privacy.{KEY} must be a whole number of at least 2, not {k!r}")
    return k


def why(plan: Plan) -> str:
    """Why this algorithm."""
    return NAMED if plan.algorithm.name == CONDENSE else _WHY


def check(plan: Plan) -> None:
    """Refuse what condensation cannot do."""
    others = [key for key in plan.privacy if key != KEY]
    if others:
        raise PlanError(
            f"privacy.{others[0]}: drawn records are judged by no model; {KEY} stands alone, or use another algorithm"
        )
    if plan.algorithm.name not in (CONDENSE, AUTO):
        raise PlanError(
            f"privacy.{KEY}: {plan.algorithm.name} does not make such groups; set algorithm.name = {CONDENSE!r}"
        )
    condense = algorithm_of(plan)
    refuse_guarded(plan.columns, "a condensed release")
    _refuse_columns(plan, condense)
    algorithm = plan.algorithm
    if algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed:
        raise PlanError("algorithm.max_suppressed: condensation leaves no record out; remove the key")
    if plan.input.unit is not None or plan.input.population is not None:
        raise PlanError("input: condensation knows neither a unit nor a population; remove the key")
    if plan.attack.earlier or plan.attack.group is not None:
        raise PlanError("attack: drawn records are compared with no earlier bundle and no household; remove the key")
    plan.attack.refuse_files(plan.folder)
    refuse_attacks(plan.attack.attacks, "condensed")
    refuse_attacks(plan.attack.accept, "condensed", key="accept")


def _refuse_columns(plan: Plan, condense: Condense) -> None:
    """Refuse columns that no drawn record can have, and options about columns that are not there."""
    if plan.itemized:
        raise PlanError(f"columns.{plan.itemized[0]}.type: paths and sets cannot be condensed; drop the column")
    for name, column in plan.columns.items():
        if column.pseudonym is not None:
            raise PlanError(
                f"columns.{name}.pseudonym: a drawn record is nobody's and has no pseudonym; remove the key"
            )
    published = [name for name, column in plan.columns.items() if column.role in PUBLISHED]
    if not published:
        raise PlanError("columns: no column is published; give one a role such as 'quasi'")
    targets = [name for name in published if plan.columns[name].role is Role.TARGET]
    if len(targets) > 1:
        raise PlanError(f"columns: only one column can be the target, not {', '.join(targets)}")
    if condense.per_class and not targets:
        raise PlanError("algorithm.per_class: no column has role = 'target', so there are no classes")
    for name in condense.bounds:
        if name not in published:
            raise PlanError(f"algorithm.bounds: {name!r} is not published; here are {listed(published)}")
