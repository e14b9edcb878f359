"""Differentially private releases, noisy rows over declared domains: plans that ask for epsilon or rho."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return noisy(plan) and plan.privacy.get("domains") != "observed"


def noisy(plan: Plan) -> bool:
    """Whether a plan asks for noisy rows, with or without a claim."""
    return "epsilon" in plan.privacy or "rho" in plan.privacy
