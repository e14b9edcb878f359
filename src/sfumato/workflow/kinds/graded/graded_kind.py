"""Codes and aliases that sites agreed on as a kind of release: pseudonymized, its risk measured, nothing claimed."""

from __future__ import annotations

from sfumato.report.base.language import said
from sfumato.verification.graded_checks import graded_checks
from sfumato.workflow.kinds.graded import graded_content, graded_stages
from sfumato.workflow.kinds.kind import Kind

KIND = Kind(
    name="graded",
    attacked_as="graded",
    check=graded_stages.check,
    begin=graded_stages.begin,
    read=graded_stages.read,
    prepare=graded_stages.prepare,
    search=graded_stages.search,
    recode=graded_stages.recode,
    judge=graded_stages.judge,
    attack=graded_content.attack,
    files=graded_content.files,
    manifest=graded_content.manifest,
    checks=graded_checks,
    again=graded_stages.again,
    subject=graded_content.refuse_bundle,
    apply=graded_content.refuse_records,
    public_page=graded_content.public_page,
    done=lambda manifest: said(
        "Values were replaced by codes and aliases, so that a miner works on names that mean nothing to them."
    ),
    summary=graded_content.summary,
    figures=graded_content.figures,
    comparison=graded_content.refuse_frontier,
)
