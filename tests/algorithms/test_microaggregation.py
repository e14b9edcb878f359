"""Microaggregation: a literal MDAV, the published figures of the reference data, and the release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.microaggregation import halved, lost_variance, mdav
from sfumato.core.randomness import Chance
from sfumato.pipeline.plan.plan import ColumnPlan
from tests.shared_data import shared
from tests.weights import examples


def literal_mdav(points: list[tuple[float, ...]], k: int) -> list[set[int]]:
    """The algorithm as Domingo-Ferrer and Torra write it, one row at a time."""

    def away(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    def middle(rows):
        return tuple(sum(points[r][c] for r in rows) / len(rows) for c in range(len(points[0])))

    def nearest(rows, around):
        return set(sorted(rows, key=lambda r: (away(points[r], around), r))[:k])

    left, made = list(range(len(points))), []
    while len(left) >= 3 * k:
        centre = middle(left)
        r = max(left, key=lambda x: (away(points[x], centre), -x))
        s = max(left, key=lambda x: (away(points[x], points[r]), -x))
        for around in (points[r], points[s]):
            made.append(nearest(left, around))
            left = [x for x in left if x not in made[-1]]
    if len(left) >= 2 * k:
        centre = middle(left)
        r = max(left, key=lambda x: (away(points[x], centre), -x))
        made.append(nearest(left, points[r]))
        left = [x for x in left if x not in made[-1]]
    return made + ([set(left)] if left else [])


@examples(150)
@given(rows=st.integers(1, 40), k=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_equals_the_literal_algorithm(rows, k, seed):
    points = Chance(seed=seed).generator().normal(size=(rows, 2))
    groups, count = mdav(points, k)
    made = sorted(map(sorted, literal_mdav([tuple(p) for p in points], k)))
    assert sorted(sorted(np.flatnonzero(groups == g).tolist()) for g in range(count)) == made
    if rows >= k:
        sizes = np.bincount(groups, minlength=count)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1 or count == 1


@pytest.mark.parametrize(
    ("file", "k", "lost"),
    [
        ("CASCrefmicrodata.csv", 3, 5.69),
        ("CASCrefmicrodata.csv", 5, 9.09),
        ("Tarragona.csv", 3, 16.93),
        ("Tarragona.csv", 5, 22.46),
    ],
)
def test_the_published_figures_of_the_reference_data(file: str, k: int, lost: float):
    raw = pl.read_csv(shared("sdcmicro", file)).to_numpy().astype(np.float64)
    points = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    groups, count = mdav(points, k)
    assert 100 * lost_variance(points, groups, count) == pytest.approx(lost, abs=0.005)


def test_halving_keeps_every_row_in_parts_that_are_small_enough():
    points = Chance(seed=1).generator().normal(size=(1000, 3))
    parts = halved(points, np.arange(1000), 100)
    assert sorted(np.concatenate(parts).tolist()) == list(range(1000))
    assert max(map(len, parts)) <= 100
    assert min(map(len, parts)) >= 50


def plan(**algorithm: object) -> sf.Plan:
    hierarchy = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 200}
    return sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": hierarchy},
                "hours": {"role": "quasi", "hierarchy": hierarchy},
                "illness": {"role": "sensitive"},
            },
            "privacy": {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 2}},
            "algorithm": {"name": "microaggregation", **algorithm},
        }
    )


def people(rows: int = 300) -> pl.DataFrame:
    draw = Chance(seed=2).generator()
    return pl.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "hours": draw.integers(0, 80, rows),
            "illness": draw.choice(["flu", "cold", "none"], rows, p=[0.05, 0.05, 0.9]),
        }
    )


@pytest.mark.parametrize("output", ["means", "boxes", "hierarchy"])
def test_release_verifies_and_means_keep_the_mean(output: str, tmp_path: Path):
    frame = people()
    made = sf.release(plan(output=output), frame)
    assert made.write(tmp_path / "out").holds
    if output == "means":
        assert made.rows["age"].cast(pl.Float64).mean() == pytest.approx(frame["age"].mean(), abs=0.01)


def test_a_large_table_goes_block_by_block():
    made = sf.release(plan(block=100), people(1000))
    assert made.smallest_class["value"] >= 3


def test_what_no_group_can_meet_is_infeasible():
    frame = people().with_columns(illness=pl.lit("flu"))
    with pytest.raises(sf.Infeasible):
        sf.release(plan(max_suppressed=1.0), frame)


def test_texts_and_holes_are_refused_with_what_would_do():
    frame = people().with_columns(age=pl.Series(["young", "old", "older"] * 100))
    tree = plan()
    flat = {**tree.columns, "age": ColumnPlan(role=tree.columns["age"].role, hierarchy={"kind": "flat"})}
    with pytest.raises(sf.PlanError, match="numbers; use mondrian"):
        sf.release(sf.Plan(columns=flat, privacy=tree.privacy, algorithm=tree.algorithm), frame)
    holes = people().with_columns(age=pl.when(pl.col("age") < 30).then(None).otherwise(pl.col("age")))
    with pytest.raises(sf.PlanError, match="rows have no number"):
        sf.release(tree, holes)
