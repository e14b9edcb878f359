"""Tables with quasi-identifiers as a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.bundles.checks.table import table_checks
from sfumato.bundles.provenance import Check, Remark
from sfumato.pipeline.apply import apply_rules
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.method import Audit, Manifest, Method, Request
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.methods.table import plan as table_plan
from sfumato.pipeline.methods.table import release, report, stages, subject
from sfumato.pipeline.methods.table.problem import Prepared, prepare
from sfumato.pipeline.methods.table.stages import foreseen
from sfumato.reports.language import share
from sfumato.reports.svg import Drawn, DrawnColumn, drawn_parts
from sfumato.reports.table import distributions, limit_on_size, losses, risks, trail_pictures
from sfumato.reports.table_facts import ColumnFacts
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.frontier.axes import Comparison
    from sfumato.pipeline.methods.method import Counted
    from sfumato.pipeline.methods.table.release import TableRelease
    from sfumato.pipeline.plan.plan import Plan


# The pictures of a released table with the original's figures.


def drawn(release: TableRelease) -> Drawn:
    """Every column before and after, risks, losses, and the trail where there is one."""
    facts = release.exact_facts
    trail = [] if facts.trail is None else trail_pictures(facts.trail, release.plan.metric, limit_on_size(facts))
    return Drawn(
        columns=tuple(_column_charts(column) for column in facts.columns if column.before or column.after),
        parts=drawn_parts(
            Risk=[risks(facts.risk_before, facts.risk_after)], Loss_per_column=[losses(facts.columns)], Trail=trail
        ),
    )


def _column_charts(column: ColumnFacts) -> DrawnColumn:
    lost = "" if column.loss is None else f"; lost {share(column.loss)}"
    pictures = tuple(picture for picture in distributions(column, inside=True) if picture is not None)
    return DrawnColumn(name=column.name, about=f"{column.done}{lost}", pictures=pictures)


# Tables with quasi-identifiers as a kind of release.


def _comparison(plan: Plan) -> Comparison:
    from sfumato.pipeline.methods.table.comparison import TableComparison

    return TableComparison()


def _drawn(release: Any) -> Drawn:

    return drawn(release)


def _dimensions(*args: Any, **options: Any) -> Any:
    from sfumato.pipeline.methods.table.studies import study_dimensions

    return study_dimensions(*args, **options)


def _prepare(request: Request, rows: Any) -> Prepared:
    """The table, counted; weights that are none are refused before anything is searched."""
    prepared = prepare(request.plan, rows[0], rows[1], catalog())
    if request.plan.input.weight is not None:
        from sfumato.pipeline.methods.table.studies import in_memory, row_weights

        row_weights(in_memory(prepared.source).table, request.plan.input.weight)
    return prepared


def _notes(prepared: Prepared) -> list[str]:
    note = getattr(prepared.source, "note", "")
    return [*([note] if note else []), *(column.told for column in foreseen(prepared))]


def _checks(folder: Path, manifest: Manifest, tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    return table_checks(folder, manifest, tables, known=catalog(), requested_models=table_plan.requested_models)


def _attack_parts(*args: Any, **options: Any) -> Audit:
    from sfumato.pipeline.methods.table.parts_attack import attack_parts

    return attack_parts(*args, **options)


def _counted(plan: Plan, table: Table) -> Counted:
    from sfumato.pipeline.methods.table.preview import CountedTable

    return CountedTable(plan, table)


METHOD = Method(
    name="table",
    attacks="table",
    supports=Supports(
        title="a release of a table",
        weights=True,
        unit=True,
        population=True,
        suppression=True,
        itemized=True,
        guarded=True,
        base=True,
        parts=True,
        control=True,
        earlier=True,
    ),
    check=table_plan.check,
    begin=stages.begin,
    counted=_counted,
    read=stages.read,
    prepare=_prepare,
    notes=_notes,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    attack=stages.attack_release,
    manifest=release.manifest,
    checks=_checks,
    subject=subject.bundle_subject,
    parts=_attack_parts,
    apply=apply_rules,
    public_page=report.public_page,
    done=report.done,
    inside_page=release.inside_page,
    summary=release.summary,
    drawn=_drawn,
    figures=release.figures,
    draft=table_plan.draft,
    comparison=_comparison,
    dimensions=_dimensions,
)
