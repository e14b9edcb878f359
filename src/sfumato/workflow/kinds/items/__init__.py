"""Paths, sets and mixed records, judged by what somebody may know of them: plans with a column of paths or sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return bool(plan.itemized)
