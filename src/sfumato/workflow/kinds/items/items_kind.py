"""Paths, sets and mixed records as a kind of release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.report.base.language import said
from sfumato.verification.item_checks import item_checks
from sfumato.workflow.kinds.items import item_attack, item_content, item_manifest, item_plan, item_public, item_stages
from sfumato.workflow.kinds.items.item_preparing import prepare_items
from sfumato.workflow.kinds.kind import Kind

if TYPE_CHECKING:
    from sfumato.data.table import Table
    from sfumato.report.base.drawn import Drawn
    from sfumato.workflow.exploring.counted import Counted
    from sfumato.workflow.plan.plan import Plan


def _drawn(made: Any) -> Drawn:
    from sfumato.workflow.kinds.items.item_drawn import drawn

    return drawn(made)


def _counted(plan: Plan, table: Table) -> Counted:
    from sfumato.workflow.kinds.items.counted_items import CountedItems

    return CountedItems(plan, table)


KIND = Kind(
    name="items",
    needs=(("numba", "a release of paths or sets"),),
    check=item_plan.check,
    counted=_counted,
    read=item_stages.read,
    prepare=lambda asked, rows: prepare_items(asked.plan, rows),
    notes=item_stages.notes,
    search=item_stages.search,
    recode=item_stages.recode,
    judge=item_stages.judge,
    attack=item_attack.attack_records,
    files=item_manifest.files,
    manifest=item_manifest.manifest,
    checks=lambda *bundle: item_checks(*bundle, known=item_plan.ItemModels()),
    subject=item_attack.refuse_bundle,
    apply=item_manifest.refuse_records,
    public_page=item_public.public_page,
    done=lambda manifest: said(
        "Records of paths and sets are released. Items that too few people share were left out or made coarser."
    ),
    promises=item_public.promises,
    inside_page=item_content.inside_page,
    summary=item_content.summary,
    drawn=_drawn,
    figures=item_content.figures,
    draft=item_plan.draft,
)
