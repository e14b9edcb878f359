"""Noisy counts made to add up without going below zero."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.diffgen.noisy_specializer import consistent
from sfumato.dp.noise import noisy_counts
from tests.algorithms.test_diffgen import FALSE_ALARM
from tests.weights import examples


def projected(values, weights, total):
    """The nearest counts, found by halving the interval in which the common amount lies."""
    low, high = -1e9, 1e9
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if np.maximum(values - weights * t, 0).sum() > total else (low, t)
    return np.maximum(values - weights * low, 0)


@examples(80)
@given(st.lists(st.integers(1, 3), max_size=3), st.data())
def test_counts_add_up_and_lose_their_bias(fans, data):
    parents, size = [], 1
    for _ in fans:
        widths = data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
        parents.append(np.repeat(np.arange(size, dtype=np.int32), widths))
        size = sum(widths)
    noisy = np.array(
        data.draw(st.lists(st.lists(st.integers(-30, 60), min_size=2, max_size=2), min_size=size, max_size=size))
    )
    made = consistent(noisy, parents)
    assert (made >= 0).all()
    assert abs(made.sum() - max(noisy.sum(), 0)) <= 1
    if (noisy >= 0).all():
        assert made.tolist() == noisy.tolist()
    if len(parents) == 1:
        tops = projected(noisy.sum(axis=0).astype(float), np.ones(2), max(noisy.sum(), 0))
        for c in range(2):
            assert abs(made[:, c] - projected(noisy[:, c].astype(float), np.ones(size), tops[c])).max() <= 1


def test_a_partition_without_parts_gets_nothing():
    made = consistent(np.array([[5], [7]]), [np.array([0, 0], np.int32), np.array([1, 1], np.int32)])
    assert made.tolist() == [[5], [7]]
    assert consistent(np.zeros((0, 2), np.int64), []).shape == (0, 2)


def test_cutting_off_at_zero_adds_rows_and_consistency_does_not():
    """2,000 groups without a record: cut-off noise adds about 0.9 rows each. A false alarm is below 1e-9."""
    noisy = noisy_counts(np.zeros((2000, 1), np.int64), epsilon=Fraction(1, 2)).values
    parents = [np.zeros(2000, np.int32)]
    assert np.maximum(noisy, 0).sum() > 1000
    assert consistent(noisy, parents).sum() < FALSE_ALARM * sqrt(2000 * 8)


# Options.
