"""Golden G10 (document 002, table 3; errata 10 and 11): our graded grouping gives the paper's column for k = 5."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.describe.graded import GradedGrouping

AGES = [30, 40, 70, 25, 15, 58, 73, 37, 90]
PAPER = [2, 2.667, 4.667, 1.667, 1, 3.867, 4.867, 2.467, 5.999]
FIVE = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))


def test_the_papers_column():
    """Three digits; the largest number is 0.999 above its value in the paper, and a little nearer to 1 here."""
    codes = FIVE.codes(AGES)
    assert codes[:-1] == pytest.approx(PAPER[:-1], abs=5e-4)
    assert PAPER[-1] <= codes[-1] < 6


def test_it_keeps_correlations():
    assert np.corrcoef(AGES, FIVE.codes(AGES))[0, 1] == pytest.approx(1, abs=1e-3)


def test_everything_is_read_back():
    assert FIVE.numbers(FIVE.codes(AGES)) == pytest.approx(AGES)
    assert FIVE.numbers(PAPER[:-1]) == pytest.approx(AGES[:-1], abs=0.01), "from the three digits of the paper as well"
