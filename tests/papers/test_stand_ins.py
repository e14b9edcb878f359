"""Stand-ins for data that nobody may have: they have the stated attributes, and equal seeds give equal rows."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.core.errors import ParameterError
from sfumato.tables.datasets.stand_ins import (
    BLOOD_GROUPS,
    BLOOD_OTHERS,
    BLOOD_QUASI,
    ICU_FACTS,
    blood,
    blood_hierarchy,
    icu,
    icu_code_paths,
)


def test_transfusions_have_the_stated_attributes():
    frame = blood(3000, seed=2)
    assert frame.width == 62
    assert (len(BLOOD_QUASI), len(BLOOD_OTHERS)) == (41, 19)
    assert set(frame["blood group"].unique()) == set(BLOOD_GROUPS)
    assert frame["diagnosis"].n_unique() == 15
    assert 0.53 < (frame["blood group"] == BLOOD_GROUPS[0]).mean() < 0.59  # 0.56, three deviations of 0.009
    assert {tuple(blood_hierarchy(name)) for name in BLOOD_QUASI} == {("kind",), ("tree",)}


def test_episodes_have_the_stated_attributes():
    frame = icu(3000, seed=2)
    assert frame.columns == [*ICU_FACTS, "codes", "mortality"]
    assert len(ICU_FACTS) == 7
    assert abs((frame["mortality"] == "died").mean() - 0.115) < 0.001
    held = {code for cell in frame["codes"] for code in cell.split()}
    assert held <= set(icu_code_paths())
    assert frame["codes"].str.len_chars().min() > 0


@pytest.mark.parametrize("make", [blood, icu])
def test_equal_seeds_give_equal_rows_and_no_rows_are_a_table(make):
    assert make(50, seed=1).equals(make(50, seed=1))
    assert not make(50, seed=1).equals(make(50, seed=2))
    assert make(0, seed=1).height == 0
    with pytest.raises(ParameterError):
        make(-1, seed=1)


def test_deaths_depend_on_what_is_known():
    frame = icu(20_000, seed=3)
    rates = [float(np.mean((part["mortality"] == "died").to_numpy())) for _, part in frame.group_by("admission type")]
    assert max(rates) > 2 * min(rates)
