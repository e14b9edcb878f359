"""A released cell that is a distribution: how often each value occurs among the records that it stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sfumato.ground.strict_json import read_json

MAX_LABEL = 900
"""A label has at most so many characters: a manifest holds no longer ones, and nobody would read them."""


def written_distribution(counts: Mapping[str, int]) -> str:
    """Counts as one cell: a JSON object, which people and programs read; the most frequent value first.

    >>> written_distribution({"cold": 2, "flu": 3})
    '{"flu": 3, "cold": 2}'
    """
    ordered = sorted(counts.items(), key=lambda one: -one[1])
    return json.dumps(dict(ordered), ensure_ascii=False)


def read_distribution(label: str) -> dict[str, int] | None:
    """The counts that a label names, two values at least; None where it is no distribution.

    >>> read_distribution('{"flu": 3, "cold": 2}'), read_distribution("{flu, cold}")
    ({'flu': 3, 'cold': 2}, None)
    """
    if not label.startswith('{"') or len(label) > 10 * MAX_LABEL:
        return None
    try:
        found = read_json(label, depth=1)
    except ValueError:
        return None
    whole = all(type(many) is int and many > 0 for many in found.values())
    return found if whole and len(found) > 1 else None
