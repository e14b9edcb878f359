"""Every test states how many examples it is worth; the profile says how many are run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import settings

from tests.weights import scaled

TESTS = Path(__file__).parents[1]
SAYS = {TESTS / "conftest.py", TESTS / "weights.py"}
"""The only files that may say `max_examples`."""


def test_no_test_says_the_number_of_examples_past_the_profiles():
    for path in sorted(set(TESTS.rglob("*.py")) - SAYS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.keyword) and node.arg == "max_examples"
            assert not named, f"{path}:{node.value.lineno}: use examples(...) of tests/weights.py"


@pytest.mark.parametrize(
    ("profile", "stated", "run"),
    [
        ("quick", 400, 72),
        ("quick", 120, 21),
        ("quick", 60, 12),
        ("quick", 40, 12),
        ("quick", 12, 12),
        ("full", 120, 240),
    ],
)
def test_a_weight_is_scaled_by_the_profile(profile: str, stated: int, run: int):
    assert scaled(stated, settings.get_profile(profile)) == run


def test_the_full_profile_runs_at_least_what_is_stated():
    full = settings.get_profile("full")
    assert all(scaled(stated, full) >= stated for stated in range(1, 1000))
    assert full.max_examples >= settings.get_profile("default").max_examples


def test_nothing_is_timed():
    assert settings.get_profile("quick").deadline is settings.get_profile("full").deadline is None
