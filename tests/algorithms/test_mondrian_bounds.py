"""Mondrian as LeFevre states it: how large groups can get, and the same groups as a literal recursion."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.labels import ranks
from sfumato.algorithms.mondrian import Mondrian
from sfumato.core.run_context import Work
from sfumato.models import KAnonymity
from tests.algorithms.mondrian_tables import groups_of, mixed_rows, problem_of
from tests.weights import examples


def groups(quasi, k, **options):
    made = Mondrian(order="ordered", **{"choose": "width", **options})
    problem = problem_of(quasi, models=(KAnonymity(k=k),), single=not made.strict)
    return problem, groups_of(problem, made.groups(problem, Work()))


def most_copies(rows) -> int:
    return max(Counter(rows).values())


@examples(200)
@given(quasi=mixed_rows(most=40), k=st.integers(1, 5), choose=st.sampled_from(["width", "metric", "gain"]))
@pytest.mark.parametrize("cut", ["balanced", "any"])
def test_strict_groups_have_at_most_m_plus_2d_times_k_minus_1_rows(cut, quasi, k, choose):
    if len(next(iter(quasi.values()))) < k:
        return
    _, found = groups(quasi, k, cut=cut, choose=choose)
    for rows in found:
        assert k <= len(rows) <= most_copies(rows) + 2 * len(quasi) * (k - 1)


@examples(200)
@given(quasi=mixed_rows(most=40), k=st.integers(1, 5), choose=st.sampled_from(["width", "metric", "gain"]))
@pytest.mark.parametrize("cut", ["balanced", "median", "any"])
def test_relaxed_groups_have_at_most_2k_minus_1_rows(cut, quasi, k, choose):
    if len(next(iter(quasi.values()))) < k:
        return
    _, found = groups(quasi, k, strict=False, cut=cut, choose=choose)
    assert all(k <= len(rows) <= 2 * k - 1 for rows in found)


@examples(200)
@given(quasi=mixed_rows(most=40, columns=("n",)), k=st.integers(1, 5))
def test_median_cuts_of_one_column_leave_at_most_2m_plus_2k_minus_3_rows(quasi, k):
    """At least half of the rows reach up to the median; if fewer than k lie above, the rest of them has its value."""
    if len(quasi["n"]) < k:
        return
    _, found = groups(quasi, k, cut="median")
    assert all(k <= len(rows) <= max(2 * k - 1, 2 * most_copies(rows) + 2 * k - 3) for rows in found)


@examples(50)
@given(order=st.permutations(range(10)), k=st.integers(1, 5))
def test_median_cuts_leave_at_most_2k_minus_1_rows_where_no_value_comes_twice(order, k):
    quasi = {"n": [str(n) for n in range(10)], "m": [str(n) for n in order]}
    _, found = groups(quasi, k, cut="median")
    assert all(k <= len(rows) <= 2 * k - 1 for rows in found)


def test_median_cuts_of_two_columns_have_no_bound():
    """Rows spread below the median of either column, all different: no median cut, while a balanced one is there."""
    low = ["0", "1", "2", "3"]
    quasi = {"n": [*low, *["9"] * 5], "m": [*["9"] * 4, *low, "9"]}
    _, found = groups(quasi, 1, cut="median")
    assert [len(rows) for rows in found] == [9]
    assert most_copies(found[0]) == 1
    _, found = groups(quasi, 1, cut="balanced")
    assert all(len(rows) == 1 for rows in found)


def recursion(problem, rows, k):
    """Mondrian from its definition: cut the widest column at its median; ties go to the first column."""
    places = [position(problem, column) for column in range(len(problem.hierarchies))]
    order = [ranks(problem, column) for column in range(len(problem.hierarchies))]

    def width(part, column):
        seen = [places[column][row[column]] for row in part]
        if any(x is None for x in seen):
            return 0.0 if all(x is None for x in seen) else 1.0
        return round(max(seen) - min(seen), 12)  # 1 - 2/3 and 1/3 are as wide

    def cut(part):
        for column in sorted(range(len(places)), key=lambda c: -width(part, c)):
            here = sorted(part, key=lambda row: order[column][row[column]])
            median = order[column][here[(len(here) - 1) // 2][column]]
            first = [row for row in part if order[column][row[column]] <= median]
            second = [row for row in part if order[column][row[column]] > median]
            if len(first) >= k and len(second) >= k:
                return cut(first) + cut(second)
        return [part]

    return cut(rows)


def position(problem, column):
    """Of each value, where it lies in its column's range of numbers or ranks; None where it is missing."""
    numbers = problem.number(column)
    values = ranks(problem, column).astype(float) if numbers is None else numbers
    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    return [None if np.isnan(x) else float((x - low) / max(high - low, 1e-300)) for x in values]


@examples(300)
@given(quasi=mixed_rows(most=40), k=st.integers(1, 4))
def test_the_classic_options_give_the_groups_of_a_literal_recursion(quasi, k):
    if len(next(iter(quasi.values()))) < k:
        return
    problem, found = groups(quasi, k, cut="median")
    every = [row for rows in found for row in rows]
    assert sorted(map(sorted, found)) == sorted(map(sorted, recursion(problem, every, k)))
