"""What follows from published supports, by enumerating every database with as many records that has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np

Set = tuple[int, ...]


@cache
def databases(records: int, items: int) -> np.ndarray:
    """All of them, one line each: how many records are each set of items, by mask."""
    found = [
        np.bincount(one, minlength=1 << items) for one in combinations_with_replacement(range(1 << items), records)
    ]
    return np.array(found)


def support_cells(items: int, some: Set) -> np.ndarray:
    """The sets, by mask, that have some items."""
    return np.array([all(mask >> item & 1 for item in some) for mask in range(1 << items)])


def channels(records: int, items: int, told: Mapping[Set, int], k: int) -> dict[tuple[Set, Set], int]:
    """Every group, items that it has and lacks, of 1 to k - 1 people whose number is the same in all that agree."""
    agree = databases(records, items)
    for some, rows in told.items():
        agree = agree[agree[:, support_cells(items, some)].sum(axis=1) == rows]
    known = sorted({item for some in told for item in some})
    found = {}
    for have, lack in groups(known):
        cells = support_cells(items, have)
        for item in lack:
            cells = cells & ~support_cells(items, (item,))
        numbers = agree[:, cells].sum(axis=1)
        if 0 < numbers[0] < k and (numbers == numbers[0]).all():
            found[have, lack] = int(numbers[0])
    return found


def groups(items: list[int]) -> Iterator[tuple[Set, Set]]:
    """All choices of items that a group has, lacks, or may have."""
    for states in product(range(3), repeat=len(items)):
        if any(states):
            yield tuple(
                tuple(item for item, one in zip(items, states, strict=True) if one == wanted) for wanted in (1, 2)
            )  # type: ignore[misc]


def fewest_withheld(records: int, items: int, told: Mapping[Set, int], k: int) -> int:
    """The fewest sets without which no channel is left."""
    for many in range(len(told) + 1):
        for gone in combinations(told, many):
            left = {some: rows for some, rows in told.items() if some not in gone}
            if not channels(records, items, left, k):
                return many
    raise AssertionError("telling nothing leaves no channel")
