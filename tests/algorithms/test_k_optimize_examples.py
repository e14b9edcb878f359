"""K-Optimize on examples: by hand, stopped early, odd cuts, plans and releases."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.algorithms.k_optimize.cuts import Best
from sfumato.algorithms.k_optimize.nodes import Nodes
from sfumato.algorithms.k_optimize.set_enumeration import KOptimize, Search
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import ClassificationMetric, Discernibility, Height, LossMetric
from sfumato.models import (
    EMAnonymity,
    KAnonymity,
    LKCPrivacy,
    SimpleLDiversity,
)
from sfumato.testing.searches import check_outcome
from tests.algorithms.test_k_optimize import Made, literal
from tests.shared_data import adult_problem


def ages() -> Made:
    """Nine people, of whom the page on the algorithm tells."""
    rows = [("3", "x")] * 2 + [("7", "x")] + [("7", "y")] * 2 + [("12", "y")] * 3 + [("12", "x")]
    return Made(quasi={"n": [a for a, _ in rows], "b": [b for _, b in rows]}, s=list("121212121"), y=list("112222221"))


def shown(found, problem, column_: int) -> dict[str, str]:
    recoded = found.recoding(problem)
    return {
        problem.cells.labels[column_][code]: recoded.labels[column_][key]
        for code, key in zip(problem.cells.keys[column_], recoded.keys[column_], strict=True)
    }


def test_the_example_by_hand():
    made = ages()
    problem = made.problem((KAnonymity(k=2),), Discernibility())
    found = KOptimize()(problem, Work())
    assert found.proven
    assert found.loss == 29
    assert shown(found, problem, 0) == {"3": "3", "7": "7", "12": "12"}
    assert shown(found, problem, 1) == {"x": "*", "y": "*"}
    assert [found.effort[name] for name in ("checked", "pruned_by_cost", "pruned_values", "cuts_made")] == [2, 2, 1, 2]
    nodes = Nodes(problem, "boxes")
    heads = [np.array(bits, np.bool_) for bits in product([False, True], repeat=3)]
    assert [nodes.loss(nodes.at(head, nodes.none())) for head in heads] == [81, 41, 41, inf, 53, 33, 29, inf]
    after = np.array([False, True, False])
    assert nodes.bound(nodes.at(nodes.none(), ~nodes.none())) == 21
    assert nodes.bound(nodes.at(after, np.array([True, False, False]))) == 29
    assert nodes.bound(nodes.at(nodes.none(), ~after)) == 33


def middle(share: float = 0.0, metric=None, rows: int = 1500) -> Problem:
    """A table of the census generator with some 30 cuts."""
    frame = sf.datasets.census(rows, seed=2)
    tree = {
        "columns": {
            name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}}
            for name in ("sex", "race", "marital-status", "education")
        }
        | {"occupation": {"role": "sensitive"}, "income": {"role": "target"}},
        "privacy": {"k_anonymity": 10},
        "algorithm": {"name": "k-optimize", "max_suppressed": share, "seconds": 0.001},
        "utility": {"metric": "discernibility"},
    }
    problem = sf.release(sf.Plan.parse(tree), frame).prepared.problem
    return problem if metric is None else replace(problem, metric=metric)


@pytest.mark.parametrize("metric", [Discernibility(), ClassificationMetric(), LossMetric()])
@pytest.mark.parametrize("share", [0.0, 0.01])
def test_when_time_is_over_it_gives_the_best_so_far_and_a_true_bound(metric, share):
    problem = middle(share, metric)
    work = Work(seconds=0.0)
    time.sleep(0.001)
    early = KOptimize()(problem, work)
    check_outcome(problem, early)
    assert not early.proven
    assert early.effort["stopped"] == "by the time limit"
    assert early.effort["lower_bound"] + early.effort["gap"] == pytest.approx(early.loss)
    late = KOptimize()(problem, Work().allowing(1.5))
    assert early.effort["lower_bound"] <= late.loss <= early.loss + 1e-9
    assert late.effort.get("lower_bound", late.loss) >= early.effort["lower_bound"] - 1e-9
    check_outcome(problem, late)


def test_suppressing_a_part_may_cost_less_than_keeping_it():
    """One row beside nine: 10 for the suppressed one and 81 are less than 100."""
    made = Made(quasi={"n": ["3"] + ["7"] * 9}, s=list("1" * 10), y=list("1" * 10))
    search = Search(Nodes(made.problem((KAnonymity(k=2),), Discernibility(), limit=1), "boxes"), Best(), Work())
    search.run()
    assert search.best.loss == 91


def test_a_cut_that_parts_nothing_may_make_intervals_read_alike():
    """With x always goes 3 or 7, with z 12 or 15: a cut between 7 and 12 parts nothing, but * would stand for both."""
    often = [("3", "x"), ("7", "x"), ("7", "x"), ("12", "z"), ("15", "z"), ("15", "z")]
    rows = [(n, b, a) for n, b in often for a in ("a1", "a2")]
    made = Made(
        quasi={name: list(values) for name, values in zip("nba", zip(*rows, strict=True), strict=True)},
        s=list("1" * 12),
        y=list("1" * 12),
    )
    search = Search(Nodes(made.problem((KAnonymity(k=3),), LossMetric()), "hierarchy"), Best(), Work())
    search.run()
    assert search.best.loss == pytest.approx(1 / 3)


def test_a_cut_that_parts_nothing_may_be_what_tells_intervals_apart():
    made = Made(
        quasi={
            "a": ["b1", "a1", "a1", "?", "c1", "a2", "a1", "c1", "c1"],
            "n": ["12", "3", "15", "7", "12", "7", "15", "12", "7"],
        },
        s=list("1" * 9),
        y=list("1" * 9),
    )
    problem = made.problem((KAnonymity(k=2),), Discernibility(), limit=2)
    search = Search(Nodes(problem, "hierarchy"), Best(), Work())
    search.run()
    assert search.best.loss == 21
    assert literal(made, [KAnonymity(k=2)], Discernibility(), limit=2, output="hierarchy") == 21


def test_a_spoilt_cut_may_be_what_the_group_of_stars_needs():
    """One suppressed row cannot be published as a group of stars with k = 2; two can."""
    made = Made(
        quasi={"n": ["7", "12", "3", "12", "12", "7", "7", "7", "15", "12"], "b": list("zzyzyyyyzx")},
        s=list("1" * 10),
        y=list("1" * 10),
    )
    for suppressed, loss in [("star", 42), ("remove", 39)]:
        more = {"limit": 2, "suppressed": suppressed}
        search = Search(Nodes(made.problem((KAnonymity(k=2),), Discernibility(), **more), "boxes"), Best(), Work())
        search.run()
        assert search.best.loss == literal(
            made, [KAnonymity(k=2)], Discernibility(), limit=2, star=suppressed == "star"
        )
        assert search.best.loss == loss


def test_a_metric_without_bounds_is_still_right():
    made = ages()
    found = KOptimize()(made.problem((KAnonymity(k=2),), Height()), Work())
    assert found.proven
    stopped = Work(seconds=0.0)
    time.sleep(0.001)
    assert KOptimize()(made.problem((KAnonymity(k=2),), Height()), stopped).effort["lower_bound"] == 0.0


def test_refusals():
    made = ages()
    for model in (LKCPrivacy(l=1, k=1, c=1.0, column="s"), EMAnonymity(e=1, m=1.5, column="s")):
        with pytest.raises(PlanError, match=r"k-optimize judges groups one by one .* does not allow; use optimal"):
            KOptimize()(made.problem((model,), LossMetric()), Work())
    with pytest.raises(ParameterError, match="output must be one of boxes, hierarchy"):
        KOptimize(output="means")  # type: ignore[arg-type]
    with pytest.raises(Infeasible, match="k = 10"):
        KOptimize()(made.problem((KAnonymity(k=10),), LossMetric()), Work())
    with pytest.raises(Infeasible, match="every one of the 9 rows"):
        KOptimize()(made.problem((SimpleLDiversity(l=4.0, column="s"),), LossMetric(), limit=9), Work())
    stopped = Work(seconds=0.0)
    time.sleep(0.001)
    with pytest.raises(Infeasible, match="within its limit"):
        KOptimize()(made.problem((SimpleLDiversity(l=4.0, column="s"),), LossMetric(), limit=8), stopped)


CENSUS: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "type": "integer", "hierarchy": {"bundled": "census/age"}},
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
        "workclass": {"role": "quasi", "hierarchy": {"bundled": "census/workclass"}},
        "occupation": {"role": "sensitive"},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5},
    "algorithm": {"name": "k-optimize", "seconds": 0.5},
}


@pytest.mark.parametrize(
    ("privacy", "metric", "algorithm"),
    [
        ({"k_anonymity": 5}, "classification", {}),
        ({"k_anonymity": 5, "l_diversity": {"kind": "entropy", "l": 3}}, "classification", {"max_suppressed": 0.02}),
        ({"l_diversity": {"kind": "distinct", "l": 4}}, "discernibility", {"max_suppressed": 0.05}),
        ({"k_anonymity": 3, "t_closeness": {"t": 0.3}}, "loss", {"output": "hierarchy"}),
        ({"k_anonymity": 4}, "loss", {"max_suppressed": 0.05, "suppressed": "star"}),
    ],
)
def test_what_it_releases_verifies(tmp_path: Path, privacy, metric, algorithm):
    people = sf.datasets.census(600, seed=3).with_columns(
        workclass=pl.when(pl.int_range(pl.len()) < 30).then(pl.lit("?")).otherwise("workclass")
    )
    tree = {
        **CENSUS,
        "input": {"missing": ["?"]},
        "privacy": privacy,
        "utility": {"metric": metric},
        "algorithm": {**CENSUS["algorithm"], **algorithm},
    }
    made = sf.release(sf.Plan.parse(tree), people)
    assert made.write(tmp_path / "b").holds
    assert made.levels is None
    assert made.algorithm == "k-optimize"
    for name in ("age", "workclass"):
        pairs = people.select(name).with_columns(shown=pl.Series(_shown(made, name)))
        seen = pairs.filter(pl.col("shown") != "(suppressed)").unique()
        assert seen[name].n_unique() == seen.height, "equal values show equal labels"


def _shown(made, name: str) -> list[str]:
    mapped = made.prepared.source.apply(made.recoding.mapping)
    pairs = zip(mapped.frame[name], mapped.suppressed, strict=True)
    return ["(suppressed)" if gone else label for label, gone in pairs]


def test_options_in_a_plan():
    people = sf.datasets.census(200, seed=3)
    with pytest.raises(PlanError, match=r"algorithm.output must be one of 'boxes', 'hierarchy'"):
        sf.release(sf.Plan.parse({**CENSUS, "algorithm": {"name": "k-optimize", "output": "means"}}), people)
    with pytest.raises(Infeasible, match="k = 201"):
        sf.release(sf.Plan.parse({**CENSUS, "privacy": {"k_anonymity": 201}}), people)


@pytest.mark.slow
def test_adult_stopped_early_is_already_better_than_full_domain():
    problem = replace(adult_problem(5), metric=Discernibility())
    found = KOptimize()(problem, Work().allowing(2.0))
    check_outcome(problem, found)
    assert found.loss < optimal(problem, Work()).loss
    assert 0 < found.effort["lower_bound"] <= found.loss


def test_boxes_do_not_tell_the_values_of_suppressed_rows():
    frame = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25, 26, 27, 28, 99]})
    plan = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "low": 0, "high": 100}}
            },
            "privacy": {"k_anonymity": 3},
            "algorithm": {"name": "k-optimize", "max_suppressed": 0.1},
        }
    )
    made = sf.release(plan, frame)
    assert made.suppressed_rows == 1
    assert not any("99" in label for label in made.rows["age"])
    assert "99" not in str(made.kind.manifest(made, {"data.csv": ""})["recoding"])
