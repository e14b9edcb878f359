"""Risks on a table worked out by hand, and the voter roll of golden G1."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.attacks.linkage import link
from sfumato.attacks.risk import risk
from sfumato.core.errors import UnknownColumn


def test_risk_by_hand():
    """Classes of 1, 2, 2 and 5 rows in a population of 4, 2, 10 and 5: formulas of El Emam and Dankar 2008."""
    found = risk(np.array([1, 2, 2, 5]), np.array([4, 2, 10, 5]))
    assert found.prosecutor == 1.0
    assert found.journalist == 1 / 2
    assert found.marketer == pytest.approx((1 / 4 + 2 / 2 + 2 / 10 + 5 / 5) / 10)
    assert found.unique == 0.1
    assert found.at_risk == 0.5
    alone = risk(np.array([1, 2, 2, 5]))
    assert (alone.journalist, alone.marketer, alone.population_known) == (1.0, 0.4, False)
    assert risk(np.array([], np.int64)).prosecutor == 0.0


def test_link_counts_rows_and_rivals():
    table = pl.DataFrame({"age": ["1", "1", "2"], "zip": ["a", "a", "b"]})
    people = pl.DataFrame({"name": ["P", "Q", "R"], "age": [1, 2, 3], "zip": ["a", "b", "b"]})
    found = link(table, people, ["age", "zip"])
    assert found.candidates.tolist() == [2, 1, 0]
    assert found.certain.tolist() == [False, True, False]
    assert found.confidence.tolist() == [0.5, 1.0, 0.0]
    with pytest.raises(UnknownColumn, match="register: the table has no column 'job'"):
        link(table.with_columns(job=pl.lit("x")), people, ["job"])
