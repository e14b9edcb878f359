"""Local recoding: every class passes, every row is kept where it can be, labels are those of the hierarchies."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms import local_groups as barren_module
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.local import CellSuppression, Local
from sfumato.algorithms.local_groups import Barren, Groups, ascending, closest
from sfumato.algorithms.mondrian import mondrian
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import NCP, LossMetric
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
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.hierarchy import TOP
from sfumato.testing.searches import check_outcome, check_same
from tests.example_tables import column, problem_cells, quasi_rows
from tests.shared_data import adult_problem
from tests.weights import examples

MODELS = [
    (KAnonymity(k=2),),
    (KAnonymity(k=4),),
    (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (RecursiveLDiversity(c=2, l=2, column="s"),),
    (SimpleLDiversity(l=2, column="s"),),
    (KAnonymity(k=2), TCloseness(t=0.4, column="s", distance="emd-equal")),
    (TCloseness(t=0.3, column="s", distance="variational", reference="original"),),
    (AlphaKAnonymity(alpha=0.7, k=2, column="s"),),
]
WAYS = [Local(), Local(method="optimum"), CellSuppression(), CellSuppression(base="datafly", aside=0.5)]


def problem_of(quasi, sensitive, models, *, rows: bool = False, **more) -> Problem:
    cells, hierarchies = problem_cells(quasi, {"s": sensitive, "y": sensitive})
    if rows:
        cells = cells.singly({"s": column("s", sensitive), "y": column("y", sensitive)})
    return Problem(cells=cells.classes, hierarchies=hierarchies, models=models, metric=LossMetric(), target="y", **more)


@examples(250)
@given(
    quasi=quasi_rows(most=25),
    data=st.data(),
    models=st.sampled_from(MODELS),
    way=st.sampled_from(WAYS),
    limit=st.sampled_from([0, 0, 3]),
    rows=st.booleans(),
)
def test_every_class_passes_and_labels_cover(quasi, data, models, way, limit, rows):
    many = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=many, max_size=many))
    problem = problem_of(quasi, sensitive, models, rows=rows, limit=limit)
    try:
        found = way(problem, Work())
    except Infeasible:
        if limit == 0:
            with pytest.raises(Infeasible):
                optimal(problem, Work())
        return
    check_outcome(problem, found)
    check_same(found, way(problem, Work()))
    recoded = found.recoding(problem)
    for place, hierarchy in enumerate(problem.hierarchies):
        for cell in np.flatnonzero(~found.suppressed):
            code = problem.cells.keys[place][cell]
            label = recoded.labels[place][recoded.keys[place, cell]]
            assert label in {level.labels[level.parent[code]] for level in hierarchy.levels}


@examples(150)
@given(
    quasi=quasi_rows(most=20, columns=2),
    data=st.data(),
    models=st.sampled_from(MODELS),
    way=st.sampled_from(WAYS),
    share=st.sampled_from([0.2, 1.0]),
    exempt=st.booleans(),
)
def test_starred_rows_are_published_and_pass(quasi, data, models, way, share, exempt):
    many = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=many, max_size=many))
    limit = int(share * many)
    problem = problem_of(quasi, sensitive, models, limit=limit, suppressed="star", exempt=exempt)
    try:
        found = way(problem, Work())
    except Infeasible:
        return
    assert not found.suppressed.any()
    check_outcome(problem, found)


@examples(60)
@given(quasi=quasi_rows(most=25, columns=2), k=st.integers(1, 4))
def test_never_worse_than_the_optimum_it_starts_from(quasi, k):
    many = len(next(iter(quasi.values())))
    problem = problem_of(quasi, ["1"] * many, (KAnonymity(k=k),))
    if many < k:
        return
    assert Local(method="optimum")(problem, Work()).loss <= optimal(problem, Work()).loss + 1e-9


@examples(120)
@given(
    quasi=quasi_rows(most=25, columns=3),
    k=st.integers(1, 6),
    placed=st.lists(st.booleans(), min_size=27, max_size=27),
    lattice=st.sampled_from([2**24, 0]),
)
def test_a_node_that_is_called_barren_has_no_class_of_k_rows(quasi, k, placed, lattice):
    """Literally: rows are counted by their labels at every node, before and after some were placed."""
    many = len(next(iter(quasi.values())))
    problem = problem_of(quasi, ["1"] * many, (KAnonymity(k=k),))
    groups = Groups(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(barren_module, "_MOST_NODES", lattice)
        barren = Barren(groups)
        nodes = itertools.product(*[range(h.height + 1) for h in problem.hierarchies])
        for place, node in enumerate(nodes):
            if place == 3:
                groups.left = np.flatnonzero(placed[: len(groups.of)])
                groups.pool = groups.pool.take(np.array(placed[: len(groups.of)]))
            ids, count = groups.at(node)
            largest = max(np.bincount(ids, weights=groups.pool.sizes, minlength=count), default=0)
            assert barren(node) == (largest < k)


@examples(60)
@given(quasi=quasi_rows(most=25, columns=3), data=st.data(), models=st.sampled_from(MODELS), way=st.sampled_from(WAYS))
def test_ruling_out_barren_nodes_changes_nothing(quasi, data, models, way):
    many = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=many, max_size=many))
    problem = problem_of(quasi, sensitive, models)
    try:
        found = way(problem, Work())
    except Infeasible:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Barren, "__call__", lambda self, node: False)
        check_same(found, way(problem, Work()))


@examples(100)
@given(
    quasi=quasi_rows(most=25),
    data=st.data(),
    models=st.sampled_from(MODELS),
    method=st.sampled_from(["nodes", "optimum"]),
    rows=st.booleans(),
)
def test_a_search_that_is_cut_short_says_so_and_loses_no_more_than_mondrian(quasi, data, models, method, rows):
    many = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=many, max_size=many))
    problem = problem_of(quasi, sensitive, models, rows=rows)
    work = Work(seconds=-1.0)
    try:
        found = Local(method=method)(problem, work)
    except Infeasible:
        return
    check_outcome(problem, found)
    assert work.cut or found.effort["nodes"] == 1, "the first node may place everything"
    assert found.loss <= mondrian(problem, Work()).loss + 1e-12


def test_cell_suppression_shows_one_level_or_stars():
    quasi = {"a": ["a1", "a1", "a2", "a2", "b1", "c1"], "b": ["x", "x", "x", "y", "z", "z"]}
    problem = problem_of(quasi, list("121212"), (KAnonymity(k=2),))
    found = CellSuppression(aside=1.0)(problem, Work())
    made = found.recoding(problem)
    for labels, ruler in zip(made.labels, made.rulers, strict=True):
        steps = {step for label, step in zip(labels, ruler.steps, strict=True) if label != TOP}
        assert len(steps) <= 1
    check_outcome(problem, found)


@examples(100)
@given(costs=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=3))
def test_nodes_come_once_and_cheapest_first(costs):
    sums = [np.cumsum(np.array(steps, float)) for steps in costs]
    nodes = list(ascending(sums))
    prices = [sum(float(s[n]) for s, n in zip(sums, node, strict=True)) for node in nodes]
    assert sorted(nodes) == sorted(itertools.product(*[range(len(s)) for s in sums]))
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(prices))


@examples(200)
@given(
    held=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    whole=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    left=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    t=st.sampled_from([0.1, 0.2, 0.4]),
)
def test_the_carved_part_is_close_and_nearly_the_largest(held, whole, left, t):
    shares = np.array(whole) / sum(whole)
    part = closest(np.array([held]), shares, t, np.array(left))[0]
    assert (part <= held).all()
    assert part.sum() == 0 or np.maximum(part / part.sum() - shares, 0).sum() <= t + 1e-9
    largest = max(
        sum(x)
        for x in itertools.product(*[range(n + 1) for n in held])
        if not sum(x) or np.maximum(np.array(x) / sum(x) - shares, 0).sum() <= t + 1e-12
    )
    assert part.sum() <= largest
    if sum(held) == largest:
        assert part.sum() == largest


@pytest.mark.parametrize("name", ["local", "cell-suppression"])
@pytest.mark.parametrize(
    "privacy",
    [
        {"k_anonymity": 4},
        {"k_anonymity": 3, "l_diversity": {"kind": "entropy", "l": 2, "column": "occupation"}},
        {"t_closeness": {"t": 0.3, "distance": "emd-equal", "column": "occupation"}},
    ],
)
def test_release_verifies(name: str, privacy: dict, tmp_path: Path):
    hierarchy = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}
    tree = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": hierarchy},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "race": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "occupation": {"role": "sensitive"},
        },
        "privacy": privacy,
        "algorithm": {"name": name},
    }
    made = sf.release(sf.Plan.parse(tree), census(600, seed=3))
    assert made.write(tmp_path / "out").holds
    assert made.rows.height == 600
    best = sf.release(sf.Plan.parse({**tree, "algorithm": {"name": "optimal"}}), census(600, seed=3))
    assert made.utility["loss"] <= best.utility["loss"] + 1e-9


def test_adult_is_far_below_the_full_domain_optimum():
    problem = adult_problem(5)
    found = Local()(problem, Work())
    check_outcome(problem, found)
    assert found.loss < 0.06
    assert NCP().measure(found.recoding(problem).view(problem, found.suppressed)) < 0.06


def test_refusals():
    quasi = {"a": ["a1", "a2"]}
    with pytest.raises(PlanError, match="use optimal"):
        Local()(problem_of(quasi, list("12"), (LKCPrivacy(l=1, k=2, c=0.5, column="s", values=("1",)),)), Work())
    with pytest.raises(Infeasible):
        Local()(problem_of(quasi, list("12"), (KAnonymity(k=3),)), Work())
    with pytest.raises(sf.ParameterError, match="method must be one of"):
        Local(method="cells")
    with pytest.raises(sf.ParameterError, match="aside"):
        CellSuppression(aside=2)


def test_out_of_time_is_still_whole():
    problem = adult_problem(5)
    found = Local()(problem, Work(seconds=1e-9))
    check_outcome(replace(problem), found)
