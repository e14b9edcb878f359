"""Every search against the exhaustive one, for every model, metric and limit."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.lattice.datafly import climb, datafly
from sfumato.algorithms.lattice.greedy import greedy
from sfumato.algorithms.lattice.incognito import feasible_nodes, incognito
from sfumato.algorithms.lattice.nodes import Checker
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.lattice.samarati import minimal_nodes, nodes_at, samarati
from sfumato.algorithms.lattice.subsets import monotone_part, raised
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells as make_cells
from sfumato.metrics.information_loss import Height, LossMetric
from sfumato.models import DistinctLDiversity, EMAnonymity, EntropyLDiversity, KAnonymity, KMap, TCloseness
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.testing.searches import BrokenSearch, check_problem, check_search
from tests.algorithms.test_optimal import METRICS, MODELS, literal
from tests.example_tables import column, problem_cells, quasi_rows
from tests.weights import examples

COMPLETE = [optimal, samarati, incognito]
HEURISTIC = [datafly, greedy]
MIXED = (KAnonymity(k=2), EMAnonymity(e=1, m=1.5, column="s"))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """The problems of the optimal search's test, and one of two models with different laws."""
    quasi = draw(quasi_rows())
    rows = len(next(iter(quasi.values())))
    values = st.lists(st.sampled_from(["1", "2", "3"]), min_size=rows, max_size=rows)
    cells, hierarchies = problem_cells(quasi, {"s": draw(values), "y": draw(values)})
    return Problem(
        cells=cells.classes,
        hierarchies=hierarchies,
        models=draw(st.sampled_from([*MODELS, MIXED])),
        metric=draw(st.sampled_from(METRICS)),
        target="y",
        limit=int(draw(st.sampled_from([0.0, 0.0, 0.2, 0.5, 1.0])) * rows),
        suppressed=draw(st.sampled_from(["remove", "remove", "star"])),
        exempt=draw(st.booleans()),
    )


def tiny(*, models=None, limit: int = 0, metric=None) -> Problem:
    quasi = {"a": ["a1", "a2", "b1", "c1", "c2", "c2"], "b": ["x", "y", "x", "z", "z", "x"]}
    values = ["1", "2", "1", "2", "1", "2"]
    cells, hierarchies = problem_cells(quasi, {"s": values, "y": values})
    return Problem(
        cells=cells.classes,
        hierarchies=hierarchies,
        models=models or (KAnonymity(k=2),),
        metric=metric or LossMetric(),
        limit=limit,
    )


@pytest.mark.parametrize("run", COMPLETE, ids=lambda run: run.__name__)
@examples(150)
@given(problem=problems())
def test_complete_searches_keep_the_kit(run, problem):
    assert check_search(run, [problem]) == 1


@pytest.mark.parametrize("run", HEURISTIC, ids=lambda run: run.__name__)
@examples(150)
@given(problem=problems())
def test_heuristics_keep_the_kit(run, problem):
    """They find something wherever something fits if coarser nodes than feasible ones are feasible."""
    assert check_search(run, [problem], complete=Checker(problem).monotone) == 1


@examples(200)
@given(problem=problems())
def test_incognito_knows_every_feasible_node(problem):
    found = feasible_nodes(problem, Work())
    assert found.nodes == set(literal(problem))
    assert min(found.checked, found.pruned_by_closure, found.tagged, found.rolled_up) >= 0


@examples(200)
@given(problem=problems())
def test_samarati_knows_every_minimal_node(problem):
    expected = literal(problem)
    if not expected:
        with pytest.raises(Infeasible):
            minimal_nodes(problem, Work())
        return
    found = minimal_nodes(problem, Work())
    lowest = min(map(sum, expected))
    assert found.height == lowest
    assert list(found.nodes) == sorted(node for node in expected if sum(node) == lowest)
    least = min(loss for node, loss in expected.items() if sum(node) == lowest)
    assert found.best.loss.value == pytest.approx(least, abs=1e-9)


@examples(200)
@given(problem=problems())
def test_the_greedy_bound_is_never_above_the_optimum(problem):
    expected = literal(problem)
    try:
        found = greedy(problem, Work())
    except Infeasible:
        return
    low, gap = found.effort["lower_bound"], found.effort["gap"]
    assert low <= min(expected.values()) + 1e-9
    assert low + gap == pytest.approx(found.loss)
    assert found.effort["stopped"] == "local optimum"
    assert not found.proven


@examples(150)
@given(problem=problems())
def test_the_monotone_part_is_necessary_and_monotone(problem):
    part = monotone_part(problem)
    if part is None:
        return
    allowed = set(literal(part))
    assert set(literal(problem)) <= allowed
    if Checker(problem).monotone:
        assert set(literal(problem)) == allowed
    for node in allowed:
        for c, hierarchy in enumerate(problem.hierarchies):
            if node[c] < hierarchy.height:
                assert (*node[:c], node[c] + 1, *node[c + 1 :]) in allowed


@examples(100)
@given(problem=problems(), data=st.data())
def test_a_raised_problem_is_feasible_where_the_whole_one_is(problem, data):
    root = tuple(data.draw(st.integers(0, h.height)) for h in problem.hierarchies)
    above = literal(replace(raised(problem, root), metric=LossMetric()))
    moved = {tuple(np.add(node, root).tolist()): loss for node, loss in above.items()}
    whole = literal(replace(problem, metric=LossMetric()))
    inside = {node: loss for node, loss in whole.items() if all(n >= r for n, r in zip(node, root, strict=True))}
    assert moved == pytest.approx(inside)


def test_missing_values_and_a_population_are_carried_into_subsets():
    problem = tiny(models=(KMap(k=2),), limit=1)
    problem = replace(problem, cells=replace(problem.cells, population=problem.cells))
    assert feasible_nodes(problem, Work()).nodes == set(literal(problem))
    assert incognito(problem, Work()).loss == pytest.approx(optimal(problem, Work()).loss)


def g2(limit: int) -> Problem:
    """Golden G2 with the hierarchies of the pages on the searches."""
    rows = [("Engineer", "Male", "35"), ("Engineer", "Male", "38"), ("Lawyer", "Male", "38")]
    rows += [("Writer", "Female", "30"), ("Writer", "Female", "33"), ("Dancer", "Male", "30")]
    rows += [("Dancer", "Female", "30")]
    jobs = {"Engineer": "Professional", "Lawyer": "Professional", "Writer": "Artist", "Dancer": "Artist"}
    ages = {"30": "[30-35)", "33": "[30-35)", "35": "[35-40)", "38": "[35-40)"}
    paths = [{job: (above,) for job, above in jobs.items()}, {"Male": (), "Female": ()}]
    paths += [{age: (above,) for age, above in ages.items()}]
    columns = [
        column(name, values) for name, values in zip(["job", "sex", "age"], zip(*rows, strict=True), strict=True)
    ]
    hierarchies = tuple(
        Paths(paths=path).build(ObservedDomain.of(one)) for path, one in zip(paths, columns, strict=True)
    )
    made = make_cells(columns).classes
    return Problem(cells=made, hierarchies=hierarchies, models=(KAnonymity(k=2),), metric=LossMetric(), limit=limit)


def test_the_example_by_hand_without_suppression():
    problem = g2(0)
    lowest = minimal_nodes(problem, Work())
    assert (lowest.height, lowest.nodes, lowest.checked) == (3, ((1, 1, 1),), 11)
    every = feasible_nodes(problem, Work())
    assert every.nodes == {(1, 1, 1), (1, 1, 2), (2, 0, 2), (2, 1, 1), (2, 1, 2)}
    assert (every.checked, every.tagged, every.pruned_by_closure) == (14, 11, 22)
    way = [one.levels for one in climb(Checker(problem), Work())]
    assert way[:5] == [(0, 0, 0), (1, 0, 0), (1, 0, 1), (2, 0, 1), (2, 1, 1)]
    assert datafly(problem, Work()).loss == pytest.approx(7 / 9)
    found = greedy(problem, Work())
    assert (found.levels, found.loss) == ((1, 1, 1), pytest.approx(5 / 9))
    assert found.effort["gap"] == pytest.approx(0.0)


def test_the_example_by_hand_with_a_suppressed_row():
    problem = g2(1)
    lowest = minimal_nodes(problem, Work())
    assert (lowest.height, lowest.nodes, lowest.best.levels) == (2, ((0, 1, 1), (1, 0, 1)), (1, 0, 1))
    assert datafly(problem, Work()).loss == pytest.approx(1 / 3)
    found = greedy(problem, Work())
    assert (found.levels, found.effort["lower_bound"]) == ((1, 0, 1), pytest.approx(2 / 9))


def test_nodes_of_a_height_are_all_nodes_of_that_height():
    heights = (2, 1, 3)
    every = list(product(*(range(h + 1) for h in heights)))
    for height in range(sum(heights) + 2):
        assert list(nodes_at(heights, height)) == [node for node in every if sum(node) == height]


def test_what_each_search_says_about_itself():
    assert samarati(tiny(metric=Height()), Work()).proven
    assert not samarati(tiny(), Work()).proven
    assert samarati(tiny(), Work()).effort["strategy"] == "halving the height"
    closeness = tiny(models=(TCloseness(t=0.4, column="s", distance="emd-equal"),), limit=3)
    assert samarati(closeness, Work()).effort["strategy"] == "every height from below: the models are not monotone"
    assert incognito(tiny(), Work()).effort["strategy"] == "subset closure"
    assert incognito(closeness, Work()).effort["strategy"] == "every node: no model allows closure"
    mixed = tiny(models=(DistinctLDiversity(l=2, column="s"), EntropyLDiversity(l=1.5, column="s")), limit=2)
    assert "by distinct-l-diversity, then every node left" in str(incognito(mixed, Work()).effort["strategy"])
    assert datafly(tiny(), Work()).effort["checked"] == datafly(tiny(), Work()).effort["steps"] + 1


@pytest.mark.parametrize("run", [*COMPLETE, *HEURISTIC], ids=lambda run: run.__name__)
def test_out_of_reach_is_refused(run):
    with pytest.raises(Infeasible, match="out of reach"):
        run(tiny(models=(KAnonymity(k=7),)), Work())
    with pytest.raises(Infeasible):
        run(tiny(models=(EMAnonymity(e=100, m=1.5, column="s"),), limit=6), Work())


def test_time_over_means_the_best_so_far():
    work = Work(seconds=0.0)
    time.sleep(0.01)
    found = greedy(tiny(limit=1), work)
    assert found.effort["stopped"] == "by the time limit"
    assert found.effort["lower_bound"] <= optimal(tiny(limit=1), Work()).loss


def test_greedy_works_where_the_lattice_cannot_be_held():
    rng = np.random.default_rng(1)
    one = problem_cells({"a": rng.choice(["a1", "a2", "b1", "c1", "c2"], 400).tolist()}, {})[1][0]
    keys = rng.integers(len(one.levels[0].labels), size=(30, 400)).astype(np.int32)
    cells = Classes(
        quasi=tuple(f"a{i}" for i in range(30)),
        keys=keys,
        labels=(one.levels[0].labels,) * 30,
        sizes=np.ones(400, np.int64),
    )
    problem = Problem(cells=cells, hierarchies=(one,) * 30, models=(KAnonymity(k=5),), metric=LossMetric(), limit=20)
    found = greedy(problem, Work().allowing(2.0))
    assert found.effort["nodes"] == 4**30
    assert found.loss < 1.0
    with pytest.raises(PlanError, match="30 quasi-identifiers"):
        incognito(problem, Work())


def test_incognito_refuses_too_many_subsets():
    rng = np.random.default_rng(1)
    one = problem_cells({"c": ["m", "n"]}, {})[1][0]
    cells = Classes(
        quasi=tuple(f"c{i}" for i in range(20)),
        keys=rng.integers(2, size=(20, 9)).astype(np.int32),
        labels=(("m", "n"),) * 20,
        sizes=np.ones(9, np.int64),
    )
    problem = Problem(cells=cells, hierarchies=(one,) * 20, models=(KAnonymity(k=2),), metric=LossMetric())
    with pytest.raises(PlanError, match="3,486,784,401 nodes"):
        incognito(problem, Work())


def test_the_kit_catches_broken_answers():
    problem = tiny()
    true = optimal(problem, Work())

    def says(**changes) -> None:
        check_problem(lambda problem, work: replace(true, **changes), problem)

    says()
    for changes, law in [
        ({"levels": (0, 0)}, "the release meets"),
        ({"loss": true.loss / 2}, "the loss is what"),
        ({"suppressed": np.ones_like(true.suppressed)}, "some class is published"),
        ({"suppressed": np.arange(len(true.suppressed)) == 0}, "whole classes|within the limit"),
    ]:
        with pytest.raises(BrokenSearch, match=law):
            says(**changes)
    top = Outcome(levels=(3, 2), suppressed=np.zeros_like(true.suppressed), loss=1.0, proven=True)
    with pytest.raises(BrokenSearch, match="proven loses least"):
        check_problem(lambda problem, work: top, problem)
    with pytest.raises(BrokenSearch, match="the release meets"):
        check_problem(lambda problem, work: true, tiny(models=(KAnonymity(k=9),)))
