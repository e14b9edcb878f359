"""LDD and OPTI: sources publish generalized tables instead of trees (section 6.1), on the searches of ``publish``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Kind, Table
from sfumato.describe.domains import Categories, Numbers, ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.paths import Paths
from sfumato.describe.ranges import Intervals
from sfumato.ground.brief import Brief
from sfumato.ground.chance import Chance
from sfumato.ground.work import Work
from sfumato.group.cells import cells
from sfumato.group.keys import Ids
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.records import Records
from sfumato.models.l_diversity import RecursiveLDiversity, SimpleLDiversity
from sfumato.models.verdict import Model, Verdict
from sfumato.publish.k_optimize.set_enumeration import KOptimize
from sfumato.publish.lattice.incognito import Incognito
from sfumato.publish.one_dimensional.hilbert import OneDimensional
from sfumato.publish.problem import Outcome, Problem
from sfumato.utility.cell_metrics import LossMetric
from sfumato.utility.class_metrics import ClassificationMetric
from sfumato.utility.label_features import Words, covered
from sfumato.utility.view import Metric, measures

_PARTS = (16, 8, 4, 2)
"""Into how many equal parts a range is cut, level by level, where no hierarchy is given."""


class Builder(Protocol):
    """What makes the hierarchy of a column."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnonymizedData(Brief):
    """A generalized table as a learner reads it."""

    records: Records
    """Published rows: every label as one of the values that it covers, drawn evenly."""
    metric: float
    """The classification metric of the table: suppressed rows, and those not of the majority of their class."""
    suppressed: int
    """Rows that were left out."""
    verdict: Verdict
    """What the model says about the classes that are published; the search is not its own judge."""


def diverse_data(
    records: Records,
    model: RecursiveLDiversity | SimpleLDiversity,
    *,
    chance: Chance,
    hierarchies: Mapping[str, Builder] | None = None,
    work: Work | None = None,
) -> AnonymizedData:
    """LDD: Incognito for (c, l)-diversity, groups on a space-filling curve for simple l-diversity.

    Claim: the published table meets the model; where it cannot, the search refuses.
    Source: document 004, sections 6.1.1, 6.1.2 and 7.1.
    """
    by_rows = isinstance(model, SimpleLDiversity)
    problem, rows = _problem(records, (model,), LossMetric(), hierarchies, by_rows=by_rows, limit=0)
    found = (OneDimensional() if by_rows else Incognito())(problem, work or Work(chance=chance))
    return _read(records, problem, rows, found, chance)


def optimal_data(
    records: Records,
    model: RecursiveLDiversity | SimpleLDiversity,
    *,
    chance: Chance,
    seconds: float = 10.0,
    max_suppressed: float = 1.0,
) -> AnonymizedData:
    """OPTI: K-Optimize for l-diversity with the classification metric; suppressed rows are left out.

    Claim: the published table meets the model; the cuts are the best that were found within the limit.
    Source: document 004, section 6.1.3.
    """
    limit = int(max_suppressed * records.count)
    problem, rows = _problem(records, (model,), ClassificationMetric(), None, by_rows=False, limit=limit)
    found = KOptimize()(problem, Work(chance=chance).allowing(seconds))
    return _read(records, problem, rows, found, chance)


def _problem(
    records: Records,
    models: Sequence[Model],
    metric: Metric,
    hierarchies: Mapping[str, Builder] | None,
    *,
    by_rows: bool,
    limit: int,
) -> tuple[Problem, Ids]:
    """The records as a search takes them, and the cell of every record."""
    table = Table(frame=records.frame())
    columns = [table.column(one.name, _kind(one)) for one in records.attributes]
    target = table.column(records.target, "category")
    made = cells(columns, [target])
    given = hierarchies or {}
    built = []
    for one, column in zip(records.attributes, columns, strict=True):
        builder = given.get(one.name)
        domain = ObservedDomain.of(column)
        built.append(_usual(one, domain) if builder is None else builder.build(domain))
    tallies = {name: replace(tally, original=tally.overall) for name, tally in made.classes.tallies.items()}
    made = replace(made, classes=replace(made.classes, tallies=tallies, measures=measures(made.classes)))
    if by_rows:
        made = made.singly({records.target: target})
    problem = Problem(
        cells=made.classes,
        hierarchies=tuple(built),
        models=tuple(models),
        metric=metric,
        target=records.target,
        limit=limit,
        numbers=tuple(c.numbers if one.numeric else None for one, c in zip(records.attributes, columns, strict=True)),
    )
    return problem, made.row_cell


def _kind(one: Attribute) -> Kind:
    if not isinstance(one.domain, Numbers):
        return "category"
    return "integer" if one.domain.grid is not None and float(one.domain.grid).is_integer() else "real"


def _usual(one: Attribute, domain: ObservedDomain) -> Hierarchy:
    """The declared tree of a category, or nothing between value and top; halves, quarters and so on of a range."""
    if isinstance(one.domain, Categories):
        if one.domain.paths:
            return Paths(paths=one.domain.paths).build(domain)
        return chain(domain, [[] for _ in domain.values], [], total=float(len(domain.values)))
    low, high = one.domain.low, one.domain.high
    cuts = [tuple(low + (high - low) * n / parts for n in range(1, parts)) for parts in _PARTS]
    return Intervals(cuts=tuple(cuts), low=low, high=high).build(domain)


def _read(records: Records, problem: Problem, row_cell: Ids, found: Outcome, chance: Chance) -> AnonymizedData:
    """The published rows, each label as one of the values that it covers."""
    dice = chance.generator()
    shown = found.recoding(problem)
    kept = np.flatnonzero(~found.suppressed[row_cell])
    columns = []
    for place, one in enumerate(records.attributes):
        hierarchy = problem.hierarchies[place]
        words = Words.of(shown, place)
        cover = covered(hierarchy, problem.number(place), words, problem.cells.keys[place], shown.keys[place])
        drawn = _drawn(cover, shown.keys[place][row_cell[kept]], dice)
        columns.append(_values(one, problem.cells.labels[place])[drawn])
    view = shown.view(problem, found.suppressed)
    published = replace(records.take(kept), columns=tuple(columns))
    return AnonymizedData(
        records=published,
        metric=ClassificationMetric().loss(view).value,
        suppressed=len(row_cell) - len(kept),
        verdict=problem.models[0].check(view.classes.take(~view.suppressed)),
    )


def _drawn(cover: NDArray[np.float64], label: NDArray[np.int32], dice: np.random.Generator) -> NDArray[np.int64]:
    """A value for every row: any of those that its label covers."""
    owner, value = np.nonzero(cover)
    starts = np.searchsorted(owner, np.arange(len(cover) + 1))
    sizes = np.diff(starts)[label]
    return np.asarray(value[starts[:-1][label] + (dice.random(len(label)) * sizes).astype(np.int64)])


def _values(one: Attribute, labels: tuple[str, ...]) -> NDArray[Any]:
    """What the values of a column are to a learner."""
    if isinstance(one.domain, Numbers):
        return np.array([float(label) for label in labels])
    codes = {value: code for code, value in enumerate(one.domain.values)}
    return np.array([codes[label] for label in labels], np.int32)
