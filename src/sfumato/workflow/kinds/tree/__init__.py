"""Trees instead of rows: plans with a [tree]."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

ATP, LDM, NOISY = "atp", "ldm", "noisy-leaves"
"""The algorithms that such a release is made by."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.tree is not None
