"""Rows with exchanged values as a kind of release: its risk is measured, and nothing is claimed."""

from __future__ import annotations

from sfumato.report.base.language import said
from sfumato.verification.swapped_checks import swapped_checks
from sfumato.workflow.kinds.kind import Kind
from sfumato.workflow.kinds.swapped import swapped_content, swapped_stages

KIND = Kind(
    name="swapped",
    check=swapped_stages.check,
    read=swapped_stages.read,
    prepare=swapped_stages.prepare,
    search=swapped_stages.search,
    recode=swapped_stages.recode,
    judge=swapped_stages.judge,
    attack=swapped_content.attack,
    files=swapped_content.files,
    manifest=swapped_content.manifest,
    checks=swapped_checks,
    again=swapped_stages.again,
    subject=swapped_content.refuse_bundle,
    apply=swapped_content.refuse_records,
    public_page=swapped_content.public_page,
    done=lambda manifest: said(
        "Values were exchanged between rows: every value was somebody's, and many stand in another row now."
    ),
    summary=swapped_content.summary,
    figures=swapped_content.figures,
    comparison=swapped_content.refuse_frontier,
)
