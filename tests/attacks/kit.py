"""What every attack must pass, and subjects to try it on: the public kit by the names used here."""

from __future__ import annotations

from sfumato.testing.attack_kit import (
    Attack,
    failed_trials_are_no_resistance,
    learns_nothing_without_the_release,
    refuses,
    repeats_under_a_seed,
    works_on_the_raw_table,
)
from sfumato.testing.attack_kit import check_attack as passes
from sfumato.testing.subject_kit import (
    NUMERIC,
    QUASI,
    census_subject,
    limit_of,
    raw_subject,
    released_subject,
    texts,
)

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
