"""Grouping along a line: the curve, the groups, and the release."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.datasets.synthetic_census import census
from sfumato.ground.errors import Infeasible, PlanError
from sfumato.ground.work import Work
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
)
from sfumato.publish.one_dimensional import OneDimensional
from sfumato.publish.one_dimensional.buckets import _most_groups, groups_of_different
from sfumato.publish.one_dimensional.curves import hilbert, idistance
from sfumato.publish.problem import Problem
from sfumato.testing.search_kit import check_outcome
from sfumato.utility.cell_metrics import LossMetric
from tests.tables import column, problem_cells, quasi_rows
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

    with pytest.raises(Infeasible, match="'1' is in 2 of 3 rows"):
        run(EntropyLDiversity(l=1.5, column="s"))
    with pytest.raises(PlanError, match="use mondrian or local"):
        run(TCloseness(t=0.5, column="s", distance="emd-equal"))
    with pytest.raises(sf.ParameterError, match="curve must be one of"):
        OneDimensional(curve="peano")
