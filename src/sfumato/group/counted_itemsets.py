"""Frequent sets whose records were counted elsewhere; and counts of any sets of items in some records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.group.frequent_itemsets import Counts, FrequentItemsets, FrequentLevel
from sfumato.group.transactions import Codes, Transactions

Sets = Sequence[tuple[int, ...]]
_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.int64)


class SetBits:
    """Which records have each of some items, as bits: the records of a set are the meeting of its items'."""

    def __init__(self, records: Transactions, labels: Sequence[str]) -> None:
        """The items are known by their place among ``labels``; records need not have all of them."""
        place = {label: code for code, label in enumerate(labels)}
        moved = np.array([place.get(label, -1) for label in records.labels], np.int64)
        code = moved[records.codes] if len(records.codes) else np.empty(0, np.int64)
        self._bits = np.zeros((len(labels), (records.rows + 7) // 8), np.uint8)
        held = code >= 0
        row = records.row_of[held].astype(np.int64)
        np.bitwise_or.at(self._bits, (code[held], row // 8), (128 >> (row % 8)).astype(np.uint8))

    def row_bits(self, items: Sequence[int]) -> NDArray[np.uint8]:
        """The records that have all of some items, eight a byte."""
        return np.asarray(np.bitwise_and.reduce(self._bits[list(items)], axis=0))

    def supports(self, sets: Sets) -> Counts:
        """The records that have each set."""
        return np.array([int(_BITS[self.row_bits(one)].sum()) for one in sets], np.int64).reshape(len(sets))


def next_sets(frequent: Sets) -> list[tuple[int, ...]]:
    """The sets of one item more whose every part of this size is frequent, in order (Apriori).

    >>> next_sets([(0, 1), (0, 2), (1, 2), (1, 3)])
    [(0, 1, 2)]
    """
    known, found = set(frequent), []
    ends: dict[tuple[int, ...], list[int]] = {}
    for one in sorted(known):
        ends.setdefault(one[:-1], []).append(one[-1])
    for start, last in ends.items():
        for pair in combinations(last, 2):
            longer = (*start, *pair)
            if all((*longer[:n], *longer[n + 1 :]) in known for n in range(len(longer))):
                found.append(longer)
    return found


def counted_itemsets(
    *, rows: int, support: int, labels: tuple[str, ...], levels: Iterable[tuple[Sets, Counts]]
) -> FrequentItemsets:
    """Frequent sets from their items and counts, size by size; every part of a set must be among the smaller ones."""
    found: list[FrequentLevel] = []
    for sets, counts in levels:
        if not len(sets):
            break
        codes: Codes = np.array(sets, np.int32)
        order = np.lexsort(codes.T[::-1])
        codes = codes[order]
        so_far = FrequentItemsets(rows=rows, support=support, labels=labels, levels=tuple(found))
        keys = so_far.places(codes[:, :-1]) * np.int64(len(labels)) + codes[:, -1]
        found.append(FrequentLevel(sets=codes, rows=np.asarray(counts)[order], keys=keys))
    return FrequentItemsets(rows=rows, support=support, labels=labels, levels=tuple(found))
