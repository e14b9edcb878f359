"""What the words of a hierarchy stand for, and whether they can be mistaken for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.describe.hierarchy import TOP, Hierarchy

Sets = Sequence[frozenset[int]]


def word_values(hierarchy: Hierarchy) -> dict[str, list[frozenset[int]]]:
    """The sets of values that each word below the top stands for."""
    found: dict[str, list[frozenset[int]]] = {}
    for level in hierarchy.levels[:-1]:
        order = np.argsort(level.parent, kind="stable")
        parts = np.split(order, np.searchsorted(level.parent[order], np.arange(1, len(level.labels))))
        for label, part in zip(level.labels, parts, strict=True):
            covered = frozenset(part.tolist())
            if covered not in found.setdefault(label, []):
                found[label].append(covered)
    return found


def apart(words: Mapping[str, Sets]) -> bool:
    """Whether sets with the same word always share a value, and no word looks like a list of values.

    >>> apart({"a": [frozenset({1}), frozenset({1, 2})]}), apart({"a": [frozenset({1}), frozenset({2})]})
    (True, False)
    """
    shared = (all(one & other for one in sets for other in sets) for sets in words.values())
    return all(shared) and not any(word.startswith("{") or word == TOP for word in words)
