"""Graded grouping is strictly increasing and invertible, or refuses (errata 10 and 11)."""

from __future__ import annotations

from itertools import pairwise
from math import nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.describe.graded import GradedGrouping
from sfumato.ground.errors import ParameterError
from tests.weights import examples

FIVE = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))


@st.composite
def groupings(draw: st.DrawFn) -> GradedGrouping:
    """Categories of uneven widths, with gaps between their values."""
    widths = draw(st.lists(st.integers(1, 400), min_size=1, max_size=6))
    gaps = draw(st.lists(st.integers(4, 40), min_size=len(widths), max_size=len(widths)))
    limits = np.cumsum([draw(st.integers(-1000, 1000)), *widths]) / 4
    return GradedGrouping(limits=tuple(limits), values=tuple(np.cumsum(gaps) / 4))


def literal(one: GradedGrouping, number: float) -> float:
    """Category by category, as equation 2 of document 002 says it."""
    for (low, high), value in zip(pairwise(one.limits), one.values, strict=True):
        if low <= number < high:
            return value + (number - low) / (high - low)
    return nextafter(one.values[-1] + 1, 0)


@examples(200)
@given(one=groupings(), shares=st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_strictly_increasing_and_invertible(one: GradedGrouping, shares: list[int]):
    low, high = one.limits[0], one.limits[-1]
    numbers = np.unique([low + share / 10**6 * (high - low) for share in [*shares, 0, 10**6]])
    numbers = np.unique(np.clip(np.concatenate([numbers, one.limits]), low, high))
    try:
        codes = one.codes(numbers)
    except ParameterError:
        assert np.diff(numbers).min() < 1e-12, "nothing is refused that lies apart"
        return
    assert (np.diff(codes) > 0).all()
    assert codes == pytest.approx([literal(one, number) for number in numbers.tolist()])
    back = one.numbers(codes)
    assert back == pytest.approx(numbers, abs=1e-9 * (high - low), rel=1e-12)
    assert set(one.limits) <= set(back.tolist()), "limits come back exactly"


@examples(60)
@given(one=groupings(), shares=st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_order_of_any_numbers_is_kept_or_they_are_refused(one: GradedGrouping, shares: list[float]):
    low, high = one.limits[0], one.limits[-1]
    numbers = np.clip([low + share * (high - low) for share in shares], low, high)
    try:
        codes = one.codes(numbers)
    except ParameterError:
        return
    order = np.argsort(numbers, kind="stable")
    assert ((np.diff(numbers[order]) > 0) == (np.diff(codes[order]) > 0)).all()


def test_the_paper_s_top_would_collide():
    """At 99.95 % of the last category the paper's 0.999 for the limit lies below: here the limit stays the highest."""
    codes = FIVE.codes([89.9925, 90.0])
    assert codes[0] == pytest.approx(5.9995)
    assert codes[0] < codes[1] < 6
    assert FIVE.codes([45.0]).tolist() == [3.0], "an inner limit begins its own category"


def test_numbers_too_near_to_tell_apart_are_refused():
    beside = nextafter(90.0, 0)
    fine = GradedGrouping(limits=(0.0, 1e-12, 1.0), values=(1e6, 1e6 + 1))
    with pytest.raises(ParameterError, match="far enough apart"):
        fine.codes([1e-13, nextafter(1e-13, 1)])
    with pytest.raises(ParameterError, match="far enough apart"):
        GradedGrouping(limits=(0, 90), values=(1000,)).codes([beside, 90.0])


@pytest.mark.parametrize(
    ("limits", "values", "said"),
    [
        ((1, 2), (), "one more than values"),
        ((1, 2), (1, 2), "one more than values"),
        ((2, 1), (1,), "limits must ascend"),
        ((1, 1), (1,), "limits must ascend"),
        ((1, 2, 3), (1, 1.5), "values must ascend by 1"),
        ((1, float("inf")), (1,), "finite"),
        ((1, 2), (float("nan"),), "finite"),
    ],
)
def test_refused_categories(limits: Any, values: Any, said: str):
    with pytest.raises(ParameterError, match=said):
        GradedGrouping(limits=limits, values=values)


@pytest.mark.parametrize("number", [14.9, 90.1, float("nan"), float("inf")])
def test_refused_numbers_and_codes(number: float):
    with pytest.raises(ParameterError, match="numbers must lie between 15 and 90"):
        FIVE.codes([20, number])
    with pytest.raises(ParameterError, match="codes must lie in"):
        FIVE.numbers([2.0, number])
    gap = GradedGrouping(limits=(0, 1, 2), values=(1, 5))
    with pytest.raises(ParameterError, match="codes must lie in"):
        gap.numbers([3.0])
