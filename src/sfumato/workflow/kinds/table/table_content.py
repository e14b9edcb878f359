"""From a release to what its report shows.

A bundle's report shows nothing that does not follow from the released rows and from declared facts, but for what
``verification.provenance`` names. The inside report, and the summary on the steward's screen, show the original's own
figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from sfumato.attacks.identity.risk import Risk, risk
from sfumato.bundle.claims import Claim, titled
from sfumato.bundle.manifest import plain
from sfumato.bundle.published import count_column
from sfumato.data.table import Table
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import TOP
from sfumato.describe.roles import Role
from sfumato.ground.work import Work
from sfumato.publish.problem import Form
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.table.table_facts import ColumnFacts, ReportFacts, UtilityFacts
from sfumato.verification.evidence import required
from sfumato.version import __version__
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.kind import Summary
from sfumato.workflow.kinds.table.public_figures import column_loss, values_before

if TYPE_CHECKING:
    from sfumato.utility.learners import Learner
    from sfumato.workflow.kinds.table.table_release import TableRelease

Distribution = tuple[tuple[str, int], ...]


def page(made: TableRelease, inside: bool, work: Work) -> str:
    """The report as one HTML page."""
    from sfumato.report.table.table_page import render

    return render(facts(made, inside=inside), work)


def facts(made: TableRelease, *, inside: bool, exact: bool | None = None) -> ReportFacts:
    """Everything the report of a release shows; ``exact`` figures of the original in an inside report only."""
    exact = inside if exact is None else exact
    sizes, counts = np.unique(required(made.classes, made.published).by_people().sizes, return_counts=True)
    return ReportFacts(
        title="Inside report" if inside else "Release report",
        made=datetime.now(UTC).date().isoformat(),
        version=__version__,
        inside=inside,
        rows_before=made.prepared.rows,
        rows_after=made.rows.height,
        rows_suppressed=made.suppressed_rows,
        suppressed_how=made.recoding.rows,
        suppressed_limit=made.plan.algorithm.max_suppressed,
        claims=tuple(_claim(one, people=made.published.unit is not None) for one in made.claims),
        smallest_class=made.smallest_class,
        columns=tuple(_column(made, name, role, exact=exact) for name, role in made.prepared.schema.roles.items()),
        class_sizes=tuple((int(size), int(count)) for size, count in zip(sizes, counts, strict=True)),
        risk_before=_risk_before(made) if exact else None,
        risk_after=Risk(**made.risk),
        utility=_utility(made, made.utility if exact else made.public_utility),
        metric=made.plan.metric,
        algorithm=made.algorithm,
        why=made.why,
        findings=made.audit.findings,
        skipped_attacks=made.audit.skipped,
        effort=dict(made.outcome.effort) if exact else {},
        proven=made.outcome.proven,
        trail=made.outcome.trail if exact else made.public_trail,
        errors=made.classification(cast("Learner", made.plan.learner)) if inside and made.plan.learner else None,
        marks=_marks(made),
        unit=made.published.unit,
        people_before=made.prepared.people,
        people_suppressed=made.suppressed_people,
        near_unique=made.near_unique,
    )


def _risk_before(made: TableRelease) -> Risk:
    """The risks of the original table."""
    cells = made.prepared.problem.cells
    if cells.population is None:  # an algorithm may have told rows with equal quasi-identifiers apart
        cells, _ = cells.project(cells.quasi)
    cells = cells.by_people()
    return risk(cells.sizes, cells.population_sizes()[0] if cells.population else None)


def _claim(claim: Claim, *, people: bool) -> ClaimFacts:
    meaning, limits = catalog().explained(claim.model, claim.parameters)
    if people:
        meaning, limits = meaning.replace(" rows", " people"), limits.replace(" rows", " people")
    title = titled(claim.model, claim.parameters)
    return ClaimFacts(claim=claim, title=title, meaning=meaning, limits=limits, people=people)


def _utility(made: TableRelease, measured: Mapping[str, float]) -> tuple[UtilityFacts, ...]:
    parts = catalog()
    return tuple(
        UtilityFacts(
            name=name,
            value=value,
            better=parts.metrics[name].make.direction,
            low=parts.metrics[name].make.low,
            high=parts.metrics[name].make.high,
            chosen=name == made.plan.metric,
            meaning=parts.metrics[name].meaning,
        )
        for name, value in measured.items()
    )


def _marks(made: TableRelease) -> tuple[str, ...]:
    marks = [one.told for one in made.near_unique]
    if made.plan.algorithm.seed is not None:
        marks.append("Made with a fixed seed: for studies only, not for publication.")
    keyed = [name for name, column in made.plan.columns.items() if column.pseudonym is not None]
    if keyed:
        marks.append(f"Pseudonymized, not anonymized: {', '.join(keyed)}. Whoever holds the key can name these people.")
    if made.published.apart is not None:
        marks.append(
            "Bucketized: quasi-identifiers are published as they were, so whoever knows them finds the row. What is "
            "hidden is which of its group's sensitive values is whose."
        )
    if made.prepared.dropped_rows:
        marks.append(f"{made.prepared.dropped_rows:,} rows with missing values were left out before anything else.")
    if made.published.exempt and made.suppressed_rows:
        marks.append("Suppressed rows are published as * and were exempted from the requirement by the plan.")
    return tuple(marks)


def _column(made: TableRelease, name: str, role: Role, *, exact: bool) -> ColumnFacts:
    if role is Role.QUASI:
        return _quasi(made, name, exact=exact)
    if name == made.published.unit:
        done = "replaced by a random number for each person in each group"
        return ColumnFacts(name=name, role="unit", done=done)
    if made.sensitive is not None and made.published.apart is not None and name == made.published.apart.column.name:
        shape = _apart(made.sensitive, name)
        done = f"published apart by {made.published.apart.group}, in the file of sensitive values"
        return ColumnFacts(name=name, role=str(role), done=done, distinct_after=len(shape), before=shape, after=shape)
    if name not in made.rows.columns:
        return ColumnFacts(name=name, role=str(role), done="not published")
    if role is Role.IDENTIFIER:
        return ColumnFacts(name=name, role=str(role), done="replaced by a keyed pseudonym")
    if role is Role.KEEP:
        return ColumnFacts(name=name, role=str(role), done="published unchanged")
    released = Table(frame=made.rows.select(name), missing=made.published.missing)
    after = _distribution(ObservedDomain.of(released.column(name, made.prepared.domains[name].kind)))
    shown = exact or not made.suppressed_rows
    return ColumnFacts(
        name=name,
        role=str(role),
        done="published unchanged",
        distinct_before=values_before(made, name, exact=exact),
        distinct_after=len(after),
        before=_distribution(made.prepared.domains[name]) if shown else (),
        after=after,
    )


def _apart(sensitive: pl.DataFrame, name: str) -> Distribution:
    """The sensitive values of all groups together."""
    rows = sensitive.group_by(pl.col(name).cast(pl.String).fill_null("")).agg(pl.col(count_column(name)).sum())
    return tuple((value, int(count)) for value, count in rows.sort(name).iter_rows())


def _quasi(made: TableRelease, name: str, *, exact: bool) -> ColumnFacts:
    problem, place = made.prepared.problem, made.prepared.schema.quasi.index(name)
    found = made.outcome.recoding(problem)
    stated = made.stated_columns[name]
    number, height = stated.get("level"), int(stated["of"])
    counts = made.label_rows(name)
    labels = [label for label in dict.fromkeys([*found.labels[place], *counts]) if label in counts]
    after = tuple((label, counts[label]) for label in labels)
    before: Distribution = ()
    if exact:
        before = _distribution(made.prepared.domains[name])
    elif number is not None and not made.suppressed_rows:
        before = after
    return ColumnFacts(
        name=name,
        role="guarded" if name in made.prepared.schema.guarded else "quasi",
        done=_done(number, height, _climbed(stated["labels"], counts, height), stated.get("form", "levels")),
        level=number,
        height=height,
        loss=column_loss(made, name, exact=exact),
        distinct_before=values_before(made, name, exact=exact),
        distinct_after=len(after),
        before=before,
        after=after,
        same_labels=not exact or number == 0,
    )


def _climbed(steps: Mapping[str, float | None], counts: Mapping[str, int], height: int) -> float | None:
    """By how many levels a released cell was generalized on average; None where that is not public."""
    if None in steps.values():
        return None
    climbed = sum(many * float(steps.get(label) or (height if label == TOP else 0)) for label, many in counts.items())
    return climbed / max(sum(counts.values()), 1)


_FORMS = {
    "boxes": "shown as the range or set of values of each group",
    "means": "shown as group means",
    "nodes": "cut through its tree: generalized by {average} of {height} levels on average, a value always alike",
    "intervals": "shown as intervals that were found for the purpose, a value always alike",
}


def _done(number: int | None, height: int, average: float | None, form: Form) -> str:
    """What was done to a quasi-identifier, in words."""
    average = average or 0.0  # only labels of a hierarchy have one that is told
    if form != "levels":
        return _FORMS[form].format(average=f"{average:.1f}", height=height)
    if number is None:
        return f"generalized group by group, on average {average:.1f} of {height} levels"
    if number == height:
        return "suppressed entirely (every cell is *)"
    return f"generalized to level {number} of {height}" if number else "published as it was"


def _distribution(domain: ObservedDomain) -> Distribution:
    """Rows per value; many different days are shown by year."""
    if domain.kind == "date" and len(domain.values) > 40:
        years: dict[str, int] = {}
        for value, count in zip(domain.values, domain.counts, strict=True):
            years[value[:4]] = years.get(value[:4], 0) + int(count)
        return tuple(years.items())
    return tuple((value, int(count)) for value, count in zip(domain.labels, domain.all_counts, strict=True) if count)


def summary(made: TableRelease) -> Summary:
    """Verdict, risk and loss in lines; the level of each column in a table."""
    from sfumato.report.table.summary_text import summary as told

    shown = facts(made, inside=False, exact=True)
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
    heights = [hierarchy.height for hierarchy in made.prepared.problem.hierarchies]
    rows = tuple((name, level, height) for (name, level), height in zip(made.levels.items(), heights, strict=True))
    return Summary(lines=lines, heads=("column", "level", "of"), cells=rows, changes=changes)


def figures(made: TableRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "suppressed_rows": made.suppressed_rows,
        "claims": plain([claim.to_json() for claim in made.claims]),
        "smallest_class": made.smallest_class,
        "utility": plain(made.utility),
        "risk": made.risk,
        "levels": made.levels,
        "search": dict(made.outcome.effort),
        "near_unique": [one.to_json() for one in made.near_unique],
    }
