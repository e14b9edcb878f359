"""Figures 14 to 16 of document 004: what diversity costs, by trees (ATP, LDM) and by tables (LDD, OPTI)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.ground.chance import Chance
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.mine.anonymized_data import AnonymizedData, diverse_data, optimal_data
from sfumato.mine.counted_bayes import CountedBayes
from sfumato.mine.federation import pooled
from sfumato.mine.leaf_privacy import Basis, TreeRecursiveDiversity, TreeSimpleDiversity
from sfumato.mine.model_measures import share_right
from sfumato.mine.pseudo_data import pseudo_data
from sfumato.mine.records import Records
from sfumato.mine.sharing_experiment import QUICK, Trials, dealt
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_learning import TreeLearner
from sfumato.mine.tree_pruning import anonymized
from sfumato.mine.tree_routes import predicted
from sfumato.models.l_diversity import RecursiveLDiversity, SimpleLDiversity

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
    found: dict[tuple[int, Diversity, Method], list[tuple[float | None, float | None, float | None, float]]] = {}
    watch = work or Work()
    runs = list(trials.runs(records))
    for done, (seed, train, test) in enumerate(runs, 1):
        for many in trials.sources:
            parts = [_Source(one) for one in dealt(train, many, seed)]
            for requirement in requirements:
                for method in methods:
                    given = [
                        _given(part, requirement, method, quasi, seed + n, seconds) for n, part in enumerate(parts)
                    ]
                    key = (many, requirement, method)
                    found.setdefault(key, []).append(_scores([one for one in given if one is not None], many, test))
        watch.advance("diversity", done, len(runs))
    return tuple(_point(data, key, values) for key, values in found.items())


class _Source:
    """One source's records, and the tree that it would publish without a requirement, which is learnt once."""

    def __init__(self, records: Records) -> None:
        self.records = records

    @cached_property
    def tree(self) -> TreeDocument:
        return TreeLearner()(self.records)


def _given(
    part: _Source, asked: Diversity, method: Method, quasi: Sequence[str] | None, seed: int, seconds: float
) -> _Given | None:
    """What a source publishes under a requirement, as a learner reads it; None where nothing meets it."""
    try:
        if method in ("ATP", "LDM"):
            return _of_tree(_tree(part, asked, method), Chance(seed=seed))
        shown = part.records if quasi is None else part.records.keep(quasi)
        return _of_table(_table(shown, asked, method, Chance(seed=seed), seconds))
    except Infeasible:
        return None


def _tree(part: _Source, asked: Diversity, method: Method) -> TreeDocument:
    if method == "ATP":
        return anonymized(part.tree, asked.of_trees, keep_root=True).tree
    return TreeLearner(criterion="gain", within=asked.of_trees)(part.records)


def _table(part: Records, asked: Diversity, method: Method, chance: Chance, seconds: float) -> AnonymizedData:
    model = asked.of_tables(part.target)
    if method == "LDD":
        return diverse_data(part, model, chance=chance)
    return optimal_data(part, model, chance=chance, seconds=seconds)


def _of_tree(tree: TreeDocument, chance: Chance) -> _Given | None:
    if tree.empty:
        return None
    drawn = pseudo_data(tree, chance=chance)
    return _Given(drawn, float(tree.miss.sum()) / max(tree.records, 1), tree)


def _of_table(found: AnonymizedData) -> _Given | None:
    return _Given(found.records, found.metric) if found.records.count else None


def _scores(
    given: Sequence[_Given], sources: int, test: Records
) -> tuple[float | None, float | None, float | None, float]:
    """Accuracy of a tree and of naive Bayes, the metric, and the share of sources that published."""
    if not given:
        return None, None, None, 0.0
    rows = pooled([one.records for one in given])
    alone = given[0].tree if sources == 1 else None
    tree = TreeLearner()(rows) if alone is None else alone
    shown = _shown(test, rows)
    sizes = [one.records.count for one in given]
    metric = float(np.average([one.metric for one in given], weights=sizes))
    bayes = share_right(CountedBayes.learnt(rows).predicted(shown), shown)
    return share_right(predicted(tree, shown), shown), bayes, metric, len(given) / sources


def _shown(test: Records, rows: Records) -> Records:
    """The tested records with the attributes that were published."""
    return test.keep([one.name for one in rows.attributes])


def _point(
    data: str,
    key: tuple[int, Diversity, Method],
    values: Sequence[tuple[float | None, float | None, float | None, float]],
) -> DiversityPoint:
    def mean(pick: Callable[[tuple[float | None, float | None, float | None, float]], float | None]) -> float | None:
        known = [one for one in map(pick, values) if one is not None]
        return float(np.mean(known)) if known else None

    return DiversityPoint(
        data=data,
        sources=key[0],
        requirement=key[1],
        method=key[2],
        accuracy=mean(lambda one: one[0]),
        bayes=mean(lambda one: one[1]),
        metric=mean(lambda one: one[2]),
        published=float(np.mean([one[3] for one in values])),
        runs=len(values),
    )
