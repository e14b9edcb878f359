"""Covariance compatibility by hand and by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.metrics.information_loss import compatibility, correlations
from tests.weights import examples


def test_by_hand():
    """Scaled covariances (1, 0, 1) and (1, c, c^2) with c = sqrt(3): the second column varies more than it did."""
    one = np.array([[0.0, 1], [1, 2], [2, 1]])
    line = np.array([[0.0, 0], [1, 1], [2, 2]])
    assert compatibility(line, line) == 1.0, "all entries are 1"
    assert compatibility(line, one) == 0.0
    assert compatibility(one, line) == pytest.approx(np.corrcoef([1, 0, 1], [1, np.sqrt(3), 3])[0, 1])
    assert compatibility(one, one[::-1]) == pytest.approx(1.0)


@examples(60)
@given(rows=st.lists(st.tuples(*[st.integers(-9, 9)] * 3), min_size=3, max_size=12), seed=st.integers(0, 9))
def test_by_definition(rows, seed):
    before = np.array(rows, np.float64)
    after = before + np.random.default_rng(seed).normal(size=before.shape)
    entries = []
    scale = np.where(before.std(axis=0) > 0, before.std(axis=0), 1.0)
    for table in (before / scale, after / scale):
        mean = table.mean(axis=0)
        entries.append(
            [((table[:, i] - mean[i]) * (table[:, j] - mean[j])).mean() for i in range(3) for j in range(i, 3)]
        )
    if np.std(entries[0]) > 1e-6:
        assert compatibility(before, after) == pytest.approx(np.corrcoef(*entries)[0, 1])


def test_correlations_are_those_of_numpy_and_none_with_a_constant():
    rows = np.random.default_rng(1).normal(size=(40, 3))
    assert correlations(rows) == pytest.approx(np.corrcoef(rows.T))
    rows[:, 1] = 4.0
    assert correlations(rows)[1].tolist() == [0.0, 0.0, 0.0]
