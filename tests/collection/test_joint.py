"""Joint distributions: nothing is lost where nothing was randomized, and they are sources of counts like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.problem import Problem
from sfumato.algorithms.top_down import TopDown
from sfumato.collection.channels import evidence, exact, shown_codes, shown_numbers
from sfumato.collection.joint_distribution import reconstruct_joint
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.reconstruction import Stopping, reconstruct
from sfumato.collection.specification import number_question
from sfumato.core.errors import DataError, ParameterError, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.counts.sources import ROWS, refuse_lacking
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import KAnonymity
from sfumato.tables.hierarchy_builders import Flat, Grown
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from sfumato.testing.sources import Domains, check_cut_counts
from tests.weights import examples

VALUES = ("a", "b", "c")
COIN = KeptCategory.within("drug", VALUES, epsilon=2)
AGE = number_question("age", "uniform", low=0, high=19, privacy="0.5")


@given(st.integers(0, 1000))
@examples(30)
def test_columns_that_were_not_randomized_are_counted(seed: int):
    rng = Chance(seed=seed).generator()
    one, other = rng.integers(0, 3, 50), rng.integers(0, 2, 50)
    found = reconstruct_joint([exact("x", VALUES, one), exact("y", ("p", "q"), other)])
    told = np.zeros((3, 2))
    np.add.at(told, (one, other), 1)
    assert found.counts == pytest.approx(told)
    assert found.marginal("y").counts == pytest.approx(told.sum(axis=0))
    assert found.table().height == 6
    assert found.table()["count"].sum() == pytest.approx(50)


def collected(many: int = 30_000) -> tuple[Any, Any, Any]:
    """Drug depends on age; the class is not randomized."""
    rng = Chance(seed=1).generator()
    age = rng.integers(0, 20, many).astype(float)
    drug = np.where(age < 10, 0, rng.integers(1, 3, many))
    sick = (age >= 10).astype(np.int64)
    shown = [VALUES[n] for n in shown_codes(COIN, drug, Chance(seed=2))]
    seen = [evidence(AGE, shown_numbers(AGE, age, Chance(seed=3)), cells=4), evidence(COIN, shown)]
    told = np.zeros((4, 3, 2))
    np.add.at(told, ((age // 5).astype(int), drug, sick), 1 / many)
    return seen, exact("sick", ("no", "yes"), sick), told


def test_a_pair_tells_what_its_columns_alone_do_not():
    seen, sick, told = collected()
    pair = reconstruct_joint(seen, stopping=Stopping(rule="likelihood", limit=1e-7))
    assert np.abs(pair.shares - told.sum(axis=2)).sum() < 0.15
    alone = np.outer(reconstruct(seen[0]).shares, reconstruct(seen[1]).shares)
    assert np.abs(alone - told.sum(axis=2)).sum() > 0.5
    three = reconstruct_joint([*seen, sick])
    assert np.abs(three.shares - told).sum() < 0.3
    assert three.marginal("sick").shares == pytest.approx(told.sum(axis=(0, 1)))


def test_a_joint_is_a_source_of_counts():
    seen, sick, _ = collected(2000)
    joint = reconstruct_joint([*seen, sick])
    source = joint.source(counted="sick")
    assert source.gives == frozenset()
    figures = [ROWS, ("sick", (0,)), ("sick", (1,))]
    check_cut_counts(source, Domains(sizes=[4, 3], figures=figures))
    assert source.root(figures).total() == pytest.approx([2000, *joint.marginal("sick").counts])
    check_cut_counts(joint.source(), Domains(sizes=[4, 3, 2], figures=[ROWS]))


def test_top_down_searches_a_reconstructed_joint():
    """From shown answers alone it cuts the ages where the original is cut."""
    seen, sick, told = collected()
    codes = np.argwhere(told.sum(axis=2) >= 0)
    frame = pl.DataFrame({"age": codes[:, 0], "drug": codes[:, 1]}).with_columns(pl.lit("no").alias("sick"))
    loaded = Table(frame=pl.concat([frame, frame.with_columns(pl.lit("yes").alias("sick"))]))
    quasi = [loaded.column("age"), loaded.column("drug", "category")]
    made = cells(quasi, [loaded.column("sick")]).classes
    problem = Problem(
        cells=replace(made, measures=measures(made)).take(np.zeros(made.count, np.bool_)),
        hierarchies=(Grown().build(ObservedDomain.of(quasi[0])), Flat().build(ObservedDomain.of(quasi[1]))),
        models=(KAnonymity(k=500),),
        metric=LossMetric(),
        target="sick",
        numbers=(quasi[0].numbers, None),
    )
    joint = reconstruct_joint([*seen, sick])
    found = TopDown(score="gain").over(problem, joint.source(counted="sick"), Work())
    assert found.trail.steps[0].column == "age"
    assert found.cut[0].of_code[1] != found.cut[0].of_code[2]
    with pytest.raises(PlanError, match="whole counts"):
        refuse_lacking(joint.source(), ["integers"], "the search")


def test_what_does_not_fit_is_refused():
    seen, sick, _ = collected(100)
    with pytest.raises(DataError, match="equally many answers"):
        reconstruct_joint([seen[0], sick.take(np.arange(5))])
    with pytest.raises(ParameterError, match="there is no column 'ag'"):
        reconstruct_joint(seen).marginal("ag")
    wide = number_question("x", "gaussian", low=0, high=999, privacy=1)
    many = evidence(wide, np.zeros(5), cells=1000)
    with pytest.raises(ParameterError, match="take fewer columns or cells"):
        reconstruct_joint([many, many, many])
