"""Sets that hide rules as a kind of release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.report.base.language import said
from sfumato.verification.sanitized_checks import sanitized_checks
from sfumato.workflow.kinds.kind import Kind
from sfumato.workflow.kinds.sanitized import sanitized_content, sanitized_plan, sanitized_stages

if TYPE_CHECKING:
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.plan import Plan


def _comparison(plan: Plan) -> Comparison:
    """How releases are compared; loaded when a frontier asks."""
    from sfumato.workflow.kinds.sanitized.sanitized_comparison import SanitizedComparison

    return SanitizedComparison()


KIND = Kind(
    name="sanitized",
    needs=(("numba", "hiding rules"),),
    check=sanitized_plan.check,
    begin=sanitized_stages.begin,
    read=sanitized_stages.read,
    prepare=sanitized_stages.prepare,
    search=sanitized_stages.search,
    recode=sanitized_stages.recode,
    judge=sanitized_stages.judge,
    attack=sanitized_content.attack,
    files=sanitized_content.files,
    manifest=sanitized_content.manifest,
    checks=sanitized_checks,
    again=sanitized_stages.again,
    subject=sanitized_content.refuse_bundle,
    apply=sanitized_content.refuse_records,
    public_page=sanitized_content.public_page,
    done=lambda manifest: said(
        "Sets of items are released from which some items were taken, so that certain rules can no longer be found."
    ),
    promises=sanitized_content.promises,
    inside_page=sanitized_content.inside_page,
    summary=sanitized_content.summary,
    figures=sanitized_content.figures,
    comparison=_comparison,
)
