"""What parties agree on before they make a private release together: a plan with declared domains, and the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from sfumato.budget.events import Event, written
from sfumato.collaborate.mining.asked_columns import refuse_strange
from sfumato.collaborate.noisy.many_parties import LEAST as MANY
from sfumato.collaborate.noisy.summed_noise import refuse_colluding
from sfumato.data.table import Table
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, SfumatoError, listed
from sfumato.noise.noise_shares import LEAST
from sfumato.publish.diffgen import DiffGen
from sfumato.publish.marginals import Marginals
from sfumato.publish.noisy_table import PrivateTable
from sfumato.workflow.joint_private.dry_runs import smallest_part
from sfumato.workflow.kinds.private.declared import declared_table
from sfumato.workflow.kinds.private.private_budget import foreseen
from sfumato.workflow.kinds.private.private_plan import private_algorithm
from sfumato.workflow.plan.plan import Plan

KEYS = ("input", "columns", "privacy", "algorithm", "output", "noise")
"""What the parameters may say: as in a plan, and how noise is shared."""
_KNOWN = {
    "input": ("missing", "on_missing"),
    "privacy": ("epsilon",),
    "noise": ("colluding",),
    "output": ("format", "escape_formulas"),
    "algorithm": ("name", "specializations", "score", "consistent", "kept", "inner", "bins", "workload", "output"),
}
ALGORITHMS = {True: ("diffgen", "marginals"), False: ("diffgen",)}
"""What three or more parties can do, and what two can."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateAsked:
    """The terms of a joint private release, understood."""

    plan: Plan
    """The plan; its domains are declared."""
    algorithm: DiffGen | Marginals
    """The algorithm with its options."""
    empty: PrivateTable
    """The declared domains, without any row."""
    parties: int
    """How many take part."""
    colluding: int
    """How many of them may put together what they know, without epsilon being exceeded."""

    @property
    def epsilon(self) -> Fraction:
        """The whole budget."""
        found: Fraction = self.algorithm.epsilon
        return found


def read_private(tree: Mapping[str, Any], names: Sequence[str], *, beside: Sequence[str] = ()) -> PrivateAsked:
    """The plan that the parameters of a session describe; ``beside`` are keys that the protocol reads itself."""
    refuse_strange(tree, (*KEYS, *beside))
    for key, known in _KNOWN.items():
        if isinstance(tree.get(key), Mapping):
            refuse_strange(tree[key], known, f"parameters.{key}")
    noise = tree.get("noise", {})
    if not isinstance(noise, Mapping):
        raise ParameterError(f"parameters.noise must be a table such as {{ colluding = 1 }}, not {noise!r}")
    try:
        colluding = noise.get("colluding", 1)
        _refuse_noise(colluding, len(names))
        written_plan = _as_plan(tree, len(names))
        _refuse_algorithm(written_plan, len(names))
        plan = Plan.parse(written_plan)
        for name, column in plan.columns.items():
            _refuse_column(f"columns.{name}", column)
        return _understood(plan, len(names), colluding)
    except SfumatoError as error:
        raise ParameterError(f"parameters.{error}") from None


def cost_of(asked: PrivateAsked) -> Event:
    """What taking part costs a person: the epsilon that was agreed on."""
    return foreseen(asked.plan)


def _as_plan(tree: Mapping[str, Any], parties: int) -> dict[str, Any]:
    """The plan's own keys; how parties choose follows from their number."""
    found = {key: tree[key] for key in KEYS if key in tree and key != "noise"}
    columns = found.get("columns")
    if isinstance(columns, Mapping):
        found["columns"] = {
            name: {key: value for key, value in one.items() if key != "unit"} if isinstance(one, Mapping) else one
            for name, one in columns.items()
        }
    said = found.get("algorithm", {})
    if isinstance(said, Mapping):
        name = said.get("name", "diffgen")
        many: dict[str, Any] = {"choosing": "declared" if name == "marginals" else "counts"} if parties >= MANY else {}
        found["algorithm"] = {"name": name, **({"score": "max"} if name == "diffgen" else {}), **said, **many}
    return found


def _refuse_noise(colluding: Any, parties: int) -> None:
    try:
        refuse_colluding(colluding, parties)
    except ParameterError as error:
        raise ParameterError(f"noise.{error}") from None


def _refuse_algorithm(tree: Mapping[str, Any], parties: int) -> None:
    privacy, algorithm = tree.get("privacy", {}), tree.get("algorithm")
    if not isinstance(privacy, Mapping) or privacy.get("epsilon") is None:
        raise ParameterError("privacy.epsilon is missing; say how much this release may cost a person")
    if not isinstance(algorithm, Mapping):
        raise ParameterError(f'algorithm must be a table such as {{ name = "diffgen" }}, not {algorithm!r}')
    name, known = algorithm["name"], ALGORITHMS[parties >= MANY]
    if name not in known:
        why = "" if parties >= MANY else "; two parties cannot add up noisy counts without telling their own"
        raise ParameterError(f"algorithm.name must be {listed(known)} for {parties} parties, not {name!r}{why}")
    if algorithm.get("score", "max") != "max":
        raise ParameterError(
            f'algorithm.score must be "max", not {algorithm["score"]!r}: parties compare sums of whole counts'
        )


def _refuse_column(where: str, column: Any) -> None:
    if column.role not in (Role.QUASI, Role.TARGET):
        raise ParameterError(f"{where}.role must be quasi or target, not {str(column.role)!r}: name what is released")
    if column.hierarchy is not None and "file" in column.hierarchy:
        raise ParameterError(f"{where}.hierarchy.file: parties agree on what the session file says; write the tree")
    if column.domain_from not in ("declared", "public"):
        raise ParameterError(f"{where}.domain_from: parties must know the domain beforehand; declare it")
    if column.outside == "refuse":
        raise ParameterError(f'{where}.outside: a refusal would tell the others of one value; use "clamp" or "drop"')
    if column.type == "set":
        raise ParameterError(f"{where}.type: parts of sets are tested one by one, which parties cannot do together")


def _understood(plan: Plan, parties: int, colluding: int) -> PrivateAsked:
    """Whatever would be refused of every table is refused here, on a table without rows."""
    none = pl.DataFrame(schema=dict.fromkeys(plan.columns, pl.String))
    empty = declared_table(plan, Table(frame=none, source="no rows", missing=plan.input.missing))
    _, algorithm, _ = private_algorithm(plan)
    least = smallest_part(algorithm, empty)
    if least < LEAST:
        raise ParameterError(
            f"privacy.epsilon is too small for so many columns: a count would cost {written(least)}, and shares of "
            f"noise are drawn from {written(LEAST)} on; use fewer columns or more epsilon"
        )
    return PrivateAsked(plan=plan, algorithm=algorithm, empty=empty, parties=parties, colluding=colluding)
