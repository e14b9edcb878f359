"""Answers that were randomized at the source as a kind of release: what their coins give is claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sfumato.data.table import Table
from sfumato.report.base.language import said
from sfumato.verification.checks import Check, Remark
from sfumato.verification.collected_checks import collected_checks
from sfumato.workflow.kinds.collected import collected_attack, collected_content, collected_plan, collected_stages
from sfumato.workflow.kinds.kind import Kind


def _checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    return collected_checks(folder, manifest, tables, collected_attack.made_again)


KIND = Kind(
    name="collected",
    check=collected_plan.check,
    begin=collected_plan.begin,
    read=collected_stages.read,
    prepare=collected_stages.prepare,
    search=collected_stages.search,
    recode=collected_stages.recode,
    judge=collected_stages.judge,
    attack=collected_attack.attack,
    files=collected_content.files,
    manifest=collected_content.manifest,
    checks=_checks,
    subject=collected_content.refuse_subject,
    alone=collected_attack.attack_bundle,
    apply=collected_content.refuse_records,
    public_page=collected_content.public_page,
    done=lambda manifest: said(
        "Every answer was randomized before anybody collected it. The release holds these answers, and what was "
        "reconstructed from them."
    ),
    promises=collected_content.promises,
    inside_page=collected_content.inside_page,
    summary=collected_content.summary,
    figures=collected_content.figures,
    comparison=collected_content.refuse_frontier,
)
