"""What the lattice search says about finer nodes, and what it rolls up, against plain recounts of every node."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.feasibility import Suppression
from sfumato.algorithms.lattice.frequencies import Memory, Rollup
from sfumato.algorithms.lattice.nodes import Checker
from sfumato.algorithms.problem import Problem
from sfumato.counts.classes import Classes
from sfumato.metrics.information_loss import ClassificationMetric, Discernibility, LossMetric, NonUniformEntropy
from sfumato.metrics.metric import Metric, Ruler, View
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
)
from sfumato.models.model import LeastRows, Model, judge
from sfumato.models.t_closeness import most_left, variational
from tests.example_tables import problem_cells, quasi_rows
from tests.weights import examples

MODELS: list[tuple[Model, ...]] = [
    (TCloseness(t=0.3, column="s", distance="emd-equal"),),
    (TCloseness(t=0.15, column="s", distance="variational", reference="original"),),
    (TCloseness(t=0.2, column="s", distance="emd-ordered", order=("1", "2", "3")),),
    (TCloseness(t=0.2, column="s", distance="kl"),),
    (KAnonymity(k=2), TCloseness(t=0.35, column="s", distance="emd-equal")),
    (SimpleLDiversity(l=1.7, column="s"),),
    (DistinctLDiversity(l=2, column="s"), EntropyLDiversity(l=1.6, column="s")),
    (RecursiveLDiversity(c=1.5, l=2, column="s"),),
    (AlphaKAnonymity(alpha=0.7, k=3, column="s"),),
    (LKCPrivacy(l=2, k=3, c=0.8, column="s"),),
    (LKCPrivacy(l=1, k=4, c=1.0, column="s"), KAnonymity(k=2)),
]
METRICS: list[Metric] = [LossMetric(), NonUniformEntropy(), Discernibility(), ClassificationMetric()]
Levels = tuple[int, ...]


def recounted(problem: Problem, levels: Levels) -> Classes:
    """The classes of a node, from the cells."""
    chosen = [h.levels[n] for h, n in zip(problem.hierarchies, levels, strict=True)]
    return problem.cells.recoded([c.parent for c in chosen], [c.labels for c in chosen])[0]


def plainly(problem: Problem, levels: Levels) -> float | None:
    """What a node loses when failing classes are taken out of it, nothing known beforehand; None if infeasible."""
    classes, suppression = recounted(problem, levels), Suppression(problem)
    small = suppression.small(classes.sizes)
    if int(classes.sizes[small].sum()) > problem.limit:
        return None
    feasible, hidden = suppression.hide(classes, small)
    if not feasible or hidden.all():
        return None
    rulers = tuple(Ruler.at(h, n) for h, n in zip(problem.hierarchies, levels, strict=True))
    return problem.metric.loss(View(classes=classes, suppressed=hidden, rulers=rulers, target="y")).value


def nodes_of(problem: Problem) -> list[Levels]:
    return list(product(*(range(h.height + 1) for h in problem.hierarchies)))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    quasi = draw(quasi_rows(most=24, columns=2))
    rows = len(next(iter(quasi.values())))
    values = st.lists(st.sampled_from("123"), min_size=rows, max_size=rows)
    made, hierarchies = problem_cells(quasi, {"s": draw(values), "y": draw(values)})
    return Problem(
        cells=made.classes,
        hierarchies=hierarchies,
        models=draw(st.sampled_from(MODELS)),
        metric=draw(st.sampled_from(METRICS)),
        target="y",
        limit=int(draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) * rows),
        suppressed=draw(st.sampled_from(["remove", "remove", "star"])),
    )


@examples(150, whole=True)
@given(problem=problems())
def test_judged_nodes_and_their_bounds_equal_plain_recounts(problem):
    checker, expected = Checker(problem), {levels: plainly(problem, levels) for levels in nodes_of(problem)}
    floors = problem.floors()
    for levels, loss in expected.items():
        found = checker.judge(levels)
        assert found.feasible == (loss is not None)
        assert loss is None or found.loss.value == pytest.approx(loss, abs=1e-9)
        for finer, theirs in expected.items():
            if theirs is None or finer == levels or any(n > m for n, m in zip(finer, levels, strict=True)):
                continue
            assert not found.hopeless
            floor = 0.0 if floors is None else sum(float(c[n]) for c, n in zip(floors, finer, strict=True))
            assert theirs >= floor + found.surcharge - 1e-9


@examples(100)
@given(problem=problems())
def test_beaten_nodes_are_never_called_better(problem):
    expected = {levels: plainly(problem, levels) for levels in nodes_of(problem)}
    best = min((loss for loss in expected.values() if loss is not None), default=np.inf)
    for levels, loss in expected.items():
        found = Checker(problem).judge(levels, best + 1e-9)
        assert not found.feasible or found.loss.value == pytest.approx(loss, abs=1e-9)
        assert found.feasible or loss is None or loss >= best - 1e-12
        assert loss is None or loss > best + 1e-9 or found.feasible


@examples(60)
@given(problem=problems(), room=st.sampled_from([0, 2_000, 10**6]), data=st.data())
def test_rolled_up_nodes_equal_recounts_in_any_order(problem, room, data):
    rollup = Rollup(problem.cells, problem.hierarchies, counting=data.draw(st.booleans()))
    rollup._memory = Memory(rollup._memory.base, room)
    for levels in data.draw(st.permutations(nodes_of(problem))):
        made, whole = rollup.at(levels), recounted(problem, levels)
        judged = np.array(data.draw(st.lists(st.booleans(), min_size=whole.count, max_size=whole.count)), np.bool_)
        gone = ~judged & (np.arange(whole.count) % 2 == 0)
        place = {tuple(key): n for n, key in enumerate(whole.keys.T.tolist())}
        mine = np.array([place[tuple(key)] for key in made.keys.T.tolist()])
        assert sorted(mine.tolist()) == list(range(whole.count))
        classes, some = rollup.classes(made), rollup.some(made, judged, gone)
        for name, tally in whole.tallies.items():
            assert classes.sizes.tolist() == whole.sizes[mine].tolist()
            assert classes.tally(name).dense().tolist() == tally.dense()[mine].tolist()
            assert some.tally(name).dense().tolist() == tally.dense()[mine][judged].tolist()
            assert some.tally(name).overall.tolist() == tally.dense()[mine][~gone].sum(axis=0).tolist()


@examples(150)
@given(
    counts=st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any),
    whole=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    reach=st.sampled_from([0.0, 0.1, 0.25, 0.4]),
)
def test_no_more_rows_are_left_near_the_reference(counts, whole, reach):
    reference = np.array(whole) / sum(whole)
    left = [np.array(u) for u in product(*(range(c + 1) for c in counts)) if any(u)]
    near = [int(u.sum()) for u in left if variational(u[np.newaxis] / u.sum(), reference)[0] <= reach]
    assert most_left(np.array([counts]), reference, reach)[0] >= max(near, default=0)


@examples(80)
@given(problem=problems())
def test_classes_with_too_few_rows_fail(problem):
    for model in problem.models:
        if not isinstance(model, LeastRows):
            continue
        few = model.least_rows(problem.cells, 0.0)
        for levels in nodes_of(problem):
            classes = recounted(problem, levels)
            failing = judge(model, classes, problem.reading).failing
            assert set(np.flatnonzero(classes.sizes < few).tolist()) <= set(failing.tolist())
