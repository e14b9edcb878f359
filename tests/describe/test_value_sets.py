"""Labels of sets can be read back, whatever the values are."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.describe.value_sets import read_set, written_set


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
@example(["a, b", "c"])
@example(['say "x"', "{y}", "z\\"])
@example(["a,b", ",", ", "])
@example(["trailing,", " blank"])
def test_a_set_is_read_back(values: list[str]) -> None:
    assert read_set(written_set(values)) == values
