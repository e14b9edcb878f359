"""Answers that were randomized where they were given, with their specification: plans with a [collection]."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

RECONSTRUCT = "reconstruct"
"""The algorithm that such a release is made by."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.collection is not None
