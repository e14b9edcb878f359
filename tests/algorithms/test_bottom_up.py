"""Bottom-up generalization: the paper's example, the three modes, every step the best, every result as required."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.bottom_up import BottomUp
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import (
    NCP,
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    Height,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import measures
from sfumato.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    TCloseness,
)
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.testing.searches import check_outcome, check_same
from tests.example_tables import PATHS, column
from tests.weights import examples

MODES = ("plain", "index", "pruning")
SCORES = ("auto", "information-privacy", "information", "loss-privacy", "loss")
METRICS = (
    LossMetric(),
    NCP(),
    Precision(),
    Height(),
    Discernibility(),
    ClassificationMetric(),
    NonUniformEntropy(),
    AverageClassSize(k=2),
)
MODELS = (
    (KAnonymity(k=2),),
    (KAnonymity(k=4),),
    (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (KAnonymity(k=2), TCloseness(t=0.4, column="s", distance="emd-equal")),
    (LKCPrivacy(l=2, k=2, c=0.9, column="s"),),
)
UNEVEN = {"p": ("P", "PQ"), "q": ("PQ",), "r": (), "P": ("PQ",), "t": ("T",), "u": ("T",), "v": ("T",)}
TREES = {"a": PATHS["a"], "u": UNEVEN, "b": PATHS["b"], "c": PATHS["c"]}
MISSING = "?"


def problem_of(quasi, sensitive=None, target=None, models=MODELS[0], metric=None, bounds=None) -> Problem:
    """A problem over columns of TREES; columns named n... are numbers without a hierarchy."""
    rows = len(next(iter(quasi.values())))
    encoded = [column(name, values, missing=(MISSING,)) for name, values in quasi.items()]
    counted = [column("s", sensitive or ["1"] * rows), column("y", target or ["0"] * rows)]
    made = cells(encoded, counted).classes
    tallies = {name: replace(t, original=t.overall) for name, t in made.tallies.items()}
    return Problem(
        cells=replace(made, tallies=tallies, measures=measures(made)),
        hierarchies=tuple(built(c, bounds) for c in encoded),
        models=models,
        metric=metric or LossMetric(),
        target="y",
        numbers=tuple(numbers(c.values) if c.name.startswith("n") else None for c in encoded),
    )


def built(one, bounds):
    domain = ObservedDomain.of(one)
    if not one.name.startswith("n"):
        return Paths(paths=TREES[one.name]).build(domain)
    low, high = bounds or (None, None)
    known = np.array([float(v) for v in domain.values])
    return Grown(low=low, high=high).build(replace(domain, kind="integer", numbers=known))


def numbers(values):
    return np.array([np.nan if value == MISSING else float(value) for value in values])


@st.composite
def problems(draw, *, numeric=False, missing=False, models=MODELS, most=24, names=tuple(TREES)):
    rows = draw(st.integers(2, most))
    chosen = [*draw(st.permutations(names))[: draw(st.integers(1, 3))], *(["n"] if numeric else [])]
    values = {name: list(TREES[name]) if name in TREES else ["1", "2", "7", "12", "40", "41"] for name in chosen}
    extra = [MISSING] if missing else []

    def some(known):
        return draw(st.lists(st.sampled_from(known), min_size=rows, max_size=rows))

    quasi = {name: some([*values[name], *extra]) for name in chosen}
    if numeric and set(quasi["n"]) == {MISSING}:
        quasi["n"][0] = "1"
    bounds = draw(st.sampled_from([None, (0, 50)])) if numeric else None
    metric = draw(st.sampled_from(METRICS))
    return problem_of(quasi, some("123"), some("01"), draw(st.sampled_from(models)), metric, bounds)


def answer(run, problem):
    try:
        return run(problem, Work())
    except Infeasible:
        return None


def same(one, other):
    if one is None or other is None:
        return one is other
    check_same(one, other)
    assert one.trail.steps == other.trail.steps
    assert (one.trail.enough, one.trail.loss) == (other.trail.enough, other.trail.loss)
    for mine, theirs in zip(one.cut, other.cut, strict=True):
        assert mine.labels == theirs.labels
        assert (mine.of_code == theirs.of_code).all()
    return True


# The paper's example


def paper(k=3) -> Problem:
    """Figure 1 of the paper."""
    lines = "c1b2a3 0 4; c1b2c3 0 4; c1b2d3 0 3; c1c2a3 2 1; c1c2b3 2 2; d1c2b3 4 0; d1c2e3 2 0; d1d2b3 2 1; d1d2e3 2 0"
    rows = []
    for vid, yes, no in (line.split() for line in lines.split("; ")):
        rows += [(vid[:2], vid[2:4], vid[4:], "Y")] * int(yes) + [(vid[:2], vid[2:4], vid[4:], "N")] * int(no)
    trees = (
        {"a1": ("e1",), "b1": ("e1",), "c1": ("f1",), "d1": ("f1",)},
        {"a2": ("e2",), "b2": ("e2",), "c2": ("f2",), "d2": ("f2",)},
        {"a3": (), "b3": (), "c3": ("f3", "g3"), "d3": ("f3", "g3"), "e3": ("g3",)},
    )
    names = ("relationship", "race", "workclass")
    encoded = [column(name, [row[c] for row in rows]) for c, name in enumerate(names)]
    made = cells(encoded, [column("y", [row[3] for row in rows])]).classes
    return Problem(
        cells=replace(made, measures=measures(made)),
        hierarchies=tuple(Paths(paths=t).build(ObservedDomain.of(c)) for t, c in zip(trees, encoded, strict=True)),
        models=(KAnonymity(k=k),),
        metric=LossMetric(),
        target="y",
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_example_of_the_paper_begins_as_it_says(mode):
    """The generalization at e1 has no children that occur here; that at e2 has one, so it renames b2."""
    state = BottomUp(mode=mode).start(paper())
    offers = [offer for part in state.table.columns for offer in part.offers()]
    assert state.vids.anonymity == 2
    assert [offer.label for offer in offers] == ["f1", "e2", "f2", "f3"]
    assert [round(offer.cost, 4) for offer in offers] == [0.3581, 0.0, 0.0008, 0.0]
    tried, passed, counted = state.vids.critical(state.table.columns)
    after = {offer.label: rows for offer, rows in tried}
    assert after["f2"] == 3
    assert {label: rows for label, rows in after.items() if rows > 2} == {"f2": 3}
    assert (passed, counted) == ((2, 1) if mode == "pruning" else (4, 4))


def test_the_index_of_the_example():
    """d1c2e3 and d1d2e3 are the anonymity vids; f1 and f2 generalize both, f3 does not; under f1 they meet nobody."""
    state = BottomUp(mode="pruning").start(paper())
    tea, columns = state.vids, state.table.columns
    smallest = np.flatnonzero(tea.sizes == 2)
    names = {"".join(c.labels[code] for c, code in zip(columns, tea.keys[row], strict=True)) for row in smallest}
    assert names == {"d1c2e3", "d1d2e3"}
    assert [[offer.label for offer in tea.general(c, smallest)] for c in columns] == [["f1"], ["f2"], []]
    every = {offer.label: tea.after(offer) for c in columns for offer in c.offers()}
    assert every == {"f1": 2, "e2": 2, "f2": 3, "f3": 2}


@pytest.mark.parametrize("mode", MODES)
def test_the_example_ends_after_f2(mode):
    problem = paper()
    found = BottomUp(mode=mode)(problem, Work())
    (step,) = found.trail.steps
    assert (step.column, step.coarse, step.fine, step.anonymity) == ("race", "f2", ("c2", "d2"), 3)
    assert (found.trail.anonymity, found.trail.enough, found.trail.direction) == (2, 1, "up")
    classes = found.recoding(problem).view(problem, found.suppressed).classes
    sizes = {"".join(classes.label(i).values()): int(n) for i, n in enumerate(classes.sizes)}
    assert sizes == {
        "c1b2a3": 4,
        "c1b2c3": 4,
        "c1b2d3": 3,
        "c1f2a3": 3,
        "c1f2b3": 4,
        "d1f2b3": 7,
        "d1f2e3": 4,
    }


# Each step is the best, by the definitions


def entropy(values):
    counts = Counter(values)
    return -sum(n / len(values) * log2(n / len(values)) for n in counts.values())


def literal(problem):
    """The steps as the definitions have them, row by row: (column, label, score, anonymity)."""
    cells_, tally = problem.cells, problem.cells.tally("y")
    rows = [
        (tuple(int(tree.leaf[code]) for tree, code in zip(trees(problem), cells_.keys[:, owner], strict=True)), label)
        for owner, label, many in zip(tally.owners, tally.codes, tally.counts, strict=True)
        for _ in range(many)
    ]
    k, steps = max(m.k for m in problem.models), []
    while (smallest := min(Counter(vid for vid, _ in rows).values())) < k:
        best = None
        for place, tree in enumerate(trees(problem)):
            held = {vid[place] for vid, _ in rows}
            for p, below in enumerate(tree.children):
                if not below or not set(below) <= held:
                    continue
                inside = [(vid[place], label) for vid, label in rows if vid[place] in below]
                lost = entropy([label for _, label in inside])
                for c in below:
                    mine = [label for node, label in inside if node == c]
                    lost -= len(mine) / len(inside) * entropy(mine)
                moved = [((*v[:place], p if v[place] in below else v[place], *v[place + 1 :]), y) for v, y in rows]
                gain = min(*Counter(vid for vid, _ in moved).values(), k) - smallest
                score = lost / gain if gain > 0 else lost
                rank = (gain <= 0, round(score, 12), place, tree.labels[p], p)
                if best is None or rank < best[0]:
                    best = rank, moved, (cells_.quasi[place], tree.labels[p], score)
        rows = best[1]
        steps.append((*best[2], min(Counter(vid for vid, _ in rows).values())))
    return steps


def trees(problem):
    return [hierarchy.tree() for hierarchy in problem.hierarchies]


@examples(60)
@given(problem=problems(models=MODELS[:2], names=("a", "b", "c"), most=16), mode=st.sampled_from(MODES))
def test_every_step_is_the_best_by_the_definitions(problem, mode):
    found = answer(BottomUp(mode=mode, score="information-privacy"), problem)
    if found is None:
        assert problem.cells.rows < max(m.k for m in problem.models)
        return
    wanted = literal(problem)
    assert [(s.column, s.coarse, s.anonymity) for s in found.trail.steps] == [(s[0], s[1], s[3]) for s in wanted]
    assert [s.score for s in found.trail.steps] == pytest.approx([s[2] for s in wanted], abs=1e-12)


# What holds for every result

OPTIONS = st.fixed_dictionaries(
    {
        "score": st.sampled_from(SCORES),
        "partial": st.booleans(),
        "suppress": st.booleans(),
        "steps": st.sampled_from([None, 0, 3, 100]),
    }
)


@examples(150)
@given(problem=problems(), options=OPTIONS)
def test_the_three_modes_take_the_same_steps(problem, options):
    first, *others = (answer(BottomUp(mode=mode, **options), problem) for mode in MODES)
    for other in others:
        assert same(first, other)


@examples(100)
@given(problem=problems(numeric=True, missing=True), options=OPTIONS)
def test_the_three_modes_agree_on_numbers_and_missing_values(problem, options):
    first, *others = (answer(BottomUp(mode=mode, **options), problem) for mode in MODES)
    for other in others:
        assert same(first, other)


@examples(150)
@given(
    problem=problems(numeric=True, missing=True),
    options=OPTIONS,
    mode=st.sampled_from(MODES),
    reading=st.sampled_from(["strict", "value", "wildcard"]),
)
def test_every_result_meets_its_models_and_loses_what_it_says(problem, options, mode, reading):
    problem = replace(problem, reading=reading)
    found = answer(BottomUp(mode=mode, **options), problem)
    if found is None:
        assert not all(m.reachable(problem.cells).holds for m in problem.models)
        return
    check_outcome(problem, found)
    assert not found.suppressed.any()
    assert found.trail.enough <= len(found.trail.steps)
    losses = [found.trail.loss, *(step.loss for step in found.trail.steps)]
    assert losses[-1] == pytest.approx(found.loss, abs=1e-9)
    view = found.recoding(problem).view(problem, found.suppressed)
    counts = [found.trail.anonymity, *(step.anonymity for step in found.trail.steps)]
    assert counts[-1] == view.classes.sizes.min()
    assert counts == sorted(counts)
    for one in found.cut:
        assert len(set(one.labels)) == len(one.labels)


@examples(100)
@given(problem=problems(numeric=True, missing=True, models=MODELS[:2]), options=OPTIONS)
def test_no_step_that_raises_the_anonymity_is_pruned(problem, options):
    """At every point of the way the pruned search tries exactly the steps that raise it, and no more per column."""
    state = BottomUp(mode="pruning", **options).start(problem)
    plain = BottomUp(mode="plain", **options).start(problem)
    k = max(m.k for m in problem.models)
    while state.vids.anonymity < k and any(part.count() for part in state.table.columns):
        tried, passed, counted = state.vids.critical(state.table.columns)
        every, _, _ = plain.vids.critical(plain.table.columns)
        had = plain.vids.anonymity
        raising = {(o.column, o.kind, o.parts): rows for o, rows in every if rows > had}
        assert {(o.column, o.kind, o.parts): rows for o, rows in tried} == raising
        assert len(raising) == counted <= passed
        if not options["partial"] and not options["suppress"]:
            assert max(Counter(o.column for o, _ in tried).values(), default=0) <= 2
            assert all(n <= 1 or problem.cells.quasi[c] == "n" for c, n in Counter(o.column for o, _ in tried).items())
        offer = min((part.cheapest() for part in state.table.columns if part.count()), key=lambda one: one.cost)
        for one in (state, plain):
            one.vids.take(offer, one.table.columns[offer.column].take(offer))
