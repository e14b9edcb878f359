"""A release of a table: its figures, files, manifest and internal report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.algorithms.problem import Form, Outcome, Trail
from sfumato.attacks.risk import Risk, risk
from sfumato.attacks.subject import Shifts
from sfumato.bundles.checks.cells import near_unique_released
from sfumato.bundles.checks.evidence import required, smallest
from sfumato.bundles.checks.losses import losses
from sfumato.bundles.columns import Published
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.recoding import Recoding
from sfumato.core.claims import Claim
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.near_unique import NearUnique, asked_size
from sfumato.counts.sources import CellMapping
from sfumato.pipeline.apply import Rule, rule_at
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import is_spark
from sfumato.pipeline.methods.method import Summary
from sfumato.pipeline.methods.table.problem import Prepared
from sfumato.pipeline.methods.table.report import (
    column_loss,
    distribution,
    label_costs,
    label_rows,
    public_facts,
    utility_facts,
)
from sfumato.pipeline.release import Release, unwritten, versions
from sfumato.reports.language import translated
from sfumato.reports.table_facts import ColumnFacts, ReportFacts, SearchFacts
from sfumato.tables.frames import from_frame
from sfumato.tables.hierarchy import TOP, Hierarchy
from sfumato.tables.schema import Role
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource
    from sfumato.metrics.classification import Errors
    from sfumato.metrics.learners import Learner
    from sfumato.pipeline.apply import Applied, Outside
    from sfumato.pipeline.methods.table.parts import ReleasedParts
    from sfumato.reports.table_facts import SampleFacts


# A release of a table.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(Release):
    """Released rows whose groups meet models."""

    prepared: Prepared
    """The original, counted."""
    outcome: Outcome
    """What the search found."""
    recoding: Recoding
    """How rows were changed."""
    published: Published
    """What a verifier must know to read them."""
    classes: Classes
    """Their equivalence classes."""
    sensitive: pl.DataFrame | None = None
    """The sensitive values by group, where they are published apart."""
    parts: ReleasedParts | None = None
    """The released rows, where they stay in files; ``rows`` has only their columns then."""
    beside: tuple[SearchFacts, ...] = ()
    """What other searches would lose, where ``auto`` made some; the steward's to know."""
    session: Mapping[str, Any] | None = None
    """Who made it together, and what each of them learnt, where several parties did."""

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, where every column has one."""
        if self.outcome.levels is None:
            return None
        bases = [hierarchy.base for hierarchy in self.prepared.problem.hierarchies]
        whole = [base + level for base, level in zip(bases, self.outcome.levels, strict=True)]
        return dict(zip(self.prepared.schema.quasi, whole, strict=True))

    @property
    def smallest_class(self) -> dict[str, int]:
        """K under both readings of unknown cells."""
        return smallest(required(self.classes, self.published))

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The released rows, and the sensitive values where they are published apart."""
        return super().tables | ({} if self.sensitive is None else {"sensitive": self.sensitive})

    @property
    def suppressed_rows(self) -> int:
        """How many rows were suppressed."""
        return self.recoding.suppressed_rows

    @property
    def suppressed_people(self) -> int | None:
        """How many people lost a row, where people are counted."""
        people = self.prepared.problem.cells.people
        return None if people is None else people.within(self.outcome.suppressed)

    @cached_property
    def near_unique(self) -> tuple[NearUnique, ...]:
        """The released columns that nearly single people out, as anybody can count in the released rows."""
        k = asked_size(claim.parameters for claim in self.claims)
        return near_unique_released(self.released, self.published.schema.roles, k)

    @property
    def height(self) -> int:
        """How many released rows there are."""
        return self.published.rows

    @property
    def released(self) -> Table | EngineSource:
        """The released rows as a verifier has them: in memory, or counted where they are."""
        if self.parts is not None:
            return self.parts.source
        return Table(frame=self.rows, missing=self.published.missing, source="the release")

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in; a lazy one where they stay in files."""
        if self.parts is not None:
            return self.parts.frame(self.like)
        if is_spark(self.like):
            return self.like.sparkSession.createDataFrame(self.rows.to_arrow())  # type: ignore[attr-defined]
        return super().frame

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        return [*super().marks, *(column.told for column in self.near_unique)]

    @cached_property
    def shifts(self) -> Shifts | None:
        """Moved dates of people in the release, and what an attacker may know of the true ones."""
        from sfumato.pipeline.dates import shifts_of

        source = self.prepared.source
        return shifts_of(self.plan, lambda names: source.texts(names, kept(self)), source.missing)

    @property
    def warnings(self) -> list[str]:
        """How far moved dates can be moved back, where that is easier than by guessing."""
        from sfumato.pipeline.dates import shift_warnings

        return shift_warnings(self.shifts)

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did."""
        return self.outcome.effort

    @cached_property
    def risk(self) -> dict[str, Any]:
        """Re-identification risks of the released rows."""
        return catalog().risk(required(self.classes, self.published))

    @cached_property
    def sample(self) -> SampleFacts | None:
        """Risks and losses by sampling weights, where the plan names a weight; the steward's to know."""
        weight = self.plan.input.weight
        if weight is None:
            return None
        from sfumato.pipeline.methods.table.studies import sample_figures

        return sample_figures(self.prepared, self.outcome, weight, published=weight in self.rows.columns)

    @property
    def trail(self) -> Trail | None:
        """The steps by which it was found, where each of them is a table of its own; not all of it may be public."""
        return self.outcome.trail

    @cached_property
    def stated_columns(self) -> dict[str, Any]:
        """Per quasi-identifier, what may be told about its labels."""
        return recoded_columns(self)

    @cached_property
    def public_utility(self) -> dict[str, float]:
        """What was lost, as far as released rows and declared facts tell it; ``utility`` is exact and the steward's."""
        return public_utility(self)

    @cached_property
    def exact_facts(self) -> ReportFacts:
        """What the steward's report shows."""
        return exact_facts(self)

    @property
    def public_trail(self) -> Trail | None:
        """The trail where it tells no more than the release: coarser tables of the same rows can be made from it."""
        trail = self.outcome.trail
        if trail is None or trail.direction != "down" or self.suppressed_rows:
            return None
        return trail if self.plan.metric in self.public_utility else trail.without_loss()

    @cached_property
    def rules(self) -> dict[str, Rule] | None:
        """How each quasi-identifier of new records is to be read, where a value always reads alike."""
        cut: tuple[ColumnCut | int, ...] | None = self.outcome.cut or self.outcome.levels
        if cut is None or self.outcome.buckets is not None:
            return None
        rules = {}
        for name, part in zip(self.prepared.problem.cells.quasi, cut, strict=True):
            labels = self.classes.labels[self.classes.quasi.index(name)]
            based = self.prepared.based.get(name)
            domain = self.prepared.public.domains[name]
            tree = self.plan.columns[name].hierarchy or {"kind": "flat"}
            rules[name] = rule_at(tree, self.plan.folder, domain, labels, part, based)
        return rules

    def parts_into(self, folder: Path) -> dict[str, Any] | None:
        """Put the rows into a bundle where they are many files; what its manifest states about them, or None."""
        return None if self.parts is None else self.parts.put_into(folder)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records under the same recoding; values outside the domain are refused, starred or left out."""
        from sfumato.pipeline.apply import applied, no_rule
        from sfumato.pipeline.dates import planned_dates

        if self.rules is None:
            raise no_rule(self.algorithm)
        models = [(claim.model, claim.parameters) for claim in self.claims]
        table = planned_dates(from_frame(records, missing=self.published.missing), self.plan)
        reading = self.prepared.problem.reading
        return applied(table, self.rules, self.published, models=models, reading=reading, outside=outside)

    def classification(self, learner: Learner = "tree", *, train: NDArray[np.bool_] | None = None) -> Errors:
        """How well a learner tells the target: from original values, without quasi-identifiers, from the release.

        ``train`` marks the rows of the prepared table to learn from; a random two thirds by default.
        """
        from sfumato.pipeline.methods.table.studies import classification

        return classification(self.prepared, self.outcome, learner, train)


def kept(release: TableRelease) -> CellMapping | None:
    """What tells the people whose rows are released from those who were removed."""
    return release.recoding.mapping if release.recoding.rows == "remove" else None


# What a bundle may say about a table: figures that follow from the released rows and from declared facts.
#
# A figure that was scaled by the original (the range of a column, how many different values it had) can be solved for
# a row that was removed. So whatever stands in the manifest and in the public report is computed here, from labels
# that are released and domains that are declared; the exact figures are for the steward.


_SHARES: tuple[Form, ...] = ("boxes", "intervals", "means", "distributions")
"""Labels that are no hierarchy values: they lie as high as their share of the domain says."""


def recoded_columns(release: TableRelease) -> dict[str, Any]:
    """Per quasi-identifier, the labels that the release shows; how large they are where the domain is declared."""
    problem = release.prepared.problem
    recoding = release.outcome.recoding(problem)
    columns: dict[str, Any] = {}
    for place, (name, hierarchy) in enumerate(zip(problem.cells.quasi, problem.hierarchies, strict=True)):
        ruler, labels = recoding.rulers[place], recoding.labels[place]
        used = _used(release, name, labels)
        form = recoding.forms[place] if recoding.forms else "levels"
        lies = {labels[i]: float(ruler.steps[i]) + hierarchy.base for i in used}
        height = _height(hierarchy, lies)
        steps = {label: _steps(hierarchy, form, label, step, height) for label, step in lies.items()}
        here: dict[str, Any] = {"of": height, "labels": steps}
        if release.outcome.levels is not None:
            level = release.outcome.levels[place] + hierarchy.base
            here["level"] = min(level, height) if hierarchy.open else level
        if form != "levels":
            here["form"] = form
        if release.rules is not None:
            here["rule"] = release.rules[name].to_json()
        if hierarchy.declared is not None and form != "means":
            here["sizes"] = {labels[i]: float(ruler.sizes[i]) for i in used}
            here |= {"total": hierarchy.total, "continuous": hierarchy.continuous}
        columns[name] = here
    return columns


def _used(release: TableRelease, name: str, labels: tuple[str, ...]) -> list[int]:
    """The labels that released rows show; the group of starred rows has its own."""
    released = set(release.classes.labels[release.classes.quasi.index(name)])
    return [place for place, label in enumerate(labels) if label in released]


def _height(hierarchy: Hierarchy, steps: dict[str, float]) -> int:
    """The levels of a hierarchy; where they were read off the values, as many as the released labels show."""
    if not hierarchy.open:
        return hierarchy.base + hierarchy.height
    below = [max(len(label), int(step) + 1) for label, step in steps.items() if label != TOP]
    return max(below, default=1)


def _steps(hierarchy: Hierarchy, form: Form, label: str, steps: float, height: int) -> float | None:
    """How high a label lies; not told where that would tell how wide the original was."""
    if label == TOP and hierarchy.open:
        return float(height)
    is_public = label == TOP or form not in _SHARES or (hierarchy.declared is not None and form != "means")
    return steps if is_public else None


def stated_counts(release: TableRelease) -> dict[str, Any]:
    """How many rows were suppressed, of how many, and how."""
    removed = release.recoding.rows == "remove"
    people = release.suppressed_people
    return {
        "rows": release.suppressed_rows,
        "of": release.prepared.rows if removed else release.published.rows,
        **({} if people is None else {"people": people, "people_of": release.prepared.people}),
        **({"left_out": release.prepared.dropped_rows} if release.prepared.dropped_rows else {}),
        "how": release.recoding.rows,
        "limit": release.plan.algorithm.max_suppressed,
    }


def public_utility(release: TableRelease) -> dict[str, float]:
    """Every metric that a verifier can compute: from released rows, label sizes and declared domains."""
    stated = {
        "data": release.published.to_json(),
        "claims": [_plain(claim) for claim in release.claims],
        "recoding": {"columns": release.stated_columns},
        "suppression": stated_counts(release),
    }
    return losses(stated, release.classes, catalog(), list(release.utility))


def _plain(claim: Claim) -> dict[str, Any]:
    return {"model": claim.model, "parameters": dict(claim.parameters)}


def exact_loss(release: TableRelease, name: str) -> float:
    """The share of what a column could tell that is lost, with the sizes of labels in the original: not public.

    It is 0 for values as they were, and 1 where one label is left.
    """
    problem = release.prepared.problem
    place = problem.cells.quasi.index(name)
    recoding, hierarchy = release.outcome.recoding(problem), problem.hierarchies[place]
    labels, ruler = recoding.labels[place], recoding.rulers[place]
    counts = label_rows(release.classes, name)
    sizes = {labels[i]: float(ruler.sizes[i]) for i in _used(release, name, labels) if labels[i] in counts}
    removed = release.suppressed_rows if release.recoding.rows == "remove" else 0
    return column_loss(counts, label_costs(sizes, float(ruler.total), continuous=hierarchy.continuous), removed)


# What the steward sees of a release of a table: the bundle's report with the original's own figures beside.


def inside_page(release: TableRelease, work: Work) -> str:
    """The steward's report as one HTML page."""
    from sfumato.reports.table import render

    facts = replace(release.exact_facts, title="Inside report", inside=True)
    if release.plan.learner:
        facts = replace(facts, errors=release.classification(cast("Learner", release.plan.learner)))
    return render(facts, work)


def exact_facts(release: TableRelease) -> ReportFacts:
    """What the bundle's report shows, with the original's figures where it has others or none."""
    public = public_facts(*unwritten(release))
    published_names = {column.name for column in public.columns}
    others = [ColumnFacts(name=name, role=str(role), done=translated("not published"))
              for name, role in release.prepared.schema.roles.items() if name not in published_names]  # fmt: skip
    return replace(
        public,
        columns=(*(_exact(release, column) for column in public.columns), *others),
        risk_before=_risk_before(release),
        utility=utility_facts(release.utility, release.plan.metric),
        effort=dict(release.outcome.effort),
        trail=release.outcome.trail,
        searches=_searches(release),
        findings=release.audit.findings,
        skipped_attacks=release.audit.skipped,
        sample=release.sample,
    )


def _searches(release: TableRelease) -> tuple[SearchFacts, ...]:
    """The search that was taken, and those beside it where there are any."""
    if not release.beside:
        return ()
    value = release.utility.get(release.plan.metric)
    taken = SearchFacts(algorithm=release.algorithm, value=value, alike=release.outcome.alike, taken=True)
    return (taken, *release.beside)


def _risk_before(release: TableRelease) -> Risk:
    """The risks of the original table."""
    cells = release.prepared.problem.cells
    if cells.population is None:  # an algorithm may have told rows with equal quasi-identifiers apart
        cells, _ = cells.project(cells.quasi)
    cells = cells.by_people()
    return risk(cells.sizes, cells.population_sizes()[0] if cells.population else None)


def _exact(release: TableRelease, column: ColumnFacts) -> ColumnFacts:
    """What happened to a column, beside the original's values."""
    role = release.prepared.schema.roles.get(column.name)
    if role not in (Role.QUASI, Role.SENSITIVE, Role.TARGET) or column.name not in release.rows.columns:
        return column
    domain = release.prepared.domains[column.name]
    before = replace(column, distinct_before=domain.distinct, before=distribution(domain))
    if role is not Role.QUASI:
        return before
    return replace(before, loss=exact_loss(release, column.name), same_labels=column.level == 0)


def summary(release: TableRelease) -> Summary:
    """Verdict, risk and loss in lines; the level of each column in a table."""
    from sfumato.reports.table import summary as summary_text

    facts = release.exact_facts
    lines = (summary_text(facts),)
    smallest = int(release.prepared.problem.cells.project(release.prepared.schema.quasi)[0].by_people().sizes.min())
    columns = [
        (f"different {c.name}", c.distinct_before, c.distinct_after)
        for c in facts.columns
        if c.role in ("quasi", "guarded")
    ]
    rows_kept = ("rows", facts.rows_before, facts.rows_after)
    changes = (rows_kept, ("smallest group", smallest, min(release.smallest_class.values())), *columns)
    if release.levels is None:
        return Summary(lines=lines, changes=changes)
    heights = [hierarchy.base + hierarchy.height for hierarchy in release.prepared.problem.hierarchies]
    rows = tuple((name, level, height) for (name, level), height in zip(release.levels.items(), heights, strict=True))
    return Summary(lines=lines, heads=("column", "level", "of"), cells=rows, changes=changes)


def figures(release: TableRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.height,
        "suppressed_rows": release.suppressed_rows,
        "claims": plain([claim.to_json() for claim in release.claims]),
        "smallest_class": release.smallest_class,
        "utility": plain(release.utility),
        "risk": release.risk,
        "levels": release.levels,
        "search": dict(release.outcome.effort),
        "algorithm": release.algorithm,
        "why": release.why,
        "alternatives": plain([_beside(search) for search in release.beside]),
        "near_unique": [column.to_json() for column in release.near_unique],
        **_sample(release),
    }


def _beside(search: SearchFacts) -> dict[str, Any]:
    """A search beside the one that was taken, as ``--json`` shows it."""
    return {key: value for key, value in asdict(search).items() if key != "taken"}


def _sample(release: TableRelease) -> dict[str, Any]:
    """What weights tell, where there are any."""
    if release.sample is None:
        return {}
    from sfumato.pipeline.methods.table.studies import sample_to_json

    return {"sample": plain(sample_to_json(release.sample))}


# The files of a release of a table, and what its manifest states.


def manifest(release: TableRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` are the data files' names and digests.

    Every figure follows from the data file and from declared facts, or is one of the few that
    ``bundles.provenance`` names.
    """
    return {
        "claims": [claim.to_json() for claim in release.claims],
        "smallest_class": release.smallest_class,
        "recoding": {"algorithm": release.algorithm, "why": release.why, "columns": release.stated_columns},
        "suppression": stated_counts(release),
        "utility": dict(release.public_utility),
        "risk": release.risk,
        "search": {"proven_optimal": release.outcome.proven},
        "trail": None if release.public_trail is None else asdict(release.public_trail),
        **release.audit.stated(),
        "versions": versions("numpy", "polars", *(() if release.session is None else ("cryptography",))),
        **({} if release.session is None else {"session": release.session}),
    }
