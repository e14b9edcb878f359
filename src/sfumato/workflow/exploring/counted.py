"""What every table under a plan can be asked; each kind of release answers what it can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.ground.errors import PlanError

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


class Counted:
    """A table under a plan of a kind that has no forms of its own."""

    def __init__(self, plan: Plan) -> None:
        """Nothing is counted yet."""
        self.plan = plan

    def reached(self) -> list[dict[str, Any]]:
        """How far the raw table is from each model that the plan asks for."""
        return []

    def offered(self) -> list[dict[str, Any]]:
        """What the raw table reaches of models that the plan does not ask for."""
        return []

    def unreachable(self) -> str | None:
        """Why no release can be made, where that shows without a search."""
        return None

    def fitting(self) -> dict[str, Any]:
        """Which algorithms can be asked, and what `auto` stands for."""
        return {"algorithms": [], "auto": self.plan.algorithm.name, "why": "The plan names it."}

    def around(self, levels: Mapping[str, int]) -> dict[str, Any]:
        """A node of the lattice with its neighbours."""
        raise PlanError("algorithm: a release of this kind has no lattice of levels")
