"""Tables with quasi-identifiers, judged group by group: every plan that no other kind claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.workflow.plan.plan import Plan


def owns(plan: Plan) -> bool:
    """Whether a plan asks for this kind of release."""
    return True
