"""What a plan for a table can say, as far as that needs no table; and what a manifest's plan asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from sfumato.bundles.columns import Published
from sfumato.core.errors import PlanError
from sfumato.models.model import READINGS
from sfumato.pipeline.catalog.catalog import (
    GUARDED,
    Catalog,
    as_claimed,
    catalog,
    named,
    parameters,
    refuse_keys,
    requirement,
)
from sfumato.pipeline.catalog.parts import AlgorithmPart, Ancestors, Context, Costs, configured
from sfumato.pipeline.methods.table.problem import READING
from sfumato.pipeline.plan.columns import refuse_total
from sfumato.pipeline.plan.keys import Keys
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Role

if TYPE_CHECKING:
    from sfumato.pipeline.profile.profile import Profile

PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP)
AUTO = AlgorithmPart(name="auto", run=None)
"""Stands for the algorithm that is chosen when the problem is known; it has no options."""


def check(plan: Plan) -> None:
    """Refuse unknown names and options, and parameters that no table could make right."""
    parts = catalog()
    algorithm_of(plan, plan.algorithm.name, parts)
    if plan.privacy:
        refuse_total(plan.columns, "a release of a table")
    parts.metric(plan.metric)
    Keys.of(plan.privacy, "privacy").one_of("reading", READINGS, "strict")
    refuse_keys(plan.privacy, (*parts.builders("table"), *READING), "unknown key")
    _refuse_exact(plan)
    if plan.privacy:
        check_requirement(plan, plan.privacy, parts)


def _refuse_exact(plan: Plan) -> None:
    """Refuse other tables of exact values beside a column that is counted from a base level."""
    based = next((name for name, column in plan.columns.items() if column.base), None)
    attack_keys = [key for key in ("control", "earlier") if getattr(plan.attack, key)]
    if based is not None and attack_keys:
        raise PlanError(
            f"attack.{attack_keys[0]} compares exact values, and columns.{based}.base counts labels in their place; "
            "leave "
            "one of them out, or attack the written bundle with `sfumato attack`"
        )


def algorithm_of(plan: Plan, name: str, parts: Catalog) -> tuple[AlgorithmPart, Any]:
    """The algorithm of a name with the plan's options."""
    if name in parts.algorithms and parts.algorithms[name].solves != "table":
        needs = {"private": "privacy.epsilon", "items": "a column of type set or trajectory"}
        other = parts.algorithms[name].solves
        raise PlanError(
            f"algorithm.name: {name!r} needs {needs.get(other, f'a plan of kind {other}')}; this plan has none"
        )
    part = named(name, {"auto": AUTO, **parts.solving("table")}, "algorithm.name")
    return part, configured(part, plan.algorithm.options)


class _NeedsTable(Exception):
    """What is asked for can be judged only when the table is read."""


def check_requirement(plan: Plan, privacy: Mapping[str, Any], parts: Catalog) -> None:
    """Build the models that a [privacy] table asks for, as far as that needs no table and no file."""
    roles = {column: spec.role for column, spec in plan.columns.items()}

    def columns(*wanted: Role) -> tuple[str, ...]:
        return tuple(name for name, role in roles.items() if role in wanted)

    guarded = tuple(name for name, column in plan.columns.items() if column.guarded)
    context = Context(
        quasi=columns(Role.QUASI),
        sensitive=(*columns(Role.SENSITIVE), *guarded),
        published=columns(*PUBLISHED),
        paths=_later_paths,
        costs=_later_costs,
        guarded=guarded,
        tree=_later_paths,
    )
    try:
        requirement(privacy, context, parts, other_keys=READING)
    except _NeedsTable:
        return


def _later_paths(column: str) -> Ancestors:
    _later()


def _later_costs(column: str, file: str | None) -> Costs:
    _later()


def _later() -> NoReturn:
    raise _NeedsTable


def draft(profile: Profile) -> list[str]:
    """The requirement of a drafted plan."""
    lines = ["[privacy]", f"k_anonymity = {max(min(5, profile.rows), 1)}"]
    sensitive = [c for c in profile.columns if c.suggestion.role is Role.SENSITIVE]
    if sensitive and all(c.distinct + (c.missing > 0) >= 3 for c in sensitive):
        lines.append('l_diversity = { kind = "distinct", l = 2 }')
    return [*lines, "", "[utility]", 'metric = "loss"', "", "[algorithm]", 'name = "auto"', "max_suppressed = 0.05"]


def requested_models(
    plan: Mapping[str, Any], published: Published, claims: list[Mapping[str, Any]]
) -> list[tuple[str, dict[str, Any]]]:
    """The models that a manifest's plan asks for.

    Trees and cost matrices stand in the claims only (the plan names files, and the manifest names none); they are taken
    from there, everything else from the plan.
    """
    schema = published.schema
    stated = _Stated(claims)
    context = Context(
        quasi=schema.quasi,
        sensitive=(*schema.sensitive, *schema.guarded),
        published=schema.named(*PUBLISHED),
        paths=lambda column: {value: tuple(above) for value, above in stated.next(column, "paths")["paths"].items()},
        costs=lambda column, file: _costs(stated.next(column, "costs")),
        guarded=schema.guarded,
        tree=lambda column: _tree(claims, column),
    )
    models = requirement(plan["privacy"], context, catalog(), other_keys=READING)
    claimed = [as_claimed(model, context.published) for model in models]
    return [(model.name, parameters(model)) for model in claimed]


class _Stated:
    """The parameters of the claims, handed out in their order: the plan's requirements come in the same order."""

    def __init__(self, claims: list[Mapping[str, Any]]) -> None:
        self.left: list[Mapping[str, Any]] = [claim["parameters"] for claim in claims]

    def next(self, column: str, name: str) -> Mapping[str, Any]:
        """The next claim's parameters about a column that hold what is asked for."""
        for place, claim_parameters in enumerate(self.left):
            if claim_parameters.get("column") == column and claim_parameters.get(name):
                del self.left[place]
                return claim_parameters
        raise PlanError(f"the manifest's claims have no {name} for column {column!r}")


def _tree(claims: list[Mapping[str, Any]], column: str) -> Ancestors:
    """The tree over a guarded column: that of the first claim about it, so that all must have the same."""
    for claim in claims:
        guard = claim["parameters"].get(GUARDED)
        if guard is not None and guard["column"] == column:
            return {value: tuple(above) for value, above in guard["paths"].items()}
    raise PlanError(f"the manifest's claims have no tree for column {column!r}")


def _costs(parameters: Mapping[str, Any]) -> Costs:
    return tuple(parameters["order"]), tuple(tuple(line) for line in parameters["costs"])
