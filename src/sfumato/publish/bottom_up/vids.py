"""Virtual identifiers (distinct rows of labels) and how many rows the smallest has: by regrouping all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.keys import Ids, distinct, representatives, total
from sfumato.publish.bottom_up.column_labels import Offer, Parts


class Vids(Protocol):
    """Who knows the sizes of all vids, and what a generalization would make of them."""

    anonymity: int
    """Rows of the smallest vid."""

    @property
    def count(self) -> int:
        """How many vids there are."""

    def critical(self, columns: Sequence[Parts]) -> tuple[list[tuple[Offer, int]], int, int]:
        """The generalizations that raise the anonymity, with that (at most k); how many passed a test, and were tried.

        Some that do not raise it may be among them.
        """

    def take(self, offer: Offer, new: int) -> None:
        """Make a generalization."""

    def copied(self) -> Self:
        """The same vids, to be changed apart from these."""


class PlainVids:
    """Groups all vids anew for every generalization that is tried."""

    def __init__(self, columns: Sequence[Parts], keys: Sequence[Ids], sizes: Ids, k: int) -> None:
        """Cells become vids: one per row of labels."""
        self.k = k
        self.width = [len(column.labels) for column in columns]
        self.keys, self.sizes = self._grouped([key.astype(np.int32) for key in keys], sizes)
        self.anonymity = int(self.sizes.min())

    @property
    def count(self) -> int:
        """How many vids there are."""
        return len(self.sizes)

    def critical(self, columns: Sequence[Parts]) -> tuple[list[tuple[Offer, int]], int, int]:
        """Every generalization is tried."""
        found = [(offer, self._after(offer)) for column in columns for offer in column.offers()]
        return found, len(found), len(found)

    def take(self, offer: Offer, new: int) -> None:
        """Group anew under the new label."""
        self.keys, self.sizes = self._grouped(self._lifted(offer, new), self.sizes)
        self.anonymity = int(self.sizes.min())

    def copied(self) -> Self:
        """Nothing is ever changed in place."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def _after(self, offer: Offer) -> int:
        """The anonymity after a generalization, at most k."""
        return min(int(self._grouped(self._lifted(offer, offer.parts[0]), self.sizes)[1].min()), self.k)

    def _lifted(self, offer: Offer, new: int) -> list[Codes]:
        lift = np.arange(self.width[offer.column], dtype=np.int32)
        lift[list(offer.parts)] = new
        return [lift[codes] if c == offer.column else codes for c, codes in enumerate(self.keys)]

    def _grouped(self, keys: list[Codes], sizes: Ids) -> tuple[list[Codes], Ids]:
        ids, count = distinct(keys, self.width, len(sizes))
        place = representatives(ids, count)
        return [codes[place] for codes in keys], total(ids, sizes, count)
