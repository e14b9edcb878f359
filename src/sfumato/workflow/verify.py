"""Verification with the catalog of this installation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.bundle.published import Published
from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.verification.checks import Verification
from sfumato.verification.verifying import verify_bundle
from sfumato.workflow.catalog import catalog, parameters
from sfumato.workflow.requirements import Context, Costs, requirement


def verify(folder: str | Path) -> Verification:
    """Re-read a bundle's data file and manifest, and re-check every claim."""
    return verify_bundle(Path(folder), catalog(), asked)


def asked(
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
        sensitive=schema.sensitive,
        published=schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP),
        paths=lambda column: {value: tuple(above) for value, above in stated.next(column, "paths")["paths"].items()},
        costs=lambda column, file: _costs(stated.next(column, "costs")),
    )
    return [(model.name, parameters(model)) for model in requirement(plan["privacy"], context)]


class _Stated:
    """The parameters of the claims, handed out in their order: the plan's requirements come in the same order."""

    def __init__(self, claims: list[Mapping[str, Any]]) -> None:
        self.left: list[Mapping[str, Any]] = [claim["parameters"] for claim in claims]

    def next(self, column: str, name: str) -> Mapping[str, Any]:
        """The next claim's parameters about a column that hold what is asked for."""
        for place, found in enumerate(self.left):
            if found.get("column") == column and found.get(name):
                del self.left[place]
                return found
        raise PlanError(f"the manifest's claims have no {name} for column {column!r}")


def _costs(found: Mapping[str, Any]) -> Costs:
    return tuple(found["order"]), tuple(tuple(line) for line in found["costs"])
