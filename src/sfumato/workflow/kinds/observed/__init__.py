"""Noisy rows over domains that are read off the table, for studies: no differential privacy is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.workflow.kinds.private import noisy

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return noisy(plan) and plan.privacy.get("domains") == "observed"
