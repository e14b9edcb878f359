"""Differentially private tables as a kind of release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.data.table import Table
from sfumato.report.base.language import said
from sfumato.verification.checks import Check, Remark
from sfumato.verification.private_checks import private_checks
from sfumato.workflow.audit import Audit
from sfumato.workflow.kinds.kind import Kind, Manifest
from sfumato.workflow.kinds.private import (
    private_content,
    private_manifest,
    private_plan,
    private_stages,
    private_subject,
)
from sfumato.workflow.kinds.private.discovering import prepared

if TYPE_CHECKING:
    from sfumato.workflow.exploring.counted import Counted
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.plan import Plan


def _comparison(plan: Plan) -> Comparison:
    from sfumato.workflow.kinds.private.private_comparison import PrivateComparison

    return PrivateComparison()


def _checks(folder: Path, manifest: Manifest, tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    yield from private_checks(folder, manifest, tables)
    if "session" in manifest:
        from sfumato.workflow.kinds.joint.session_checks import session_checks

        yield from session_checks(manifest)


def _counted(plan: Plan, table: Table) -> Counted:
    from sfumato.workflow.kinds.private.counted_noise import CountedNoise

    return CountedNoise(plan, table)


KIND = Kind(
    name="private",
    needs=(("opendp", "a differentially private release"),),
    options=("output",),
    check=private_plan.check,
    begin=private_stages.begin,
    counted=_counted,
    read=private_stages.read,
    prepare=lambda asked, rows: prepared(asked.plan, *rows),
    notes=lambda ready: ready.notes,
    search=private_stages.search,
    recode=private_stages.recode,
    judge=private_stages.judge,
    attack=lambda made, work: Audit(),  # what attackers find would be read off the private table: no epsilon covers it
    files=lambda made: {"data": made.rows},
    manifest=private_manifest.manifest,
    checks=_checks,
    again=private_stages.same_domains,
    subject=private_subject.private_subject,
    apply=private_manifest.apply_labels,
    public_page=private_content.public_page,
    done=lambda manifest: said(
        "The released rows were made from noisy counts of the table: none of them is anybody's own."
    ),
    promises=private_content.promises,
    summary=private_content.summary,
    drawn=private_content.drawn,
    figures=private_content.figures,
    comparison=_comparison,
)
