"""Tables with quasi-identifiers as a kind of release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.table import Table
from sfumato.verification.checks import Check, Remark
from sfumato.verification.table_checks import table_checks
from sfumato.workflow.apply.applying import apply_rules
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.kind import Asked, Kind, Manifest
from sfumato.workflow.kinds.table import (
    table_attack,
    table_content,
    table_manifest,
    table_opening,
    table_plan,
    table_public,
    table_search,
    table_stages,
    table_subject,
)
from sfumato.workflow.kinds.table.foreseeing import foreseen
from sfumato.workflow.kinds.table.preparing import Prepared, prepare

if TYPE_CHECKING:
    from sfumato.report.base.drawn import Drawn
    from sfumato.workflow.exploring.counted import Counted
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.plan.plan import Plan


def _comparison(plan: Plan) -> Comparison:
    from sfumato.workflow.kinds.table.table_comparison import TableComparison

    return TableComparison()


def _drawn(made: Any) -> Drawn:
    from sfumato.workflow.kinds.table.table_drawn import drawn

    return drawn(made)


def _dimensions(*asked: Any, **said: Any) -> Any:
    from sfumato.workflow.kinds.table.dimension_study import study_dimensions

    return study_dimensions(*asked, **said)


def _prepare(asked: Asked, rows: Any) -> Prepared:
    """The table, counted; weights that are none are refused before anything is searched."""
    found = prepare(asked.plan, rows[0], rows[1], catalog())
    if asked.plan.input.weight is not None:
        from sfumato.workflow.kinds.table.sample_figures import in_memory, row_weights

        row_weights(in_memory(found.source).table, asked.plan.input.weight)
    return found


def _notes(prepared: Prepared) -> list[str]:
    note = getattr(prepared.source, "note", "")
    return [*([note] if note else []), *(one.told for one in foreseen(prepared))]


def _checks(folder: Path, manifest: Manifest, tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    yield from table_checks(folder, manifest, tables, known=catalog(), asked=table_plan.asked)
    if "session" in manifest:
        from sfumato.workflow.kinds.joint.session_checks import session_checks

        yield from session_checks(manifest)


def _counted(plan: Plan, table: Table) -> Counted:
    from sfumato.workflow.kinds.table.counted_table import CountedTable

    return CountedTable(plan, table)


KIND = Kind(
    name="table",
    check=table_plan.check,
    begin=table_stages.begin,
    counted=_counted,
    read=table_stages.read,
    prepare=_prepare,
    notes=_notes,
    search=table_search.search,
    recode=table_stages.recode,
    judge=table_stages.judge,
    attack=table_attack.attack_release,
    files=table_manifest.files,
    manifest=table_manifest.manifest,
    checks=_checks,
    subject=table_subject.bundle_subject,
    apply=apply_rules,
    public_page=table_public.public_page,
    done=table_opening.done,
    inside_page=table_content.inside_page,
    summary=table_content.summary,
    drawn=_drawn,
    figures=table_content.figures,
    draft=table_plan.draft,
    comparison=_comparison,
    dimensions=_dimensions,
)
