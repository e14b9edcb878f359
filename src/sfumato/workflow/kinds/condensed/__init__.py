"""Records drawn from the moments of groups of at least k: plans that ask for such groups, or for ``condense``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.bundle.condensed_names import KEY

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

CONDENSE = "condense"
"""The algorithm that makes this kind."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == CONDENSE or KEY in plan.privacy
