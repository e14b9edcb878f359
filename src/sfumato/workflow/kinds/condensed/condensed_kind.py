"""Records drawn from groups of at least k as a kind of release."""

from __future__ import annotations

from sfumato.report.base.language import said
from sfumato.verification.condensed_checks import condensed_checks
from sfumato.workflow.kinds.condensed import (
    condensed_content,
    condensed_plan,
    condensed_stages,
    condensed_subject,
)
from sfumato.workflow.kinds.kind import Kind

KIND = Kind(
    name="condensed",
    attacked_as="condensed",
    check=condensed_plan.check,
    read=condensed_stages.read,
    prepare=condensed_stages.prepare,
    notes=condensed_stages.notes,
    search=condensed_stages.search,
    recode=condensed_stages.recode,
    judge=condensed_stages.judge,
    attack=condensed_subject.attack,
    files=condensed_content.files,
    manifest=condensed_content.manifest,
    checks=condensed_checks,
    again=condensed_stages.again,
    subject=condensed_subject.bundle_subject,
    apply=condensed_content.refuse_records,
    public_page=condensed_content.public_page,
    done=lambda manifest: said(
        "The released rows were drawn from averages and spreads of groups of records: none is a person's own row."
    ),
    promises=condensed_content.promises,
    inside_page=condensed_content.inside_page,
    summary=condensed_content.summary,
    figures=condensed_content.figures,
    comparison=condensed_content.refuse_frontier,
)
