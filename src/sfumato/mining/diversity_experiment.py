"""Figures 14 to 16 of document 004: the cost of diversity by trees (ATP, LDM) and by tables (LDD, OPTI)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.k_optimize.set_enumeration import KOptimize
from sfumato.algorithms.lattice.incognito import Incognito
from sfumato.algorithms.one_dimensional import OneDimensional
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import ClassificationMetric, LossMetric
from sfumato.metrics.learners import Words, covered
from sfumato.metrics.metric import Metric, measures
from sfumato.mining.attributes import Attribute
from sfumato.mining.federation import pooled, pseudo_data
from sfumato.mining.leaf_privacy import Basis, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mining.naive_bayes import CountedBayes
from sfumato.mining.prediction import predicted, share_right
from sfumato.mining.records import Records
from sfumato.mining.sharing_experiment import QUICK, Trials, dealt
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner
from sfumato.mining.tree_pruning import anonymized
from sfumato.models.l_diversity import RecursiveLDiversity, SimpleLDiversity
from sfumato.models.model import Model, Verdict
from sfumato.tables.hierarchy import Hierarchy, chain
from sfumato.tables.hierarchy_builders import Intervals
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import Categories, Numbers, ObservedDomain
from sfumato.tables.table import Kind, Table

# LDD and OPTI: sources publish generalized tables instead of trees (section 6.1), on the searches of ``publish``.


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
    outcome = (OneDimensional() if by_rows else Incognito())(problem, work or Work(chance=chance))
    return _read(records, problem, rows, outcome, chance)


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
    outcome = KOptimize()(problem, Work(chance=chance).allowing(seconds))
    return _read(records, problem, rows, outcome, chance)


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
    columns = [table.column(attribute.name, _kind(attribute)) for attribute in records.attributes]
    target = table.column(records.target, "category")
    cell_data = cells(columns, [target])
    given = hierarchies or {}
    built = []
    for attribute, column in zip(records.attributes, columns, strict=True):
        builder = given.get(attribute.name)
        domain = ObservedDomain.of(column)
        built.append(_usual(attribute, domain) if builder is None else builder.build(domain))
    tallies = {name: replace(tally, original=tally.overall) for name, tally in cell_data.classes.tallies.items()}
    cell_data = replace(
        cell_data, classes=replace(cell_data.classes, tallies=tallies, measures=measures(cell_data.classes))
    )
    if by_rows:
        cell_data = cell_data.singly({records.target: target})
    problem = Problem(
        cells=cell_data.classes,
        hierarchies=tuple(built),
        models=tuple(models),
        metric=metric,
        target=records.target,
        limit=limit,
        numbers=tuple(
            c.numbers if attribute.numeric else None for attribute, c in zip(records.attributes, columns, strict=True)
        ),
    )
    return problem, cell_data.row_cell


def _kind(attribute: Attribute) -> Kind:
    if not isinstance(attribute.domain, Numbers):
        return "category"
    return "integer" if attribute.domain.grid is not None and float(attribute.domain.grid).is_integer() else "real"


def _usual(attribute: Attribute, domain: ObservedDomain) -> Hierarchy:
    """The declared tree of a category, or nothing between value and top; halves, quarters and so on of a range."""
    if isinstance(attribute.domain, Categories):
        if attribute.domain.paths:
            return Paths(paths=attribute.domain.paths).build(domain)
        return chain(domain, [[] for _ in domain.values], [], total=float(len(domain.values)))
    low, high = attribute.domain.low, attribute.domain.high
    cuts = [tuple(low + (high - low) * n / parts for n in range(1, parts)) for parts in _PARTS]
    return Intervals(cuts=tuple(cuts), low=low, high=high).build(domain)


def _read(records: Records, problem: Problem, row_cell: Ids, outcome: Outcome, chance: Chance) -> AnonymizedData:
    """The published rows, each label as one of the values that it covers."""
    dice = chance.generator()
    recoding = outcome.recoding(problem)
    kept = np.flatnonzero(~outcome.suppressed[row_cell])
    columns = []
    for place, attribute in enumerate(records.attributes):
        hierarchy = problem.hierarchies[place]
        words = Words.of(recoding, place)
        cover = covered(hierarchy, problem.number(place), words, problem.cells.keys[place], recoding.keys[place])
        drawn = _drawn(cover, recoding.keys[place][row_cell[kept]], dice)
        columns.append(_values(attribute, problem.cells.labels[place])[drawn])
    view = recoding.view(problem, outcome.suppressed)
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


def _values(attribute: Attribute, labels: tuple[str, ...]) -> NDArray[Any]:
    """What the values of a column are to a learner."""
    if isinstance(attribute.domain, Numbers):
        return np.array([float(label) for label in labels])
    codes = {value: code for code, value in enumerate(attribute.domain.values)}
    return np.array([codes[label] for label in labels], np.int32)


# Figures 14 to 16 of document 004: what diversity costs, by trees (ATP, LDM) and by tables (LDD, OPTI).


Method = Literal["ATP", "LDM", "LDD", "OPTI"]
METHODS: tuple[Method, ...] = ("ATP", "LDM", "LDD", "OPTI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """A requirement of the figures: (c, l)-diversity, or simple l-diversity without a c."""

    l: int
    """How many classes."""
    c: float | None = None
    """The c of recursive diversity."""
    basis: Basis = "counts"
    """Where leaves take the classes of their misses from; the paper's is ``hits``."""

    @property
    def of_trees(self) -> TreeRecursiveDiversity | TreeSimpleDiversity:
        """The requirement of leaves."""
        if self.c is None:
            return TreeSimpleDiversity(l=self.l)
        return TreeRecursiveDiversity(c=self.c, l=self.l, basis=self.basis)

    def of_tables(self, target: str) -> RecursiveLDiversity | SimpleLDiversity:
        """The same of the classes of a table."""
        if self.c is None:
            return SimpleLDiversity(l=self.l, column=target)
        return RecursiveLDiversity(c=self.c, l=self.l, column=target)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiversityPoint:
    """One point of figures 14 to 16, averaged over the runs in which something could be published."""

    data: str
    """The data set."""
    sources: int
    """How many sources there were."""
    requirement: Diversity
    """What was asked for."""
    method: Method
    """How sources met it."""
    accuracy: float | None
    """Of the tree: the published one of a single source, else one learnt from what all published."""
    bayes: float | None
    """Of naive Bayes learnt from what all published."""
    metric: float | None
    """The classification metric: the share of records that are suppressed, or not of the most frequent class of their
    path or of their class in a generalized table."""
    published: float
    """The share of sources, over all runs, that could publish anything."""
    runs: int
    """How many runs were made."""


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """What one source gives to learners."""

    records: Records
    metric: float
    tree: TreeDocument | None = None


def diversity_study(
    data: str,
    records: Records,
    requirements: Sequence[Diversity],
    trials: Trials = QUICK,
    *,
    quasi: Sequence[str] | None = None,
    methods: Sequence[Method] = METHODS,
    seconds: float = 2.0,
    work: Work | None = None,
) -> tuple[DiversityPoint, ...]:
    """Every method under every requirement; tables show their quasi-identifiers alone, trees any attribute.

    ``seconds`` is what one search of OPTI may take.
    """
    scores: dict[tuple[int, Diversity, Method], list[tuple[float | None, float | None, float | None, float]]] = {}
    watch = work or Work()
    runs = list(trials.runs(records))
    for done, (seed, train, test) in enumerate(runs, 1):
        for many in trials.sources:
            parts = [_Source(part) for part in dealt(train, many, seed)]
            for requirement in requirements:
                for method in methods:
                    given = [
                        _given(part, requirement, method, quasi, seed + n, seconds) for n, part in enumerate(parts)
                    ]
                    key = (many, requirement, method)
                    scores.setdefault(key, []).append(
                        _scores([publication for publication in given if publication is not None], many, test)
                    )
        watch.advance("diversity", done, len(runs))
    return tuple(_point(data, key, values) for key, values in scores.items())


class _Source:
    """One source's records, and the tree that it would publish without a requirement, which is learnt once."""

    def __init__(self, records: Records) -> None:
        self.records = records

    @cached_property
    def tree(self) -> TreeDocument:
        return TreeLearner()(self.records)


def _given(
    part: _Source, requirement: Diversity, method: Method, quasi: Sequence[str] | None, seed: int, seconds: float
) -> _Given | None:
    """What a source publishes under a requirement, as a learner reads it; None where nothing meets it."""
    try:
        if method in ("ATP", "LDM"):
            return _of_tree(_tree(part, requirement, method), Chance(seed=seed))
        records = part.records if quasi is None else part.records.keep(quasi)
        return _of_table(_table(records, requirement, method, Chance(seed=seed), seconds))
    except Infeasible:
        return None


def _tree(part: _Source, requirement: Diversity, method: Method) -> TreeDocument:
    if method == "ATP":
        return anonymized(part.tree, requirement.of_trees, keep_root=True).tree
    return TreeLearner(criterion="gain", within=requirement.of_trees)(part.records)


def _table(part: Records, requirement: Diversity, method: Method, chance: Chance, seconds: float) -> AnonymizedData:
    model = requirement.of_tables(part.target)
    if method == "LDD":
        return diverse_data(part, model, chance=chance)
    return optimal_data(part, model, chance=chance, seconds=seconds)


def _of_tree(tree: TreeDocument, chance: Chance) -> _Given | None:
    if tree.empty:
        return None
    drawn = pseudo_data(tree, chance=chance)
    return _Given(drawn, float(tree.miss.sum()) / max(tree.records, 1), tree)


def _of_table(data: AnonymizedData) -> _Given | None:
    return _Given(data.records, data.metric) if data.records.count else None


def _scores(
    given: Sequence[_Given], sources: int, test: Records
) -> tuple[float | None, float | None, float | None, float]:
    """Accuracy of a tree and of naive Bayes, the metric, and the share of sources that published."""
    if not given:
        return None, None, None, 0.0
    rows = pooled([publication.records for publication in given])
    alone = given[0].tree if sources == 1 else None
    tree = TreeLearner()(rows) if alone is None else alone
    test_rows = _shown(test, rows)
    sizes = [publication.records.count for publication in given]
    metric = float(np.average([publication.metric for publication in given], weights=sizes))
    bayes = share_right(CountedBayes.learnt(rows).predicted(test_rows), test_rows)
    return share_right(predicted(tree, test_rows), test_rows), bayes, metric, len(given) / sources


def _shown(test: Records, rows: Records) -> Records:
    """The tested records with the attributes that were published."""
    return test.keep([attribute.name for attribute in rows.attributes])


def _point(
    data: str,
    key: tuple[int, Diversity, Method],
    values: Sequence[tuple[float | None, float | None, float | None, float]],
) -> DiversityPoint:
    def mean(pick: Callable[[tuple[float | None, float | None, float | None, float]], float | None]) -> float | None:
        known = [value for value in map(pick, values) if value is not None]
        return float(np.mean(known)) if known else None

    return DiversityPoint(
        data=data,
        sources=key[0],
        requirement=key[1],
        method=key[2],
        accuracy=mean(lambda scores: scores[0]),
        bayes=mean(lambda scores: scores[1]),
        metric=mean(lambda scores: scores[2]),
        published=float(np.mean([scores[3] for scores in values])),
        runs=len(values),
    )
