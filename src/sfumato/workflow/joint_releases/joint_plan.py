"""What parties agree on before they make a release together: a plan in which nothing is read off anybody's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from sfumato.collaborate.mining.asked_columns import refuse_strange
from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, SfumatoError, listed
from sfumato.group.added_cuts import AddedSources
from sfumato.group.weighted_cells import JointCells
from sfumato.publish.problem import Problem
from sfumato.publish.top_down import TopDown
from sfumato.publish.top_down.splits import Score
from sfumato.workflow.catalog.built_in import ATTACKS
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.joint_releases.declared_rows import declared_domains, declared_rows
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.kinds.table.preparing import Prepared, prepare
from sfumato.workflow.kinds.table.table_plan import algorithm_of
from sfumato.workflow.plan.plan import Plan

KEYS = ("input", "columns", "privacy", "utility", "algorithm", "attack", "output")
"""What the parameters may say, as in a plan."""
_INPUT = ("missing", "on_missing")
_ALGORITHM = ("name", "score", "splits", "steps")
_ATTACK = ("run", "attacks", "trials", "max_risk", "seconds", "accept")
_OUTPUT = ("format", "escape_formulas")
_RELEASED = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
FROM_RELEASE = (
    "linkage", "lkc-adversary", "homogeneity", "background", "skewness", "similarity", "proximity", "protected-values",
    "minimality", "definetti", "foreground",
)  # fmt: skip
"""Attacks by somebody who sees a person's values only through the labels of the release: they need no original."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseAsked:
    """The plan of a joint release, understood."""

    plan: Plan
    """The plan; its domains are declared."""
    domains: Mapping[str, ObservedDomain]
    """Every declared value of each released column."""
    search: TopDown
    """Top-down specialization with the plan's options."""
    score: Score
    """By which labels are chosen."""
    problem: Problem
    """Columns, hierarchies and models, without any row."""
    watched: tuple[str, ...]
    """The columns whose values are counted in groups while it is searched: those that models watch."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order in which they are searched."""
        return self.columns(Role.QUASI)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return self.columns(Role.SENSITIVE, Role.TARGET)

    @property
    def target(self) -> str | None:
        """The class column, if there is one."""
        return next(iter(self.columns(Role.TARGET)), None)

    def columns(self, *roles: Role) -> tuple[str, ...]:
        """The columns of some roles."""
        return tuple(name for name, column in self.plan.columns.items() if column.role in roles)


def read_release(tree: Mapping[str, Any], *, beside: Sequence[str] = ()) -> ReleaseAsked:
    """The plan that the parameters of a session describe; ``beside`` are keys that the protocol reads itself."""
    refuse_strange(tree, (*KEYS, *beside))
    for key, known in (("input", _INPUT), ("algorithm", _ALGORITHM), ("attack", _ATTACK), ("output", _OUTPUT)):
        if isinstance(tree.get(key), Mapping):
            refuse_strange(tree[key], known, f"parameters.{key}")
    try:
        plan = Plan.parse(_as_plan(tree))
        _refuse_plan(plan)
        return _understood(plan)
    except SfumatoError as error:
        raise ParameterError(f"parameters.{error}") from None


def _as_plan(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The plan's own keys: units are agreed on in words, and the search is named."""
    found = {key: tree[key] for key in KEYS if key in tree}
    columns = found.get("columns")
    if isinstance(columns, Mapping):
        found["columns"] = {
            name: {key: value for key, value in one.items() if key != "unit"} if isinstance(one, Mapping) else one
            for name, one in columns.items()
        }
    if isinstance(found.get("algorithm", {}), Mapping):
        found["algorithm"] = {"name": "top-down", **found.get("algorithm", {})}
    if isinstance(found.get("attack", {}), Mapping) and "attacks" not in found.get("attack", {}):
        found["attack"] = {**found.get("attack", {}), "attacks": _quick()}
    return found


def _quick() -> list[str]:
    return [part.name for part in ATTACKS if part.always("table") and part.name in FROM_RELEASE]


def _refuse_plan(plan: Plan) -> None:
    if kind_of(plan).name != "table":
        raise ParameterError(f"privacy: parties make releases of tables together, not of kind {kind_of(plan).name}")
    if plan.algorithm.name != "top-down":
        raise ParameterError(f"algorithm.name must be top-down, not {plan.algorithm.name!r}: it asks for counts only")
    if not plan.privacy:
        raise ParameterError("privacy must ask for a model, such as k_anonymity = 5")
    for name, column in plan.columns.items():
        if column.role not in _RELEASED:
            raise ParameterError(
                f"columns.{name}.role: {str(column.role)!r} is nothing that parties can count together; name only "
                f"columns that are released, as one of {listed([str(role) for role in _RELEASED])}"
            )
        if column.base:
            raise ParameterError(f"columns.{name}.base: parties count the values that the session file declares")
        if column.hierarchy is not None and "file" in column.hierarchy:
            raise ParameterError(
                f"columns.{name}.hierarchy.file: parties agree on what the session file says; write the tree there"
            )
    strange = [name for name in plan.attack.attacks if name not in FROM_RELEASE]
    if strange:
        raise ParameterError(
            f"attack.attacks: {listed(strange)} needs the original, which nobody holds; possible are "
            f"{listed(FROM_RELEASE, most=20)}"
        )


def _understood(plan: Plan) -> ReleaseAsked:
    """Whatever would be refused of every table is refused here, on rows that nobody has."""
    domains = declared_domains(plan)
    first = Table(
        frame=pl.DataFrame({name: [one.values[0]] for name, one in domains.items()}),
        source="a made-up row",
        missing=plan.input.missing,
    )
    trial = prepare(plan, declared_rows(plan, first, domains), None, catalog())
    search: TopDown = algorithm_of(plan, "top-down", catalog())[1]
    score = search.check(trial.problem, AddedSources(sources=(JointCells(cells=trial.problem.cells),)))
    watched = {name for model in trial.models for name in model.columns}
    if trial.problem.target is not None and "target" in trial.problem.metric.needs:
        watched.add(trial.problem.target)
    return ReleaseAsked(
        plan=plan,
        domains=domains,
        search=search,
        score=score,
        problem=replace(trial.problem, cells=trial.problem.cells.take(np.zeros(trial.problem.cells.count, np.bool_))),
        watched=tuple(name for name in domains if name in watched),
    )


def own_rows(asked: ReleaseAsked, table: Table) -> Prepared:
    """A party's own rows, counted by the declared codes; an empty table is refused.

    Of three parties one of which has no rows, each of the others would learn the other's counts from the sums.
    """
    return prepare(asked.plan, declared_rows(asked.plan, table, asked.domains), None, catalog())
