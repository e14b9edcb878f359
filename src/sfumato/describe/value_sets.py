"""Labels that list the values of a set, written so that the list can be read back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_PLAIN = re.compile(r'[^{}",]+(,[^ {}",][^{}",]*)*')
"""A value that needs no quotes: it has none, no brace, and no comma before a blank."""
_ENTRY = re.compile(r'("(?:[^"\\]|\\.)*"|(?:(?!, )[^{}"])+)(?:, |$)')


def written_set(values: Sequence[str]) -> str:
    r"""The label of a set of values; values that could be taken for several are quoted as in JSON.

    >>> written_set(["flu", "cold, mild"])
    '{flu, "cold, mild"}'
    """
    return "{" + ", ".join(v if _PLAIN.fullmatch(v) else json.dumps(v, ensure_ascii=False) for v in values) + "}"


def read_set(label: str) -> list[str] | None:
    """The values that a label lists; None where it lists none.

    >>> read_set('{flu, "cold, mild"}'), read_set("flu")
    (['flu', 'cold, mild'], None)
    """
    if not (label.startswith("{") and label.endswith("}")):
        return None
    values, position, text = list[str](), 0, label[1:-1]
    while position < len(text):
        entry = _ENTRY.match(text, position)
        if entry is None:
            return None
        values.append(json.loads(entry[1]) if entry[1].startswith('"') else entry[1])
        position = entry.end()
    return values
