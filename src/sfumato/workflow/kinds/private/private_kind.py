"""Differentially private tables as a kind of release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.verification.private_checks import private_checks
from sfumato.workflow.audit import Audit
from sfumato.workflow.kinds.kind import Kind
from sfumato.workflow.kinds.private import (
    private_content,
    private_manifest,
    private_plan,
    private_stages,
    private_subject,
)
from sfumato.workflow.kinds.private.discovering import prepared

if TYPE_CHECKING:
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.plan import Plan


def _comparison(plan: Plan) -> Comparison:
    from sfumato.workflow.kinds.private.private_comparison import PrivateComparison

    return PrivateComparison()


KIND = Kind(
    name="private",
    needs=(("opendp", "a differentially private release"),),
    options=("output",),
    check=private_plan.check,
    begin=private_stages.begin,
    read=private_stages.read,
    prepare=lambda asked, rows: prepared(asked.plan, *rows),
    notes=lambda ready: ready.notes,
    search=private_stages.search,
    recode=private_stages.recode,
    judge=private_stages.judge,
    attack=lambda made, work: Audit(),  # what attackers find would be read off the private table: no epsilon covers it
    files=lambda made: {"data": made.rows},
    manifest=private_manifest.manifest,
    checks=private_checks,
    again=private_stages.same_domains,
    subject=private_subject.private_subject,
    apply=private_manifest.apply_labels,
    public_page=private_content.public_page,
    summary=private_content.summary,
    figures=private_content.figures,
    comparison=_comparison,
)
