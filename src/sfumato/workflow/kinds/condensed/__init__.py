"""Records drawn from the moments of groups of at least k: plans that ask for such groups, or for ``condense``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan

CONDENSE = "condense"
"""The algorithm that makes this kind."""
KEY = "indistinguishable_groups"
"""The key of [privacy] that asks for it: the fewest records of a group."""


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return plan.algorithm.name == CONDENSE or KEY in plan.privacy
