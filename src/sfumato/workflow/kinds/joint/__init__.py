"""What several parties computed together. No plan makes one: ``sfumato party run`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


def owns(plan: Plan) -> bool:
    """No plan is its own."""
    return False
