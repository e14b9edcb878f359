"""Incognito's cube: every subset by its definition, and the same answers wherever frequency sets come from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.lattice.incognito import Incognito, feasible_nodes
from sfumato.algorithms.lattice.subsets import Cube, raised
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, ParameterError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import LossMetric
from sfumato.models import KAnonymity
from tests.algorithms.test_searches import problems
from tests.example_tables import problem_cells, quasi_rows
from tests.weights import examples

WAYS = ("super-roots", "cube", "table")


@examples(120)
@given(quasi=quasi_rows(), data=st.data())
def test_every_set_counts_the_rows_by_its_columns(quasi, data):
    """Row by row: how many have each combination of values, and how many of these have each sensitive value."""
    rows = len(next(iter(quasi.values())))
    values = data.draw(st.lists(st.sampled_from("12"), min_size=rows, max_size=rows))
    cells, hierarchies = problem_cells(quasi, {"s": values})
    problem = Problem(cells=cells.classes, hierarchies=hierarchies, models=(KAnonymity(k=1),), metric=LossMetric())
    cube, names = Cube(problem, Work()), list(quasi)
    assert len(cube) == 2 ** len(names) - 1
    for size in range(1, len(names) + 1):
        for columns in combinations(range(len(names)), size):
            found = cube.at(columns).cells
            mine = list(zip(*(quasi[names[c]] for c in columns), strict=True))
            counted = {tuple(found.label(i)[names[c]] for c in columns): i for i in range(found.count)}
            assert len(counted) == found.count, "the others split nothing"
            assert {key: int(found.sizes[i]) for key, i in counted.items()} == Counter(mine)
            tally = found.tally("s")
            pairs = Counter(zip(mine, values, strict=True))
            dense = tally.dense()
            told = {(k, v): int(dense[i, code]) for k, i in counted.items() for code, v in enumerate(tally.values)}
            assert {pair: many for pair, many in told.items() if many} == pairs


@examples(150)
@given(problem=problems())
def test_a_set_of_the_cube_is_the_table_seen_from_its_node(problem):
    cube = Cube(problem, Work())
    for size in range(1, len(problem.hierarchies) + 1):
        for columns in combinations(range(len(problem.hierarchies)), size):
            direct = raised(problem, tuple(0 if c in columns else h.height for c, h in enumerate(problem.hierarchies)))
            mine = cube.at(columns)
            assert sorted(zip(mine.cells.keys.T.tolist(), mine.cells.sizes.tolist(), strict=True)) == sorted(
                zip(direct.cells.keys.T.tolist(), direct.cells.sizes.tolist(), strict=True)
            )
            assert [h.height for h in mine.hierarchies] == [h.height for h in direct.hierarchies]


@examples(200)
@given(problem=problems())
def test_the_answers_are_the_same(problem):
    found = {way: feasible_nodes(problem, Work(), way) for way in WAYS}
    plain = found["table"]
    for way, one in found.items():
        assert one.nodes == plain.nodes, way
        assert (one.checked, one.tagged, one.pruned_by_closure) == (
            plain.checked, plain.tagged, plain.pruned_by_closure,
        )  # fmt: skip
    if not plain.nodes:
        for way in WAYS:
            with pytest.raises(Infeasible):
                Incognito(counts=way)(problem, Work())
        return
    made = [Incognito(counts=way)(problem, Work()) for way in WAYS]
    assert len({one.levels for one in made}) == 1
    assert len({one.loss for one in made}) == 1
    assert all((one.suppressed == made[0].suppressed).all() for one in made)


def test_the_known_bad_cube_is_caught():
    """Two rows alike, k = 2: who counts one of them finds the raw table infeasible."""
    cells, hierarchies = problem_cells({"a": ["a1", "a1"], "b": ["x", "x"]}, {})
    problem = Problem(cells=cells.classes, hierarchies=hierarchies, models=(KAnonymity(k=2),), metric=LossMetric())
    assert (0, 0) in feasible_nodes(problem, Work(), "cube").nodes

    class Forgetful(Cube):
        def at(self, columns):
            found = super().at(columns)
            return replace(found, cells=replace(found.cells, sizes=found.cells.sizes - 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.algorithms.lattice.subsets.Cube", Forgetful)
        wrong = feasible_nodes(problem, Work(), "cube").nodes
    assert wrong != feasible_nodes(problem, Work(), "table").nodes


def test_it_is_an_option_of_a_plan():
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in ("sex", "education")}
    frame = sf.datasets.census(300, seed=2)
    made = {
        way: sf.release(
            sf.Plan.parse(
                {"columns": columns, "privacy": {"k_anonymity": 4}, "algorithm": {"name": "incognito", "counts": way}}
            ),
            frame,
        )
        for way in WAYS
    }
    assert len({tuple((one.levels or {}).items()) for one in made.values()}) == 1
    assert made["cube"].outcome.effort["rolled_up"] >= made["super-roots"].outcome.effort["rolled_up"]
    assert made["table"].outcome.effort["rolled_up"] == 0
    with pytest.raises(ParameterError, match="counts must be one of super-roots, cube, table"):
        Incognito(counts="tables")  # type: ignore[arg-type]
