"""Mondrian: every group passes, no cut is left that would, labels cover, and what is released verifies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.mondrian import mondrian
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import NCP, LossMetric
from sfumato.models import AlphaKAnonymity, DistinctLDiversity, EntropyLDiversity, KAnonymity, LKCPrivacy, TCloseness
from sfumato.models.model import judge
from tests.example_tables import problem_cells, quasi_rows
from tests.shared_data import adult_problem
from tests.weights import examples

MODELS = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (KAnonymity(k=2), TCloseness(t=0.4, column="s", distance="emd-equal")),
    (AlphaKAnonymity(alpha=0.7, k=2, column="s"),),
]


def problem_of(quasi, sensitive, models) -> Problem:
    cells, hierarchies = problem_cells(quasi, {"s": sensitive, "y": sensitive})
    return Problem(cells=cells.classes, hierarchies=hierarchies, models=models, metric=LossMetric(), target="y")


@examples(200)
@given(quasi=quasi_rows(most=25), data=st.data(), models=st.sampled_from(MODELS))
def test_every_group_passes_and_labels_cover(quasi, data, models):
    rows = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=rows, max_size=rows))
    problem = problem_of(quasi, sensitive, models)
    try:
        found = mondrian(problem, Work())
    except Infeasible:
        with pytest.raises(Infeasible):
            optimal(problem, Work())
        return
    recoded = found.recoding(problem)
    view = recoded.view(problem, found.suppressed)
    assert not found.suppressed.any()
    assert found.loss == pytest.approx(LossMetric().measure(view))
    for model in models:
        assert judge(model, view.classes, "strict").holds
    for place, hierarchy in enumerate(problem.hierarchies):
        for cell, code in enumerate(problem.cells.keys[place]):
            label = recoded.labels[place][recoded.keys[place, cell]]
            assert label in {level.labels[level.parent[code]] for level in hierarchy.levels}


def test_a_table_worked_out_by_hand():
    """a1, a1, a2 | c1, c1 with k = 2: the first cut parts A from C, the second would leave a2 alone."""
    problem = problem_of({"a": ["a1", "a1", "a2", "c1", "c1"]}, list("12121"), (KAnonymity(k=2),))
    found = mondrian(problem, Work())
    recoded = found.recoding(problem)
    labels = [recoded.labels[0][code] for code in recoded.keys[0]]
    assert dict(zip(problem.cells.labels[0], labels, strict=True)) == {"a1": "A", "a2": "A", "c1": "c1"}
    assert found.effort["groups"] == 2


def test_it_loses_less_than_the_full_domain_optimum():
    census = sf.datasets.census(3000, seed=4)
    names = ("age", "workclass", "education", "marital-status", "race", "sex")
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in names}
    tree = {"columns": columns | {"occupation": {"role": "sensitive"}}, "privacy": {"k_anonymity": 5}}
    whole = sf.release(sf.Plan.parse(tree), census)
    cut = sf.release(sf.Plan.parse({**tree, "algorithm": {"name": "mondrian"}}), census)
    assert cut.utility["loss"] < whole.utility["loss"] / 2
    assert cut.smallest_class["value"] >= 5
    assert cut.levels is None


def test_adult_loses_what_the_figures_say():
    problem = adult_problem(5)
    found = mondrian(problem, Work())
    view = found.recoding(problem).view(problem, found.suppressed)
    assert view.classes.sizes.min() >= 5
    assert found.loss == pytest.approx(0.0601, abs=1e-4)
    assert NCP().measure(view) == pytest.approx(0.0668, abs=1e-4)


@pytest.mark.parametrize(
    "privacy",
    [
        {"k_anonymity": 4},
        {"k_anonymity": 3, "l_diversity": {"kind": "entropy", "l": 2}},
        {"k_anonymity": 3, "t_closeness": {"t": 0.4}},
        {"alpha_k": {"alpha": 0.6, "k": 3}},
    ],
)
@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_what_it_releases_verifies(tmp_path: Path, privacy, format_):
    people = sf.datasets.patients(800, seed=3).with_columns(
        sex=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("?")).otherwise("sex")
    )
    tree = {
        "input": {"missing": ["?"]},
        "columns": {
            "birth_date": {"role": "quasi", "hierarchy": {"kind": "dates"}},
            "postal_code": {"role": "quasi", "hierarchy": {"kind": "mask"}},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "job": {"role": "quasi", "hierarchy": {"bundled": "patients/job"}},
            "diagnosis": {"role": "sensitive"},
        },
        "privacy": privacy,
        "algorithm": {"name": "mondrian"},
        "output": {"format": format_},
    }
    made = sf.release(sf.Plan.parse(tree), people)
    checked = made.write(tmp_path / "b")
    assert checked.holds
    assert "group by group" in (tmp_path / "b/report.html").read_text()


def test_models_that_it_cannot_judge_are_refused():
    problem = problem_of({"a": ["a1", "a2"]}, list("12"), (LKCPrivacy(l=1, k=1, c=1.0, column="s"),))
    with pytest.raises(PlanError, match=r"lkc-privacy .* does not allow; use optimal"):
        mondrian(problem, Work())
    with pytest.raises(Infeasible, match="k = 3"):
        mondrian(problem_of({"a": ["a1", "a2"]}, list("12"), (KAnonymity(k=3),)), Work())


@examples(60)
@given(quasi=quasi_rows(most=25, columns=2), k=st.integers(2, 4))
def test_groups_have_k_rows_and_those_that_read_alike_are_one_class(quasi, k):
    rows = len(quasi["a"])
    if rows < k:
        return
    problem = problem_of(quasi, ["1"] * rows, (KAnonymity(k=k),))
    found = mondrian(problem, Work())
    view = found.recoding(problem).view(problem, found.suppressed)
    assert view.classes.sizes.min() >= k
    assert found.effort["groups"] >= view.classes.count
    assert np.isfinite(found.loss)
