"""Rows with codes and aliases that sites agreed on; no model is met: plans with the algorithm ``graded``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

GRADED = "graded"
"""The algorithm by whose name a plan asks for this kind."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == GRADED
