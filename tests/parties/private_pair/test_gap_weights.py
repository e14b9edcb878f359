"""Whole weights: their law holds exactly, so does differential privacy; the thesis's floors break both."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, isclose, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.parties.diffgen.polynomial_choice import coarse, rounding_cost, scaled_floors, shifted, span, weight
from sfumato.parties.diffgen.selection import LEAST, SPREAD, exponential_below, gap_weights
from tests.parties.private_pair.plainly import probabilities, weights_of
from tests.weights import examples

EPSILONS = st.fractions(Fraction(1, 400), Fraction(12), max_denominator=5000)


@given(EPSILONS)
@examples(120)
def test_a_step_is_never_more_than_epsilon(epsilon: Fraction):
    """Every gap of the tables, one by one, against a fraction that is at most e^epsilon."""
    made, most = gap_weights(epsilon), exponential_below(epsilon)
    found = [made.of(gap) for gap in range(made.last + 3)]
    for one, after in pairwise(found):
        assert after <= one <= most * after
    assert found[-1] == found[made.last]
    assert found[0] / found[-1] >= 2 ** (SPREAD * 0.95)


@given(EPSILONS)
@examples(60)
def test_the_bound_of_the_exponential_is_below_and_near(epsilon: Fraction):
    assert isclose(float(exponential_below(epsilon)), exp(epsilon), rel_tol=1e-14)
    term = total = Fraction(1)
    for number in range(1, 120):
        term *= epsilon / number
        total += term
    assert exponential_below(epsilon) <= total


def test_weights_are_nearly_those_of_the_exponential_mechanism():
    for epsilon in (Fraction(1, 500), Fraction(1, 10), Fraction(1)):
        made = gap_weights(epsilon)
        gap = made.last // 2
        exponent = log(made.highest / made.of(gap))
        assert 31 / 32 * float(epsilon) * gap <= exponent <= float(epsilon) * gap


@given(st.lists(st.integers(0, 40), min_size=2, max_size=6), st.data(), st.sampled_from(("1/20", "1/3", "2")))
@examples(120, whole=True)
def test_choices_are_private_exactly(scores: list[int], data: st.DataObject, epsilon: str):
    """One record more raises each score by 0 or 1; no probability moves by more than a factor of e^epsilon."""
    asked = Fraction(epsilon)
    moved = [one + data.draw(st.integers(0, 1)) for one in scores]
    before, after = (probabilities(weights_of(one, gap_weights(asked))) for one in (scores, moved))
    most = exponential_below(asked)
    for one, other in zip(before, after, strict=True):
        assert one <= most * other
        assert other <= most * one


def test_too_small_a_choice_is_refused():
    with pytest.raises(ParameterError, match="fewer specializations"):
        gap_weights(LEAST / 2)


@given(st.fractions(Fraction(1, 50), Fraction(5), max_denominator=500))
@examples(40)
def test_the_series_has_the_same_law(epsilon: Fraction):
    step, most = coarse(epsilon), exponential_below(epsilon)
    assert epsilon * 31 / 32 <= step <= epsilon
    heights = range(span(step)) if span(step) < 40 else [*range(5), *range(span(step) - 5, span(step))]
    for height in heights:
        assert weight(step, height) <= weight(step, height + 1) <= most * weight(step, height)


@given(st.integers(-(10**9), 10**9), st.integers(0, 100))
@examples(60)
def test_a_shifted_series_is_the_series_at_the_sum(known: int, height: int):
    step = Fraction(51, 512)
    powers = shifted(step, known)
    assert sum(one * (height - known) ** at for at, one in enumerate(powers)) == weight(step, height)


# The thesis's floors (golden G6, table 7.3, example 7.4.3).

VALUES = [Decimal("54.59815003"), Decimal("403.4287935"), Decimal("7.389056099")]


def test_floors_of_the_thesis():
    assert scaled_floors(VALUES, 1) == [545, 4034, 73]
    assert sum(scaled_floors(VALUES, 1)) == 4652
    assert scaled_floors(VALUES, 2) == [5459, 40342, 738]
    assert sum(scaled_floors(VALUES, 2)) == 46539
    assert scaled_floors([Decimal("2.718281828")], 0) == [2]


@given(st.lists(st.floats(0, 6), min_size=2, max_size=5), st.data(), st.integers(0, 3))
@examples(120)
def test_what_floors_cost_is_a_bound(exponents: list[float], data: st.DataObject, digits: int):
    """Of exponentials that one record moves by at most e, where no floor is 0."""
    moved = [one + data.draw(st.floats(0, 1)) for one in exponents]
    sides = [scaled_floors([exp(x) for x in side], digits) for side in (exponents, moved)]
    cost = rounding_cost(min(map(min, sides)))
    before, after = (np.array(side) / sum(side) for side in sides)
    assert np.abs(np.log(before / after)).max() <= 1 + cost + 1e-9


def test_floors_break_the_law():
    """The known-bad twin: a weight of 2.99 is 2 and, one record later, 8: more than e^1; one of 0.9 is 0."""
    assert scaled_floors([2.99, 2.99 * exp(1)], 0) == [2, 8]
    assert exp(1) < 8 / 2
    assert scaled_floors([0.9], 0) == [0]
    assert rounding_cost(0) == inf
