"""JSON from strangers is read with limits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.strict_parsing import MOST_DEPTH, read_json
from tests.weights import examples

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
@examples(100)
def test_what_is_within_limits_reads_as_json_does(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, f"more than {MOST_DEPTH} deep"),
        ('{"a":' * 100_000, f"more than {MOST_DEPTH} deep"),
        ("9" * 5000, "5,000 characters"),
        ("0." + "1" * 5000, "5,002 characters"),
        ("1e999", "too large"),
        ("NaN", "no number of JSON"),
        ("[-Infinity]", "no number of JSON"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' stands twice"),
        ('{"a": 1', "Expecting"),
    ],
)
def test_what_is_beyond_them_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_json(text)


def test_brackets_inside_strings_are_no_depth() -> None:
    assert read_json(json.dumps(["[" * 1000, '\\"{{'])) == ["[" * 1000, '\\"{{']
