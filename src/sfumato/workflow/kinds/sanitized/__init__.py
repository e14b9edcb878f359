"""Sets that no longer yield what the steward wants to hide: plans that ask for ``hidden_rules``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

KEY = "hidden_rules"
"""The key of [privacy] by which a plan asks for this kind; asking costs no import."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return KEY in plan.privacy
