"""What the raw table reaches of models that a plan does not ask for yet."""

from __future__ import annotations

from typing import Any

from sfumato.bundle.manifest import plain
from sfumato.ground.errors import SfumatoError
from sfumato.ground.strict_toml import read_toml
from sfumato.verification.judging import claim
from sfumato.workflow.catalog.lookup import catalog, parameters
from sfumato.workflow.catalog.parts import ModelPart
from sfumato.workflow.catalog.requirement import requirement
from sfumato.workflow.kinds.table.preparing import Prepared, context_of
from sfumato.workflow.plan.plan import Plan


def offered(prepared: Prepared, plan: Plan) -> list[dict[str, Any]]:
    """A claim of every model that can be judged as the catalog's own example asks for it; others are left out."""
    asked = {model.name for model in prepared.models}
    parts = [part for part in catalog().models.values() if "table" in part.judges and part.make.name not in asked]
    return [found for part in parts if (found := _offered(part, prepared, plan)) is not None]


def _offered(part: ModelPart, prepared: Prepared, plan: Plan) -> dict[str, Any] | None:
    problem = prepared.problem
    kinds = {name: column.type for name, column in plan.columns.items()}
    raw, _ = problem.cells.project(problem.cells.quasi)
    try:
        context = context_of(plan, prepared.source, prepared.schema, kinds)
        model = requirement(read_toml(part.plan), context, catalog())[0]
        if not {*model.columns} <= {*prepared.counted} or (part.needs and problem.cells.population is None):
            return None
        found = claim(model, parameters(model), raw, problem.reading)
    except (SfumatoError, ValueError):
        return None
    told: dict[str, Any] = plain(found.to_json())
    return told
