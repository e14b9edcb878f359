"""How many examples a property is tried with: every test states its weight, the profile scales it."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

ORDINARY = 100
"""A profile with so many examples runs a test with just the examples that it states."""
FEWEST = 12
"""No profile runs fewer examples than this, except where a test states fewer itself."""


def examples(stated: int, *, whole: bool = False, **others: Any) -> settings:
    """Settings with as many examples as the current profile makes of those stated; others are passed on.

    The profiles are in `tests/conftest.py`: 200 stated examples are 36 in `quick` and 400 in `full`. With ``whole`` no
    profile runs fewer than stated: for twins of a privacy guarantee whose faults show in rare tables only.
    """
    run = scaled(stated, settings.default)
    return settings(max_examples=max(run, stated) if whole else run, **others)


def thorough() -> bool:
    """Whether the profile tries more than `quick` does: for tests that count something else than examples."""
    return settings.default.max_examples > settings.get_profile("quick").max_examples


def scaled(stated: int, profile: settings) -> int:
    """The examples that a profile runs where so many are stated."""
    return max(stated * profile.max_examples // ORDINARY, min(stated, FEWEST))
