"""What the steward sees of a release of a table: the bundle's report with the original's own figures beside."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from sfumato.attacks.identity.risk import Risk, risk
from sfumato.bundle.manifest import plain
from sfumato.describe.roles import Role
from sfumato.ground.work import Work
from sfumato.report.base.language import said
from sfumato.report.table.table_facts import ColumnFacts, ReportFacts, SearchFacts
from sfumato.workflow.bundling import unwritten
from sfumato.workflow.kinds.kind import Summary
from sfumato.workflow.kinds.table.public_figures import exact_loss
from sfumato.workflow.kinds.table.table_public import distribution, public_facts, utility_facts

if TYPE_CHECKING:
    from sfumato.utility.learners import Learner
    from sfumato.workflow.kinds.table.table_release import TableRelease


def inside_page(made: TableRelease, work: Work) -> str:
    """The steward's report as one HTML page."""
    from sfumato.report.table.table_page import render

    shown = replace(made.exact_facts, title="Inside report", inside=True)
    if made.plan.learner:
        shown = replace(shown, errors=made.classification(cast("Learner", made.plan.learner)))
    return render(shown, work)


def exact_facts(made: TableRelease) -> ReportFacts:
    """What the bundle's report shows, with the original's figures where it has others or none."""
    public = public_facts(*unwritten(made))
    shown = {column.name for column in public.columns}
    others = [ColumnFacts(name=name, role=str(role), done=said("not published"))
              for name, role in made.prepared.schema.roles.items() if name not in shown]  # fmt: skip
    return replace(
        public,
        columns=(*(_exact(made, column) for column in public.columns), *others),
        risk_before=_risk_before(made),
        utility=utility_facts(made.utility, made.plan.metric),
        effort=dict(made.outcome.effort),
        trail=made.outcome.trail,
        searches=_searches(made),
        findings=made.audit.findings,
        skipped_attacks=made.audit.skipped,
        sample=made.sample,
    )


def _searches(made: TableRelease) -> tuple[SearchFacts, ...]:
    """The search that was taken, and those beside it where there are any."""
    if not made.beside:
        return ()
    value = made.utility.get(made.plan.metric)
    taken = SearchFacts(algorithm=made.algorithm, value=value, alike=made.outcome.alike, taken=True)
    return (taken, *made.beside)


def _risk_before(made: TableRelease) -> Risk:
    """The risks of the original table."""
    cells = made.prepared.problem.cells
    if cells.population is None:  # an algorithm may have told rows with equal quasi-identifiers apart
        cells, _ = cells.project(cells.quasi)
    cells = cells.by_people()
    return risk(cells.sizes, cells.population_sizes()[0] if cells.population else None)


def _exact(made: TableRelease, column: ColumnFacts) -> ColumnFacts:
    """What happened to a column, beside the original's values."""
    role = made.prepared.schema.roles.get(column.name)
    if role not in (Role.QUASI, Role.SENSITIVE, Role.TARGET) or column.name not in made.rows.columns:
        return column
    domain = made.prepared.domains[column.name]
    before = replace(column, distinct_before=domain.distinct, before=distribution(domain))
    if role is not Role.QUASI:
        return before
    return replace(before, loss=exact_loss(made, column.name), same_labels=column.level == 0)


def summary(made: TableRelease) -> Summary:
    """Verdict, risk and loss in lines; the level of each column in a table."""
    from sfumato.report.table.summary_text import summary as told

    shown = made.exact_facts
    lines = (told(shown),)
    smallest = int(made.prepared.problem.cells.project(made.prepared.schema.quasi)[0].by_people().sizes.min())
    columns = [
        (f"different {c.name}", c.distinct_before, c.distinct_after)
        for c in shown.columns
        if c.role in ("quasi", "guarded")
    ]
    rows_kept = ("rows", shown.rows_before, shown.rows_after)
    changes = (rows_kept, ("smallest group", smallest, min(made.smallest_class.values())), *columns)
    if made.levels is None:
        return Summary(lines=lines, changes=changes)
    heights = [hierarchy.base + hierarchy.height for hierarchy in made.prepared.problem.hierarchies]
    rows = tuple((name, level, height) for (name, level), height in zip(made.levels.items(), heights, strict=True))
    return Summary(lines=lines, heads=("column", "level", "of"), cells=rows, changes=changes)


def figures(made: TableRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.height,
        "suppressed_rows": made.suppressed_rows,
        "claims": plain([claim.to_json() for claim in made.claims]),
        "smallest_class": made.smallest_class,
        "utility": plain(made.utility),
        "risk": made.risk,
        "levels": made.levels,
        "search": dict(made.outcome.effort),
        "algorithm": made.algorithm,
        "why": made.why,
        "alternatives": plain([_beside(one) for one in made.beside]),
        "near_unique": [one.to_json() for one in made.near_unique],
        **_sample(made),
    }


def _beside(one: SearchFacts) -> dict[str, Any]:
    """A search beside the one that was taken, as ``--json`` shows it."""
    return {key: value for key, value in asdict(one).items() if key != "taken"}


def _sample(made: TableRelease) -> dict[str, Any]:
    """What weights tell, where there are any."""
    if made.sample is None:
        return {}
    from sfumato.workflow.kinds.table.sample_figures import told

    return {"sample": plain(told(made.sample))}
