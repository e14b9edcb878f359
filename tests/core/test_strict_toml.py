"""TOML from strangers is read with limits."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.input_files import MOST_DEPTH
from sfumato.core.strict_parsing import read_toml
from tests.fuzz.toml_text import toml_text
from tests.weights import examples

_VALUES = st.recursive(
    st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), _VALUES, max_size=4))
@examples(100)
def test_what_is_within_limits_reads_as_toml_does(tree: dict[str, object]) -> None:
    try:
        expected = tomllib.loads(toml_text(tree))
    except tomllib.TOMLDecodeError:
        with pytest.raises(tomllib.TOMLDecodeError):
            read_toml(toml_text(tree))
    else:
        assert read_toml(toml_text(tree)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 100_000, f"more than {MOST_DEPTH} deep"),
        ("a = " + "{a = " * 100_000, f"more than {MOST_DEPTH} deep"),
        ("a." * 100_000 + "a = 1", f"more than {MOST_DEPTH} deep"),
        ("[" + "a." * 100_000 + "a]", f"more than {MOST_DEPTH} deep"),
        ('"a" . ' * 100_000 + "a = 1", f"more than {MOST_DEPTH} deep"),
        ("".join(f"[{'.'.join('a' * n)}]\n" for n in (40, 60)) + "b = " + "[" * 20 + "]" * 20, "more than 64 deep"),
        ("a = " + "9" * 5000, "more than 40 digits"),
        ("a = " + "9" * 41, "more than 40 digits"),
        ("a = 0x" + "f" * 5000, "more than 40 digits"),
        ("a = '\ud800'", "half a character"),
        ("a = ", "Invalid value"),
        ('a = "' + '\\"' * 500_000, "Unterminated"),
        ("a = '''" + "'" * 2, "Expected"),
    ],
)
def test_what_is_beyond_them_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_toml(text)


def test_brackets_inside_texts_and_comments_are_no_depth() -> None:
    text = f'a = "{"[" * 1000}"\nb = \'{"{" * 1000}\'\nc = """{"[" * 1000}"""\n# {"[" * 1000}\nd = 1.5\n'
    assert read_toml(text)["d"] == 1.5
