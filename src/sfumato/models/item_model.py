"""What a model of bounded knowledge says about records that are sets of items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets, Level
from sfumato.group.transactions import Transactions
from sfumato.models.verdict import Verdict


class ItemModel(Protocol):
    """A privacy model for baskets, paths and mixed records: which sets of items must not stand as they are.

    ``transactions.secret`` is the model's sensitive column where it has one.
    """

    name: ClassVar[str]
    """The model's name in the literature, as the catalog lists it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column that it looks at, if any."""

    @property
    def generalizes(self) -> bool:
        """Whether showing coarser items can mend what it refuses."""

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """Minimal sets of items of which one must go; of at most ``most`` items, where that is less than it asks."""

    def allows(self, rows: int, top: int) -> bool:
        """Whether a set that so many rows have, of which so many share one watched value, may stand."""

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge records."""


def extremes(levels: Iterable[Level], rows: int) -> tuple[int, float, int]:
    """The fewest rows of a known set, the largest share of a watched value, and how many sets are beyond the limits."""
    fewest, surest, bad = rows, 0.0, 0
    for one in levels:
        if len(one.rows):
            fewest, surest = min(fewest, int(one.rows.min())), max(surest, float((one.top / one.rows).max()))
        bad += int((~one.good).sum())
    return fewest, surest, bad


def numbered(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """So many failing sets, as a verdict names them."""
    return np.arange(count, dtype=np.int64)
