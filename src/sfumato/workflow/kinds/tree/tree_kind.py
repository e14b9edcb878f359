"""Trees instead of rows as a kind of release."""

from __future__ import annotations

from sfumato.report.base.language import said
from sfumato.verification.tree_bundle_checks import tree_bundle_checks
from sfumato.workflow.kinds.kind import Kind
from sfumato.workflow.kinds.tree import tree_asked, tree_attack, tree_content, tree_stages

KIND = Kind(
    name="tree",
    attacked_as="tree",
    check=tree_asked.check,
    begin=tree_stages.begin,
    read=tree_stages.read,
    prepare=tree_stages.prepare,
    search=tree_stages.search,
    recode=tree_stages.recode,
    judge=tree_stages.judge,
    attack=tree_attack.attack,
    ending="json",
    files=lambda made: {"data": made.rows},
    manifest=tree_content.manifest,
    checks=tree_bundle_checks,
    again=tree_content.made_again,
    subject=tree_content.refuse_subject,
    beside=tree_attack.attack_beside,
    apply=tree_content.refuse_records,
    public_page=tree_content.public_page,
    done=lambda manifest: said("A model that was learnt from the records is published instead of the records."),
    promises=tree_content.promises,
    inside_page=tree_content.inside_page,
    summary=tree_content.summary,
    figures=tree_content.figures,
    comparison=tree_content.refuse_frontier,
)
