"""Figures 10 to 13 of document 004: what a global model keeps that is learnt from the trees of several sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.mining.federation import Committee, pooled, pooled_pseudo_data, random_data
from sfumato.mining.naive_bayes import CountedBayes, conjunctive_rule, said_by_rules
from sfumato.mining.prediction import class_match, path_match, predicted, share_right
from sfumato.mining.records import Records
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner

Whole = NDArray[np.int64]
Sharing = Literal["BASIS", "PGEN", "BASEGEN", "BAGGING"]
Learner = Literal["tree", "bayes", "rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """How often an experiment is made."""

    folds: int = 10
    """Into how many parts a data set is divided; each is tested once, the others are learnt from."""
    tested: int | None = None
    """How many of the parts are tested; all, where nothing is said."""
    passes: int = 5
    """How often the records of a fold are dealt to sources anew."""
    sources: tuple[int, ...] = tuple(range(1, 11))
    """Numbers of sources."""
    seed: int = 4
    """Where the draws come from; equal seeds give equal results."""

    def __post_init__(self) -> None:
        at_least("folds", self.folds, 2)
        at_least("passes", self.passes, 1)
        for count in self.sources:
            at_least("sources", count, 1)

    def runs(self, records: Records) -> Iterator[tuple[int, Records, Records]]:
        """For every run its seed, the records that are learnt from, and those that are tested."""
        order = Chance(seed=self.seed).generator().permutation(records.count)
        for fold in range(self.folds if self.tested is None else min(self.tested, self.folds)):
            held = np.zeros(records.count, np.bool_)
            held[order[fold :: self.folds]] = True
            for turn in range(self.passes):
                yield self.seed + 1000 * fold + turn + 1, records.take(~held), records.take(held)


QUICK = Trials(tested=1, passes=1, sources=(1, 3, 10))
"""One fold, dealt once, for three numbers of sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingPoint:
    """One point of figures 10 to 13, averaged over all runs."""

    data: str
    """The data set."""
    sources: int
    """How many sources shared their trees."""
    method: Sharing
    """How a global model was made of them."""
    learner: Learner
    """What the global model is."""
    accuracy: float
    """The share of tested records that it classifies rightly."""
    class_match: float
    """The share that it classifies as the model of all original records does."""
    path_match: float | None
    """The share of paths that both trees have; None where it is no tree."""
    runs: int
    """How many runs it is the average of."""


@dataclass(slots=True)
class _Sums:
    """What the runs of one point add up to."""

    values: list[tuple[float, float, float | None]] = field(default_factory=list)


def dealt(records: Records, sources: int, seed: int) -> list[Records]:
    """Records dealt to sources at random, as evenly as can be."""
    order = Chance(seed=seed).generator().permutation(records.count)
    return [records.take(np.sort(order[place::sources])) for place in range(sources)]


def sharing_study(
    data: str,
    records: Records,
    trials: Trials = QUICK,
    *,
    learners: Sequence[Learner] = ("tree",),
    work: Work | None = None,
) -> tuple[SharingPoint, ...]:
    """Figures 10 to 13: global models from pseudo-data of sources that publish trees without a requirement.

    With one source its tree is the global tree of every method, for nothing needs to be generated.
    """
    sums: dict[tuple[int, Sharing, Learner], _Sums] = {}
    watch = work or Work()
    runs = list(trials.runs(records))
    for done, (seed, train, test) in enumerate(runs, 1):
        bases = {learner: _model(learner, train) for learner in learners}
        for many in trials.sources:
            trees = [TreeLearner()(part) for part in dealt(train, many, seed)]
            for method, learner, model in _models(trees, bases, learners, seed):
                point = sums.setdefault((many, method, learner), _Sums())
                point.values.append(_measured(model, bases[learner], test))
        watch.advance("sharing", done, len(runs))
    return tuple(_point(data, key, totals) for key, totals in sums.items())


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """A model by what it says, and its tree where it is one."""

    says: Callable[[Records], Whole]
    tree: TreeDocument | None = None


def _model(learner: Learner, records: Records) -> _Model:
    if learner == "tree":
        return _of_tree(TreeLearner()(records))
    if learner == "bayes":
        return _Model(CountedBayes.learnt(records).predicted)
    rules = conjunctive_rule(records)
    return _Model(lambda rows: said_by_rules(rules, rows))


def _of_tree(tree: TreeDocument) -> _Model:
    return _Model(lambda rows: predicted(tree, rows), tree)


def _models(
    trees: Sequence[TreeDocument], bases: dict[Learner, _Model], learners: Sequence[Learner], seed: int
) -> Iterator[tuple[Sharing, Learner, _Model]]:
    """The global models of all methods from the trees of the sources."""
    drawn = pooled_pseudo_data(trees, chance=Chance(seed=seed))
    anywhere = pooled([random_data(tree, tree.records, chance=Chance(seed=seed + n)) for n, tree in enumerate(trees)])
    for learner in learners:
        yield "BASIS", learner, bases[learner]
        alone = learner == "tree" and len(trees) == 1
        yield "PGEN", learner, _of_tree(trees[0]) if alone else _model(learner, drawn)
        yield "BASEGEN", learner, _of_tree(trees[0]) if alone else _model(learner, anywhere)
    yield "BAGGING", "tree", _Model(Committee(trees=tuple(trees)).predicted)


def _measured(model: _Model, base: _Model, test: Records) -> tuple[float, float, float | None]:
    predictions, other = model.says(test), base.says(test)
    paths = None if model.tree is None or base.tree is None else path_match(model.tree, base.tree)
    return share_right(predictions, test), class_match(predictions, other), paths


def _point(data: str, key: tuple[int, Sharing, Learner], sums: _Sums) -> SharingPoint:
    right, match, paths = zip(*sums.values, strict=True)
    known = [share for share in paths if share is not None]
    return SharingPoint(
        data=data,
        sources=key[0],
        method=key[1],
        learner=key[2],
        accuracy=float(np.mean(right)),
        class_match=float(np.mean(match)),
        path_match=float(np.mean(known)) if known else None,
        runs=len(right),
    )
