"""Texts that stand for a missing value, as they are found in tables: proposed, and never taken for granted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sfumato.data.bundled import hierarchy_leaves
from sfumato.data.table import Column

MARKS = frozenset(
    ("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "(null)", "\\n", "?", "??", "-", "--", ".", "..", "n.d.")
)
"""What is taken for a mark of a missing value, in small letters and without blanks around it."""
_UNKNOWN = frozenset((-9, -8, -7, -99, -98, -999, -9999, 99, 98, 999, 998, 9999, 99999, 999999, 88, 888, 8888))
"""Numbers that often stand for an unknown value."""
_FAR = 2.0
"""Such a number lies so many times the range of all others away from them."""


def found_marks(columns: Iterable[Column]) -> tuple[str, ...]:
    """The texts of these columns that stand for missing values, in the order of the alphabet.

    A mark that is a value in one of the columns, as NA is among the codes of countries, is none.
    """
    marks: set[str] = set()
    values: set[str] = set()
    for column in columns:
        here = {text for text in column.present if text.strip().lower() in MARKS}
        rest = {text.upper() for text in column.present} - {text.upper() for text in here}
        if here and len(rest) >= 5 and rest <= hierarchy_leaves("world/country-codes-2"):
            values |= {text for text in here if text.strip().upper() == "NA"}
        marks |= here
    return tuple(sorted(marks - values))


def code_for_unknown(column: Column) -> str | None:
    """A comment about a number that may stand for an unknown value: one far from all others, such as 9999."""
    numbers = column.numbers[: len(column.present)]
    if len(numbers) < 3:
        return None
    for place, rest in ((-1, numbers[:-1]), (0, numbers[1:])):
        odd = float(numbers[place])
        gap = min(abs(odd - float(rest.min())), abs(odd - float(rest.max())))
        if odd in _UNKNOWN and gap > _FAR * max(float(np.ptp(rest)), 1.0):
            text = column.present[place]
            return f'{text} may stand for an unknown value; if so, add "{text}" to missing in [input]'
    return None
