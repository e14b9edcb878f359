"""What every attack must pass, and subjects to try it on: the public kit by the names used here."""

from __future__ import annotations

from sfumato.testing.attacks import (
    NUMERIC,
    QUASI,
    Attack,
    census_subject,
    failed_trials_are_no_resistance,
    learns_nothing_without_the_release,
    limit_of,
    raw_subject,
    refuses,
    released_subject,
    repeats_under_a_seed,
    texts,
    works_on_the_raw_table,
)
from sfumato.testing.attacks import check_attack as passes

__all__ = [
    "NUMERIC",
    "QUASI",
    "Attack",
    "census_subject",
    "failed_trials_are_no_resistance",
    "learns_nothing_without_the_release",
    "limit_of",
    "passes",
    "raw_subject",
    "refuses",
    "released_subject",
    "repeats_under_a_seed",
    "texts",
    "works_on_the_raw_table",
]
