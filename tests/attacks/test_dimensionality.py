"""The curse of dimensionality: steps by the definition, both orders, and the rules of the recommendation."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.dimensionality import Step, curse, enough, recommendation
from sfumato.core.errors import ParameterError
from sfumato.tables.datasets.synthetic_census import census
from tests.weights import examples

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week")


@examples(60)
@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=20), st.integers(1, 4))
def test_steps_by_the_definition(rows, k):
    table = pl.DataFrame(rows, schema=["x", "y", "z"], orient="row")
    for order in ("given", "greedy"):
        for step in curse(table, k=k, order=order):
            sizes = Counter(table.select(step.columns).rows())
            assert step.classes == len(sizes)
            assert step.unique == pytest.approx(sum(s for s in sizes.values() if s == 1) / len(rows))
            assert step.below_k == pytest.approx(sum(s for s in sizes.values() if s < k) / len(rows))
            assert step.marketer == pytest.approx(
                sum(1 / sizes[r] for r in table.select(step.columns).rows()) / len(rows)
            )
            assert step.side == pytest.approx(min(k / len(rows), 1) ** (1 / len(step.columns)))


def test_each_column_splits_further():
    table = census(2000, seed=1).select(QUASI)
    given, greedy = curse(table, k=5), curse(table, k=5, order="greedy")
    for steps in (given, greedy):
        assert len(steps) == 8
        for one, other in pairwise(steps):
            assert other.columns[:-1] == one.columns
            assert one.classes <= other.classes
            assert one.below_k <= other.below_k
            assert one.side < other.side < 1
    assert given[0].columns == ("age",)
    assert greedy[0].classes == max(table[name].n_unique() for name in QUASI)
    assert greedy[1].classes == max(
        table.select(greedy[0].columns[0], n).unique().height for n in greedy[-1].columns[1:]
    )
    assert given[-1].classes == greedy[-1].classes
    assert given[-1].to_json()["columns"] == list(QUASI)


def test_the_loss_is_asked_for():
    asked = []

    def loss(columns):
        asked.append(columns)
        return len(columns) / 10

    steps = curse(census(100, seed=1).select(QUASI[:3]), k=2, loss=loss)
    assert [step.loss for step in steps] == [0.1, 0.2, 0.3]
    assert asked == [QUASI[:1], QUASI[:2], QUASI[:3]]


def step(columns: str, below_k: float, loss: float | None = None) -> Step:
    return Step(
        columns=tuple(columns), rows=100, classes=9, unique=0.0, below_k=below_k, marketer=0.1, side=0.1, loss=loss
    )


def test_the_rules():
    assert "costs little" in recommendation([step("a", 0.0), step("ab", 0.05)], k=5)
    some = recommendation([step("a", 0.0), step("ab", 0.04), step("abc", 0.3)], k=5)
    assert "LKC-privacy with L = 2" in some
    assert "publish fewer columns" in some
    assert "differential privacy" not in some
    most = recommendation([step("a", 0.0), step("ab", 0.6)], k=5)
    assert "L = 1" in most
    assert "differential privacy" in most
    lost = recommendation([step("a", 0.0), step("ab", 0.2, loss=0.7)], k=5)
    assert "loss 0.70" in lost
    bad = recommendation([step("a", 0.4), step("ab", 0.9)], k=5)
    assert "Even a alone has 40.0%" in bad
    assert "LKC" not in bad
    assert enough([step("a", 0.4)]) == 0


def test_nonsense_is_refused():
    table = pl.DataFrame({"a": ["x"]})
    with pytest.raises(ParameterError, match="k must be at least 1"):
        curse(table, k=0)
    with pytest.raises(ParameterError, match="order must be one of"):
        curse(table, k=2, order="best")
    with pytest.raises(ParameterError, match="people must have rows"):
        curse(table[:0], k=2)
    with pytest.raises(ParameterError, match="steps must not be empty"):
        recommendation([], k=2)
