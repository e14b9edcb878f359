"""Graded grouping is strictly increasing and invertible to the last digit (errata 10 and 11)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.tables.graded_grouping import GradedGrouping, pointed
from tests.weights import examples

FIVE = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))


@st.composite
def groupings(draw: st.DrawFn) -> GradedGrouping:
    """Categories of uneven widths, also between the numbers of the grid, with gaps between their values."""
    decimals, parts = draw(st.integers(0, 4)), draw(st.integers(1, 7))
    widths = draw(st.lists(st.integers(1, 4000), min_size=1, max_size=6))
    gaps = draw(st.lists(st.integers(1, 40), min_size=len(widths), max_size=len(widths)))
    start = draw(st.integers(-1000, 1000)) * parts
    limits = np.cumsum([start, *widths]).tolist()
    limits[-1] += -limits[-1] % parts  # the largest number of all is one of the grid
    values = np.cumsum(gaps).tolist()
    unit = Fraction(1, parts * 10**decimals)
    return GradedGrouping(limits=tuple(one * unit for one in limits), values=tuple(values), decimals=decimals)


def literal(one: GradedGrouping, number: Fraction) -> Fraction:
    """Category by category, as equation 2 of document 002 says it."""
    for (low, high), value in zip(pairwise(one.limits), one.values, strict=True):
        if low <= number < high:
            return value + (number - low) / (high - low)
    return Fraction(one.values[-1] + 1)


def accepted(one: GradedGrouping, shares: list[int]) -> list[str]:
    """Numbers of the grid between the limits, ascending: some by their place, all neighbours of limits, both ends."""
    scale = 10**one.decimals
    low, high = -((-one.limits[0] * scale) // 1), (one.limits[-1] * scale) // 1
    near = {int(limit * scale // 1) + step for limit in one.limits for step in (-1, 0, 1)}
    places = {int(low + share * (high - low) // 10**6) for share in shares} | near | {int(high) - 1, int(high)}
    return [pointed(place, one.decimals) for place in sorted(places) if low <= place <= high]


@examples(300)
@given(one=groupings(), shares=st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_strictly_increasing_and_invertible(one: GradedGrouping, shares: list[int]):
    numbers = accepted(one, shares)
    codes = one.codes(numbers)
    assert all(Decimal(low) < Decimal(high) for low, high in pairwise(codes))
    assert one.numbers(codes) == numbers, "to the last digit"
    last = Fraction(1, 10**one.digits)
    for number, code in zip(numbers, codes, strict=True):
        off = abs(Fraction(code) - literal(one, Fraction(number)))
        if Fraction(number) == one.limits[-1]:
            assert code.endswith("9" * one.digits)
            assert off == last, "only the largest number of all is moved, by one of the last digit"
        else:
            assert off <= last / 2
            assert int(Fraction(code) // 1) in one.values, "no code leaves its category"


@examples(100)
@given(one=groupings(), share=st.fractions(0, 1))
def test_what_lies_between_codes_stands_for_what_lies_between_numbers(one: GradedGrouping, share: Fraction):
    numbers = accepted(one, [0, 300_000, 900_000])
    codes = [Fraction(code) for code in one.codes(numbers)]
    for (below, above), (low, high) in zip(pairwise(codes), pairwise(numbers), strict=True):
        found = one.behind(below + share * (above - below))
        slack = Fraction(1, 10**one.decimals) / 4
        assert Fraction(low) - slack <= found <= Fraction(high) + slack


def test_the_paper_s_top_would_collide():
    """At 99.95 % of the last category the paper's 0.999 for the limit lies below: here the limit stays the highest."""
    fine = GradedGrouping(limits=FIVE.limits, values=FIVE.values, decimals=4)
    codes = fine.codes(["89.9925", "90"])
    assert codes == ["5.999500", "5.999999"]
    assert FIVE.code("45") == "3.000", "an inner limit begins its own category"


def test_codes_that_end_are_exact():
    """Sixteenths have four digits, and so have the codes; fifteenths never end."""
    assert GradedGrouping(limits=(15, 31, 47), values=(7, 9)).codes([16, 33]) == ["7.0625", "9.1250"]
    assert FIVE.digits == 3


def test_gaps_stand_for_the_limit_between():
    gap = GradedGrouping(limits=(0, 10, 20), values=(1, 5))
    assert gap.behind("3.5") == 10
    assert (gap.behind("1"), gap.behind("6"), gap.behind("5.999")) == (0, 20, 20)
    assert gap.nearest("1.449") == "4"


@pytest.mark.parametrize(
    ("limits", "values", "decimals", "said"),
    [
        ((1, 2), (), 0, "one more than values"),
        ((1, 2), (1, 2), 0, "one more than values"),
        ((2, 1), (1,), 0, "limits must ascend"),
        ((1, 1), (1,), 0, "limits must ascend"),
        ((1, 2, 3), (1, 1), 0, "values must ascend by 1"),
        ((1, 2), (1.5,), 0, "whole numbers"),
        ((1, float("inf")), (1,), 0, "finite"),
        ((1, float("nan")), (1,), 0, "finite"),
        ((1, 2), (1,), 19, "decimals must be between 0 and 18"),
    ],
)
def test_refused_categories(limits: Any, values: Any, decimals: int, said: str):
    with pytest.raises(ParameterError, match=said):
        GradedGrouping(limits=limits, values=values, decimals=decimals)


@pytest.mark.parametrize("number", ["14", "91", "-3", "1e6"])
def test_numbers_outside_are_refused(number: str):
    with pytest.raises(ParameterError, match="numbers must lie between 15 and 90"):
        FIVE.codes(["20", number])


@pytest.mark.parametrize("number", ["nan", "inf", "", " 20", "2_0", "twenty", "٢٠", "1e9999999"])
def test_what_is_no_number_is_refused(number: str):
    with pytest.raises(ParameterError, match="is no decimal number"):
        FIVE.code(number)


def test_more_decimals_than_declared_are_refused():
    with pytest.raises(ParameterError, match=r"at most 0 digits after the point, not 20\.5"):
        FIVE.code("20.5")
    assert FIVE.code("20.0") == FIVE.code("2e1") == FIVE.code(20)


def test_strange_codes_are_refused():
    with pytest.raises(ParameterError, match="codes lie between 1 and 6"):
        FIVE.number("7")
    with pytest.raises(ParameterError, match="code of no number"):
        FIVE.number("2.668")
