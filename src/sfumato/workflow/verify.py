"""Verification with the catalog of this installation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.release.published import Published
from sfumato.verify.bundle import Verification, verify_bundle
from sfumato.workflow.catalog import catalog, parameters
from sfumato.workflow.requirements import Ancestors, Context, Costs, requirement


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
    context = Context(
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        published=schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET, Role.KEEP),
        paths=lambda column: _paths(claims, column),
        costs=lambda column, file: _costs(claims, column),
    )
    return [(model.name, parameters(model)) for model in requirement(plan["privacy"], context)]


def _paths(claims: list[Mapping[str, Any]], column: str) -> Ancestors:
    found = _parameter(claims, column, "paths")
    return {value: tuple(above) for value, above in found["paths"].items()}


def _costs(claims: list[Mapping[str, Any]], column: str) -> Costs:
    found = _parameter(claims, column, "costs")
    return tuple(found["order"]), tuple(tuple(line) for line in found["costs"])


def _parameter(claims: list[Mapping[str, Any]], column: str, name: str) -> Mapping[str, Any]:
    for claim in claims:
        if claim["parameters"].get("column") == column and claim["parameters"].get(name):
            found: Mapping[str, Any] = claim["parameters"]
            return found
    raise PlanError(f"the manifest's claims have no {name} for column {column!r}")
