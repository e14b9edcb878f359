"""Grouping along a line: the curve, the groups, and the release."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.anatomy import _most_groups, groups_of_different
from sfumato.algorithms.one_dimensional import OneDimensional, hilbert, idistance
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import LossMetric
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
)
from sfumato.tables.datasets.synthetic_census import census
from sfumato.testing.searches import check_outcome
from tests.brute import models as brute
from tests.example_tables import column, problem_cells, quasi_rows
from tests.weights import examples

MODELS = [
    (KAnonymity(k=3),),
    (DistinctLDiversity(l=2, column="s"),),
    (EntropyLDiversity(l=2, column="s"),),
    (RecursiveLDiversity(c=0.5, l=2, column="s"),),
    (SimpleLDiversity(l=3, column="s"),),
    (KAnonymity(k=3), SimpleLDiversity(l=2, column="s")),
    (AlphaKAnonymity(alpha=0.5, k=2, column="s"),),
]


@pytest.mark.parametrize(("dimensions", "bits"), [(1, 3), (2, 1), (2, 3), (3, 2), (4, 2)])
def test_the_curve_visits_every_place_once_step_by_step(dimensions: int, bits: int):
    points = np.array(list(itertools.product(range(1 << bits), repeat=dimensions))).T
    places = hilbert(points)
    assert sorted(places.tolist()) == list(range(1 << (bits * dimensions)))
    walked = points[:, np.argsort(places)]
    assert (np.abs(np.diff(walked, axis=1)).sum(axis=0) == 1).all()


def test_many_dimensions_keep_their_leading_bits():
    points = np.arange(70 * 5).reshape(70, 5)
    assert len(hilbert(points)) == 5
    assert len(np.unique(hilbert(np.array([[0, 255], [0, 255]])))) == 2


def test_idistance_orders_rays_by_their_reference():
    points = np.array([[0, 1, 2, 100, 99]])
    places = idistance(points, references=2)
    near, far = places[:3], places[3:]
    assert max(near) - min(near) < 1
    assert max(far) - min(far) < 1
    assert abs(near[0] - far[0]) > 1


@examples(400)
@given(codes=st.lists(st.integers(0, 5), min_size=1, max_size=40), size=st.integers(1, 5), data=st.data())
def test_groups_of_different_are_as_many_as_can_be(codes, size, data):
    counts = Counter(codes)
    possible = [n for n in range(len(codes) // size + 1) if sum(min(c, n) for c in counts.values()) >= n * size]
    count = max(possible)
    assert count == _most_groups(np.array(list(counts.values())), size)
    places = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(codes), max_size=len(codes))))
    made = list(groups_of_different(np.array(codes, np.int32), places, size, count))
    held = [row for group in made for row in group]
    assert len(held) == len(set(held))
    assert len(made) == count
    for group in made:
        assert len(group) >= size
        assert len({codes[row] for row in group}) == len(group)
    for row in set(range(len(codes))) - set(held):
        assert counts[codes[row]] > count
    if max(counts.values()) <= len(codes) // size:
        assert len(held) == len(codes)


@examples(200)
@given(
    quasi=quasi_rows(most=25),
    data=st.data(),
    models=st.sampled_from(MODELS),
    curve=st.sampled_from(["hilbert", "idistance"]),
    output=st.sampled_from(["hierarchy", "boxes", "means"]),
)
def test_every_class_passes(quasi, data, models, curve, output):
    rows = len(next(iter(quasi.values())))
    values = data.draw(st.lists(st.sampled_from("1234"), min_size=rows, max_size=rows))
    cells, hierarchies = problem_cells(quasi, {"s": values})
    apart = cells.singly({"s": column("s", values)})
    problem = Problem(cells=apart.classes, hierarchies=hierarchies, models=models, metric=LossMetric())
    try:
        found = OneDimensional(curve=curve, output=output)(problem, Work())
    except Infeasible:
        return
    check_outcome(problem, found)


LITERAL = [
    (KAnonymity, brute.k_anonymity, {"k": 3}),
    (DistinctLDiversity, brute.distinct_l, {"l": 3, "column": "s"}),
    (EntropyLDiversity, brute.entropy_l, {"l": 1.5, "column": "s"}),
    (RecursiveLDiversity, brute.recursive_l, {"c": 2.0, "l": 2, "column": "s"}),
    (SimpleLDiversity, brute.simple_l, {"l": 1.25, "column": "s"}),
    (AlphaKAnonymity, brute.alpha_k, {"alpha": 0.6, "k": 3, "column": "s"}),
    (AlphaKAnonymity, brute.alpha_k, {"alpha": 0.5, "k": 2, "column": "s"}),
    (AlphaKAnonymity, brute.alpha_k, {"alpha": 0.4, "k": 2, "column": "s", "values": ("4",)}),
    (AlphaKAnonymity, brute.alpha_k, {"alpha": 0.75, "k": 1, "column": "s", "values": ("1", "2")}),
]
"""Models with their literal twins. Joining groups keeps each, so one is feasible where the whole table meets it."""


def one_each(quasi, values, *models) -> Problem:
    cells, hierarchies = problem_cells(quasi, {"s": values})
    apart = cells.singly({"s": column("s", values)})
    return Problem(cells=apart.classes, hierarchies=hierarchies, models=models, metric=LossMetric())


def shown(problem, found, values):
    made = found.recoding(problem)
    keys = [[names[code] for code in codes] for names, codes in zip(made.labels, made.keys, strict=True)]
    return [{"q": labels, "s": value} for labels, value in zip(zip(*keys, strict=True), values, strict=True)]


@examples(400, whole=True)
@given(
    quasi=quasi_rows(most=16),
    data=st.data(),
    literal=st.sampled_from(LITERAL),
    curve=st.sampled_from(["hilbert", "idistance"]),
)
def test_groups_are_found_where_there_are_any(quasi, data, literal, curve):
    model, twin, options = literal
    rows = len(next(iter(quasi.values())))
    values = data.draw(
        st.lists(st.sampled_from(data.draw(st.sampled_from(["12", "124"]))), min_size=rows, max_size=rows)
    )
    exact = {name: Fraction(str(value)) if isinstance(value, float) else value for name, value in options.items()}
    feasible = twin([{"s": value} for value in values], (), **exact)[0]
    problem = one_each(quasi, values, model(**options))
    if not feasible:
        with pytest.raises(Infeasible, match="out of reach"):
            OneDimensional(curve=curve)(problem, Work())
        return
    found = OneDimensional(curve=curve)(problem, Work())
    assert twin(shown(problem, found, values), ("q",), **exact)[0]


def test_two_values_are_enough_for_alpha_k():
    """No group has three different values, and none needs to: half of the rows have each value."""
    quasi, values = {"a": ["a1", "a1", "a2", "a2", "b1", "b1", "c1", "c1"]}, list("12121212")
    found = OneDimensional(output="boxes")(one_each(quasi, values, AlphaKAnonymity(alpha=0.6, k=3, column="s")), Work())
    assert found.effort["groups"] == 2
    assert found.effort["smallest_group"] == 4


def test_a_named_value_among_others_counts():
    """Groups of two different values are large enough for 1 and 2, and not for 3, which alone is named."""
    model = AlphaKAnonymity(alpha=0.4, k=2, column="s", values=("3",))
    found = OneDimensional()(problem := one_each({"a": ["a1", "a2", "b1", "c1"]}, list("1213"), model), Work())
    check_outcome(problem, found)


def test_what_is_left_at_the_end_joins_runs_until_they_pass():
    """1 2 | 1 2 | 1 1 on the line: the last two fail, with the run before 3 of 4 have 1, with all rows 4 of 6."""
    quasi = {"a": ["a1", "a1", "a2", "a2", "c1", "c2"]}
    found = OneDimensional(output="boxes")(
        one_each(quasi, list("121211"), AlphaKAnonymity(alpha=0.7, k=2, column="s")), Work()
    )
    assert found.effort["groups"] == 1


def test_long_runs_are_found():
    """A run of 40 rows that passes only when the last has come."""
    quasi = {"a": ["a1"] * 30 + ["c2"] * 10}
    model = AlphaKAnonymity(alpha=0.75, k=2, column="s")
    found = OneDimensional()(one_each(quasi, ["1"] * 30 + ["2"] * 10, model), Work())
    assert found.effort["groups"] == 1


@pytest.mark.parametrize("output", ["hierarchy", "boxes", "means"])
@pytest.mark.parametrize("curve", ["hilbert", "idistance"])
def test_release_verifies(output: str, curve: str, tmp_path: Path):
    tree = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "race": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "occupation": {"role": "sensitive"},
        },
        "privacy": {"l_diversity": {"kind": "simple", "l": 3}},
        "algorithm": {"name": "hilbert", "curve": curve, "output": output},
    }
    made = sf.release(sf.Plan.parse(tree), census(500, seed=5))
    assert made.write(tmp_path / "out").holds
    assert made.rows.height == 500


def test_refusals():
    cells, hierarchies = problem_cells({"a": ["a1", "a2", "b1"]}, {"s": list("112")})
    apart = cells.singly({"s": column("s", list("112"))}).classes

    def run(*models):
        return OneDimensional()(
            Problem(cells=apart, hierarchies=hierarchies, models=models, metric=LossMetric()), Work()
        )

    with pytest.raises(
        Infeasible, match=r"out of reach: .* the whole table has .* The fully generalized table reaches"
    ):
        run(EntropyLDiversity(l=2, column="s"))
    with pytest.raises(PlanError, match="use mondrian or local"):
        run(TCloseness(t=0.5, column="s", distance="emd-equal"))
    with pytest.raises(sf.ParameterError, match="curve must be one of"):
        OneDimensional(curve="peano")
