"""Which records have an item, and how many have all items of a set."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sfumato.group.transactions import Transactions


class Holders:
    """For each item the records that have it, ascending."""

    def __init__(self, transactions: Transactions) -> None:
        narrow = transactions.codes.astype(np.uint16) if transactions.count < 2**16 else transactions.codes
        self.bounds = np.concatenate(([0], np.cumsum(transactions.supports())))
        self.rows = transactions.row_of[np.argsort(narrow, kind="stable")]
        self.everybody = transactions.rows

    def of(self, item: int) -> NDArray[np.int32]:
        """The records that have an item."""
        return self.rows[self.bounds[item] : self.bounds[item + 1]]

    def of_all(self, items: Iterable[int]) -> NDArray[np.int32]:
        """The records that have every one of the items; all records where none is named."""
        lists = sorted((self.of(item) for item in items), key=len)
        if not lists:
            return np.arange(self.everybody, dtype=np.int32)
        found = lists[0]
        for more in lists[1:]:
            if not len(found):
                break
            places = np.minimum(np.searchsorted(more, found), len(more) - 1)
            found = found[more[places] == found]
        return found
