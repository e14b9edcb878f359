"""What a plan for a published tree can say, as far as that needs no table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.errors import ParameterError, PlanError, listed
from sfumato.dp.accounting import KEYS
from sfumato.mining.leaf_privacy import (
    TreeAllOf,
    TreeKAnonymity,
    TreeRecursiveDiversity,
    TreeRequirement,
    TreeSimpleDiversity,
    requirement_of,
)
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import configured
from sfumato.pipeline.plan.columns import ColumnPlan, refuse_profiled, refuse_total
from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.plan.keys import Keys
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import TreePlan
from sfumato.tables.schema import Categories, Domain, Numbers, Role

ATP, LDM, NOISY = "atp", "ldm", "noisy-leaves"
"""The algorithms that publish trees."""
_GROUPS = ("k_anonymity", "l_diversity")
_PAID = (*KEYS, "ledger", "analyst")
_ROLES = (Role.QUASI, Role.TARGET, Role.DROP, Role.IDENTIFIER)
_WHY = {
    ATP: "Chosen by auto: pruning keeps more of a tree than growing it within the requirement.",
    NOISY: "Chosen by auto: it is the algorithm whose counts are noisy.",
}


def is_noisy(plan: Plan) -> bool:
    """Whether counts are to be differentially private."""
    return any(key in plan.privacy for key in KEYS)


def tree_of(plan: Plan) -> TreePlan:
    """The plan's [tree]."""
    return plan.tree or TreePlan()


def target_of(plan: Plan) -> str:
    """The class column."""
    return next(name for name, column in plan.columns.items() if column.role is Role.TARGET)


def attributes_of(plan: Plan) -> tuple[str, ...]:
    """The columns that trees may ask for."""
    return tuple(name for name, column in plan.columns.items() if column.role is Role.QUASI)


def algorithm_of(plan: Plan) -> tuple[str, Any, str]:
    """The algorithm with the plan's options, and why."""
    noisy = is_noisy(plan)
    name = plan.algorithm.name
    why = "Named in the plan."
    if name == "auto":
        name = NOISY if noisy else ATP
        why = _WHY[name]
    if name not in ((NOISY,) if noisy else (ATP, LDM)):
        known = NOISY if noisy else f"{ATP} or {LDM}"
        raise PlanError(
            f"algorithm.name: {name!r} does not make such a tree; with [tree] and this [privacy] it is {known}"
        )
    fixed: dict[str, Any] = {}
    if noisy:
        from sfumato.pipeline.methods.private.plan import budget_of

        fixed = {"epsilon": None, "rho": None, **budget_of(plan)}
    algorithm = configured(catalog().algorithms[name], plan.algorithm.options, fixed=fixed, other_keys=("name", "seed"))
    return name, algorithm, why


def parts_of(plan: Plan) -> tuple[TreeRequirement, ...]:
    """The requirements that every leaf must meet, as [privacy] asks for them."""
    privacy, parts = Keys.of(plan.privacy, "privacy"), list[TreeRequirement]()
    try:
        if "k_anonymity" in privacy.table:
            parts.append(TreeKAnonymity(k=privacy.whole("k_anonymity") or 0))
        if "l_diversity" in privacy.table:
            parts.append(_diversity(Keys.of(privacy.table["l_diversity"], "privacy.l_diversity"), tree_of(plan)))
    except ParameterError as error:
        raise PlanError(f"privacy.{error}") from None
    if not parts:
        raise PlanError(
            "privacy: nothing is asked of the leaves; give k_anonymity, l_diversity of kind 'recursive' or 'simple', "
            "or epsilon for noisy counts"
        )
    return tuple(parts)


def requirement(plan: Plan) -> TreeRequirement:
    """All of them as one."""
    return requirement_of(parts_of(plan))


def single(requirement: TreeRequirement) -> tuple[TreeRequirement, ...]:
    """The parts of a requirement."""
    return requirement.parts if isinstance(requirement, TreeAllOf) else (requirement,)


def _diversity(keys: Keys, tree: TreePlan) -> TreeRequirement:
    keys.only("kind", "c", "l", "basis")
    kind = keys.one_of("kind", ("recursive", "simple"), "")
    if kind == "simple":
        if {"c", "basis"} & set(keys.table):
            raise PlanError(f"{keys.path}: simple l-diversity has no c and no basis; it looks at hit and miss alone")
        return TreeSimpleDiversity(l=keys.number("l") or 0)
    bases = ("counts",) if tree.told == "counts" else ("any", "hits")
    basis = keys.one_of("basis", ("counts", "any", "hits"), bases[0])
    if basis not in bases:
        why = (
            "leaves that tell counts are judged by them" if tree.told == "counts" else "leaves tell hit and miss alone"
        )
        raise PlanError(f"{keys.at('basis')}: {why}; with tree.told = {tree.told!r} it is {' or '.join(bases)}")
    return TreeRecursiveDiversity(c=keys.number("c") or 0.0, l=keys.whole("l") or 0, basis=basis)  # type: ignore[arg-type]


def domains_of(plan: Plan) -> dict[str, Domain]:
    """The domains that the plan declares; others are read off the table."""
    domains: dict[str, Domain] = {}
    for name, column in plan.columns.items():
        domain = _domain(plan, name, column) if column.role in (Role.QUASI, Role.TARGET) else None
        if domain is not None:
            domains[name] = domain
    return domains


def _domain(plan: Plan, name: str, column: ColumnPlan) -> Domain | None:
    if column.values:
        return Categories(values=column.values)
    if column.hierarchy is None:
        return None
    domain = builder(column.hierarchy, f"columns.{name}.hierarchy", plan.folder).declared()
    if isinstance(domain, Numbers) and column.type in ("text", "category"):
        raise PlanError(
            f"columns.{name}.hierarchy: it declares numbers, and the column has type = '{column.type}'; declare its "
            "values, or remove the type"
        )
    if isinstance(domain, Numbers) and column.role is Role.QUASI:
        return domain
    return Categories(values=domain.values) if isinstance(domain, Categories) else None


def check(plan: Plan) -> None:
    """Refuse what a published tree cannot do."""
    _refuse_columns(plan)
    known = _PAID if is_noisy(plan) else _GROUPS
    others = [key for key in plan.privacy if key not in known]
    if others:
        raise PlanError(f"privacy.{others[0]}: a published tree knows {listed(known)} here; remove the key")
    if is_noisy(plan):
        _check_noisy(plan)
    else:
        parts_of(plan)
        refuse_total(plan.columns, "a published tree")
    algorithm_of(plan)
    if plan.input.rows_per_unit > 1 and not is_noisy(plan):
        raise PlanError(
            "input.rows_per_unit: leaves count people, one record each; only noisy counts use several, remove the key"
        )
    if plan.format is not None or plan.escape_formulas:
        raise PlanError("output: a tree is written as JSON; remove the section")


def _check_noisy(plan: Plan) -> None:
    """Refuse what would make noisy counts say more than was paid for."""
    refuse_profiled(plan.columns, "a tree with noisy counts")
    tree, options = tree_of(plan), plan.algorithm.options
    if (tree.structure is None) == ("split_by" not in options):
        raise PlanError(
            "tree.structure: splits that were learnt from the records would tell of them; name the file of a tree that "
            "was made without them, or algorithm.split_by, one of both"
        )
    if plan.algorithm.seed is not None:
        raise PlanError("algorithm.seed: whoever knows the seed can take the noise away; noisy counts have none")
    if plan.attack.earlier or plan.attack.control is not None:
        raise PlanError(
            "attack: a release of noisy counts shows no attack, because no epsilon covers what it finds; remove the key"
        )
    if tree.told != "counts":
        raise PlanError("tree.told: leaves with noisy counts show every class; remove the key")
    if tree.structure is not None:
        return
    domains: Mapping[str, Domain] = domains_of(plan)
    for name in (*attributes_of(plan), target_of(plan)):
        if name not in domains:
            raise PlanError(
                f"columns.{name}: noisy counts need a declared domain: values = [..], or for numbers "
                '{ kind = "grown", low = .., high = .. } as hierarchy'
            )


def _refuse_columns(plan: Plan) -> None:
    targets = [name for name, column in plan.columns.items() if column.role is Role.TARGET]
    if len(targets) != 1:
        raise PlanError(
            f"columns: one column must have role = 'target', the class that leaves name, not {len(targets)}"
        )
    for name, column in plan.columns.items():
        if column.role not in _ROLES:
            raise PlanError(
                f"columns.{name}.role: a tree asks for columns with role 'quasi' and names the class, 'target'; others "
                f"are dropped ('drop'), not '{column.role}'"
            )
        if column.pseudonym is not None or column.domain_from == "discover":
            raise PlanError(f"columns.{name}: a tree knows no pseudonyms and looks for no domains; remove the key")
    if not attributes_of(plan):
        raise PlanError("columns: no column has role = 'quasi'; name those that the tree may ask for")
