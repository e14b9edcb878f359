"""What a plan for paths and sets can say, as far as that needs no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError, listed, nearest
from sfumato.workflow.attacking import refuse_attacks
from sfumato.workflow.catalog.lookup import catalog, parameters
from sfumato.workflow.catalog.options import configured
from sfumato.workflow.catalog.parts import Ancestors, Context, Costs
from sfumato.workflow.catalog.requirement import refuse_keys, requirement
from sfumato.workflow.plan.column_plan import refuse_guarded
from sfumato.workflow.plan.domain_plan import refuse_total
from sfumato.workflow.plan.plan import Plan

if TYPE_CHECKING:
    from sfumato.workflow.profile.profiling import Profile

OTHERWISE = "paths and sets are judged by what somebody knows of them"
_PATHS = "Chosen by auto: a column has paths, whose frequent sequences it keeps."
_SETS = "Chosen by auto: columns have sets, and no paths."


def check(plan: Plan) -> None:
    """Refuse unknown names and options, and parameters that no table could make right."""
    item_algorithm(plan)
    refuse_guarded(plan.columns, "a release of paths or sets")
    if plan.privacy:
        refuse_total(plan.columns, "a release of paths or sets")
    if plan.input.unit is not None:
        raise PlanError(
            "input.unit: with paths and sets a record is a person. Gather the rows of each person into one record, by "
            "columns.NAME.long with id"
        )
    for name in plan.itemized:
        if plan.columns[name].role is not Role.QUASI:
            raise PlanError(
                f"columns.{name}.role: a column of type {plan.columns[name].type} is what others may know; make it "
                "'quasi', or 'drop'"
            )
    refuse_keys(plan.privacy, tuple(catalog().builders("items")), OTHERWISE)
    known = catalog().attacking("items")
    strange = [name for name in plan.attack.attacks if name not in ("all", *known)]
    if strange:
        raise PlanError(f"attack.attacks: {strange[0]!r} is not made on paths and sets; there is {listed(known)}")
    if plan.attack.control is not None:
        raise PlanError("attack.control: the attack on paths and sets has no control run; remove the key")
    if plan.attack.earlier:
        raise PlanError("attack.earlier: paths and sets are not laid over earlier bundles; remove the key")
    refuse_attacks(plan.attack.accept, "items", key="accept")
    if plan.privacy:
        item_models(plan.privacy, [name for name, column in plan.columns.items() if column.role is Role.SENSITIVE])


def item_models(privacy: Mapping[str, Any], sensitive: Sequence[str]) -> tuple[Any, ...]:
    """Every model that the [privacy] table asks for; ``sensitive`` are the sensitive columns."""
    context = Context(quasi=(), sensitive=tuple(sensitive), published=(), paths=_no_paths, costs=_no_costs)
    return requirement(privacy, context, catalog(), kind="items", otherwise=OTHERWISE)


def _no_paths(column: str) -> Ancestors:
    _none(column)


def _no_costs(column: str, file: str | None) -> Costs:
    _none(column)


def _none(column: str) -> NoReturn:
    raise PlanError(f"columns.{column}: models of paths and sets read no tree over sensitive values")


def item_algorithm(plan: Plan) -> tuple[str, Any, str]:
    """The plan's algorithm with its options, and why."""
    name, why = plan.algorithm.name, "Named in the plan."
    known = catalog().solving("items")
    if name == "auto":
        paths = any(plan.columns[one].type == "trajectory" for one in plan.itemized)
        name, why = ("trajectory", _PATHS) if paths else ("sets", _SETS)
    if name not in known:
        raise PlanError(
            f"algorithm.name: {name!r} does not take columns of type set or trajectory{nearest(name, known)} "
            f"For them there are auto, {listed(known)}"
        )
    if plan.algorithm.max_suppressed:
        raise PlanError("algorithm.max_suppressed: here items are left out, never whole records; remove the key")
    if plan.algorithm.suppressed != "remove" or plan.algorithm.exempt_suppressed:
        raise PlanError("algorithm.suppressed: here items are left out, never whole records; remove the key")
    if plan.metric != "loss":
        raise PlanError(
            f"utility.metric: {plan.metric!r} judges columns of a table; paths and sets are measured by the frequent "
            "sets they keep (algorithm.support)"
        )
    return name, configured(known[name], plan.algorithm.options, beside=("name", "seconds", "seed")), why


def draft(found: Profile) -> list[str]:
    """The requirement of a drafted plan: whoever knows two items finds five records."""
    k = max(min(5, found.rows), 1)
    privacy = ["[privacy]", f"km = {{ k = {k}, m = 2 }}  # or lkc, with a sensitive column"]
    return [*privacy, "", "[algorithm]", 'name = "auto"']


class ItemModels:
    """The models of paths and sets, as a verifier needs them."""

    def model(self, name: str, given: Mapping[str, Any]) -> Any:
        """A model from its name and its parameters as the manifest has them."""
        return catalog().model(name, given)

    def asked(self, plan: Mapping[str, Any], sensitive: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
        """The models that a manifest's plan asks for."""
        return [(model.name, parameters(model)) for model in item_models(plan["privacy"], sensitive)]
