"""The Pareto set against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.pipeline.frontier.axes import pareto


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=14))
def test_the_pareto_set_is_what_its_definition_says(pairs: list[tuple[int, int]]):
    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] <= other[0] and one[1] <= other[1] and one != other

    values = np.array(pairs, np.float64).reshape(len(pairs), 2)
    assert pareto(values[:, 0], values[:, 1]).tolist() == [not any(beats(q, p) for q in pairs) for p in pairs]
