"""Value swapping against its definition: pairs of similar rows, no more than the rate, every value kept."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.value_swapping import Swapping, SwapProblem, exchanged
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from tests.weights import examples

GROUPS = st.lists(st.integers(0, 4), max_size=30)
RATES = st.fractions(Fraction(1, 20), 1, max_denominator=20)


def literal(similar: list[int], rate: Fraction) -> tuple[set[frozenset[int]], int]:
    """By the definition: which pairs may exchange values, and how many pairs do."""
    rows = range(len(similar))
    allowed = {frozenset((a, b)) for a in rows for b in rows if a != b and similar[a] == similar[b]}
    partners = sum(many // 2 for many in Counter(similar).values())
    return allowed, min(int(rate * len(similar)) // 2, partners)


@examples(200)
@given(similar=GROUPS, rate=RATES, seed=st.integers(0, 2**32 - 1))
def test_pairs_of_similar_rows_and_as_many_as_the_rate_allows(similar, rate, seed):
    source = exchanged(np.array(similar, np.int64), float(rate), np.random.default_rng(seed)).tolist()
    moved = [frozenset((row, source[row])) for row in range(len(similar)) if source[row] != row]
    allowed, pairs = literal(similar, Fraction(repr(float(rate))))
    assert set(moved) <= allowed
    assert all(many == 2 for many in Counter(moved).values()), "who gives also takes"
    assert len(set(moved)) == pairs


@examples(60)
@given(
    similar=st.lists(st.integers(0, 3), min_size=1, max_size=20),
    values=st.lists(st.sampled_from("xyz"), min_size=20, max_size=20),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_group_keeps_its_values(similar, values, seed):
    problem = SwapProblem(quasi=("a",), published=("a",), similar=np.array(similar, np.int64))
    work = Work()
    work.chance = Chance(seed=seed)
    made = Swapping(rate=0.7)(problem, work)
    before = list(zip(similar, values, strict=False))
    after = [(group, values[source]) for group, source in zip(similar, made.sources["a"].tolist(), strict=True)]
    assert Counter(before) == Counter(after)


def test_every_pair_of_a_group_is_equally_likely():
    """Four rows, one pair: each of the six is drawn 1/6 of the time.

    By chance a fair draw fails once in a million (chi-square with 5 degrees of freedom, 37.6); the seed is fixed.
    """
    draw, runs = np.random.default_rng(7), 6000
    found = Counter(
        tuple(np.flatnonzero(exchanged(np.zeros(4, np.int64), 0.5, draw) != np.arange(4)).tolist()) for _ in range(runs)
    )
    assert len(found) == 6
    assert sum((many - runs / 6) ** 2 / (runs / 6) for many in found.values()) < 37.6


def test_columns_are_swapped_each_by_itself_and_by_default_the_quasi_identifiers():
    problem = SwapProblem(quasi=("a", "b"), published=("a", "b", "s"), similar=np.zeros(40, np.int64))
    work = Work()
    work.chance = Chance(seed=1)
    made = Swapping(rate=1)(problem, work)
    assert set(made.sources) == {"a", "b"}
    assert (made.sources["a"] != made.sources["b"]).any()
    assert made.effort == {"groups": 1, "partners": 40}
    assert set(Swapping(rate=1, columns=("s",))(problem, work).sources) == {"s"}
    assert set(Swapping(rate=1, within={"b": 0})(problem, work).sources) == {"a"}
    for bad, told in ((("c",), "'c'"), (("b",), "nothing to exchange")):
        with pytest.raises(Exception, match=told):
            Swapping(rate=1, columns=bad, within={"b": 0})(problem, work)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rate": 0}, "rate"),
        ({"rate": 1.1}, "rate"),
        ({"rate": 0.5, "columns": ["a", "a"]}, "columns"),
        ({"rate": 0.5, "columns": "a"}, "columns"),
        ({"rate": 0.5, "within": ["a"]}, "within"),
        ({"rate": 0.5, "within": {"a": -1}}, "within"),
        ({"rate": 0.5, "within": {"a": True}}, "within"),
    ],
)
def test_nonsense_is_refused_by_name(options, told):
    with pytest.raises(ParameterError, match=told):
        Swapping(**options)


def test_no_rows_are_swapped_where_there_are_none():
    assert exchanged(np.zeros(0, np.int64), 1.0, np.random.default_rng(1)).tolist() == []
