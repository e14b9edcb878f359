"""How many specializations: a public rule on a noisy number of records."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log2

PART = Fraction(1, 50)
"""The part of the budget that the noisy number of records costs."""
RECORDS = 100
"""So many records times 1/epsilon should be in a group."""
MOST = 30


def specializations(epsilon: Fraction, records: int) -> int:
    """As many as halve the records into groups of about 100/epsilon: then noise hardly changes a group's majority.

    >>> [specializations(Fraction(e), 30_000) for e in ("0.1", "0.25", "0.5", "1")], specializations(Fraction(1), -5)
    ([4, 6, 7, 8], 1)
    """
    groups = float(epsilon * max(records, 1)) / RECORDS
    return min(max(floor(log2(max(groups, 1.0))), 1), MOST)
