"""The wildcard reading by kinds of unknown values and by comparing classes one by one is the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.group import readings
from sfumato.group.cells import cells
from sfumato.group.readings import matched
from tests.tables import column
from tests.weights import examples


@examples(80)
@given(data=st.data(), rows=st.integers(1, 30), width=st.integers(1, 4), pairs=st.sampled_from([1, 7, 2**22]))
def test_both_ways_count_the_same(data, rows, width, pairs):
    def values(name, of):
        return column(name, data.draw(st.lists(st.sampled_from(of), min_size=rows, max_size=rows)))

    quasi = [values(f"q{c}", ["a", "b", "*"]) for c in range(width)]
    table = cells(quasi, [values("s", ["x", "y", "z"])], stars="*").classes
    expected = matched(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readings, "_FEW", -1)
        patch.setattr(readings, "_PAIRS", pairs)
        found = matched(table)
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert np.array_equal(found.tally("s").dense(), expected.tally("s").dense())
    assert found.tally("s").overall.tolist() == expected.tally("s").overall.tolist()
