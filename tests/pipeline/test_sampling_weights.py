"""Sampling weights: risks of a sample equal their definitions, losses are weighed, and no bundle tells of them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.risk import sample_risk
from tests.brute.sample_risk import individual, risks
from tests.shared_data import shared
from tests.weights import examples

FLAT = {"role": "quasi", "hierarchy": {"kind": "flat"}}
AGES = {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 50], "low": 0, "high": 100}}


def planned(**more: object) -> sf.Plan:
    tree = {
        "input": {"weight": "w"},
        "columns": {"age": AGES, "sex": FLAT, "pay": {"role": "keep"}},
        "privacy": {"k_anonymity": 3},
        "algorithm": {"max_suppressed": 0.2},
        "attack": {"run": False},
    }
    return sf.Plan.parse({**tree, **more})


def people(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "sex": draw.choice(["m", "f"], rows),
            "pay": draw.normal(100, 10, rows).round(1),
            "w": draw.uniform(1, 200, rows).round(2),
        }
    )


@given(st.lists(st.tuples(st.integers(1, 6), st.floats(1, 400)), min_size=1, max_size=5))
@examples(60)
def test_risks_are_those_of_the_definition(classes):
    sizes, sums = np.array([f for f, _ in classes]), np.array([f * w for f, w in classes])
    found = sample_risk(sizes, sums)
    each = [individual(f, f * w) for f, w in classes]
    assert found.individual == pytest.approx(max(each), rel=1e-6)
    assert found.expected == pytest.approx(sum(f * r for (f, _), r in zip(classes, each, strict=True)), rel=1e-6)
    assert found.simple == pytest.approx(max(1 / one for one in sums))


def test_the_closed_forms_of_sdcmicro():
    """f = 1: p/(1-p) ln(1/p); f = 2: p/(1-p) - (p/(1-p))^2 ln(1/p); weights of 100, as sdcMicro's testdata has."""
    p = 0.01
    odds = p / (1 - p)
    assert sample_risk(np.array([1]), np.array([100.0])).individual == pytest.approx(odds * np.log(1 / p))
    assert sample_risk(np.array([2]), np.array([200.0])).individual == pytest.approx(odds - odds**2 * np.log(1 / p))
    approximate = p / (3 - (1 - p))
    assert sample_risk(np.array([3]), np.array([300.0])).individual == pytest.approx(approximate, rel=0.05)


def test_a_release_tells_the_steward_and_nobody_else(tmp_path):
    frame = people(200, 1)
    made = sf.release(planned(), frame)
    found = made.sample
    assert found is not None
    weights = frame["w"].to_list()
    original = [tuple(map(str, row)) for row in frame.select("age", "sex").rows()]
    simple, worst, expected = risks(original, weights)
    assert (found.before.simple, found.before.individual) == pytest.approx((simple, worst), rel=1e-6)
    assert found.before.expected == pytest.approx(expected, rel=1e-6)
    assert found.before.population == pytest.approx(sum(weights))
    assert found.after.individual < found.before.individual
    assert not found.published
    made.write(tmp_path / "out", inside=tmp_path / "inside.html")
    assert "The population behind the sample" in (tmp_path / "inside.html").read_text()
    assert "The population behind the sample" not in (tmp_path / "out" / "report.html").read_text()
    assert "weight" not in json.loads((tmp_path / "out" / "manifest.json").read_text())["plan"]["input"]


def test_after_and_the_weighted_loss_are_those_of_the_released_rows():
    """With the weights published, everything after can be counted by hand from the rows."""
    frame = people(120, 2)
    columns = {"age": AGES, "sex": FLAT, "pay": {"role": "keep"}, "w": {"role": "keep"}}
    made = sf.release(planned(columns=columns, algorithm={"name": "optimal", "max_suppressed": 0.1}), frame)
    rows = made.rows
    found = made.sample
    assert found.published
    simple, worst, expected = risks(
        [tuple(map(str, row)) for row in rows.select("age", "sex").rows()], rows["w"].to_list()
    )
    assert (found.after.simple, found.after.individual) == pytest.approx((simple, worst), rel=1e-6)
    assert found.after.expected == pytest.approx(expected, rel=1e-6)
    mean = next(one for one in found.means if one.column == "pay")
    assert mean.before == pytest.approx(np.average(frame["pay"], weights=frame["w"]))
    assert mean.after == pytest.approx(np.average(rows["pay"], weights=rows["w"]))
    cell = {0: 0.0, 1: 9 / 100, 2: 49 / 100, 3: 1.0}[made.levels["age"]]  # of 101 ages, 0 to 100
    lost = frame["w"].sum() - rows["w"].sum()
    by_hand = (rows["w"].sum() * (cell + made.levels["sex"]) / 2 + lost) / frame["w"].sum()
    assert found.loss == pytest.approx(by_hand)


def test_equal_weights_lose_what_rows_lose():
    frame = people(150, 3).with_columns(w=pl.lit(4.0))
    for name in ("optimal", "mondrian", "local"):
        made = sf.release(planned(algorithm={"name": name, "max_suppressed": 0.1, "seed": 1}), frame)
        assert made.sample.loss == pytest.approx(made.utility["loss"])


def test_models_still_count_rows():
    frame = people(150, 4)
    first = sf.release(planned(), frame)
    other = sf.release(planned(), frame.with_columns(w=pl.col("w") * 1_000))
    assert first.levels == other.levels
    assert other.sample.after.individual < first.sample.after.individual


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"input": {"weight": "w", "unit": "sex"}}, r"input\.weight does not go with input\.unit"),
        ({"input": {"weight": "w", "population": "x.csv"}}, r"input\.weight does not go with input\.population"),
        ({"columns": {"age": AGES, "w": FLAT}}, "has role = 'quasi'; weights are published as they are"),
        ({"privacy": {"epsilon": 1.0}}, "input.weight is for releases of tables by groups"),
    ],
)
def test_plans_that_are_refused(more, told):
    with pytest.raises(sf.PlanError, match=told):
        planned(**more)


@pytest.mark.parametrize("wrong", [None, 0.0, -1.0, float("nan"), float("inf")])
def test_weights_that_are_none(wrong):
    frame = people(20, 5).with_columns(w=pl.Series([1.0] * 7 + [wrong] + [1.0] * 12))
    with pytest.raises(sf.DataError, match=r"row 8: .* is no weight"):
        sf.release(planned(), frame)
    with pytest.raises(sf.DataError, match="has no column 'w'"):
        sf.release(planned(), frame.drop("w"))


def test_the_data_of_sdcmicro():
    """4,580 people of 100 each: the sum of weights is the population, and risks fall by generalizing."""
    frame = pl.read_csv(shared("sdcmicro", "testdata.csv"))
    columns = dict.fromkeys(("urbrur", "roof", "sex"), FLAT) | {"age": AGES, "income": {"role": "keep"}}
    tree = {"input": {"weight": "sampling_weight"}, "columns": columns, "privacy": {"k_anonymity": 5}}
    made = sf.release(sf.Plan.parse({**tree, "algorithm": {"max_suppressed": 0.05}, "attack": {"run": False}}), frame)
    assert made.sample.before.population == frame["sampling_weight"].sum()
    rows = [tuple(map(str, row)) for row in frame.select("urbrur", "roof", "sex", "age").rows()]
    simple, worst, expected = risks(rows, frame["sampling_weight"].to_list())
    assert made.sample.before.individual == pytest.approx(worst, rel=1e-5)
    assert made.sample.before.simple == pytest.approx(simple)
    assert made.sample.before.expected == pytest.approx(expected, rel=1e-4)
    assert made.sample.after.share < made.sample.before.share
