"""Counts over every choice of a few quasi-identifiers: what an adversary with limited knowledge can count."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sfumato.group.classes import Classes
from sfumato.group.keys import Ids


def subsets(classes: Classes, size: int) -> Iterator[tuple[tuple[str, ...], Classes, Ids]]:
    """Each choice of ``size`` columns, the classes by them, and where each class went."""
    for columns in combinations(classes.quasi, size):
        grouped, ids = classes.project(columns)
        yield columns, grouped, ids
