"""What baskets and paths lose: frequent sets, their supports, precision, and answers to count queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import Holders, ItemCodes, Transactions, ragged


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemView(Brief):
    """Records before and after, and how every item is shown."""

    original: Transactions
    """The records as they were."""
    released: Transactions
    """The same records, in the same order, as they are shown."""
    to: ItemCodes
    """What each original item is shown as, the narrowest where there are several; -1 where it is not shown."""
    spread: NDArray[np.int64]
    """How many original items, or pairs of values, each shown item stands for."""
    penalty: NDArray[np.float64]
    """How much of its column each shown item covers: 0 for one value, 1 for all."""
    entries: ItemCodes
    """What each entry of the original is shown as; -1 where it is not shown."""
    over: ItemCodes
    """For each shown item the next wider one that stands for it in other records; -1 where there is none."""

    def ways(self, label: int) -> list[int]:
        """A shown item, and the wider ones that stand for it in other records."""
        labels = [label]
        while (label := int(self.over[label])) >= 0:
            labels.append(label)
        return labels

    def covering(self, labels: Iterable[int]) -> int:
        """How many released records have, for every one of the items, it or a wider one."""
        every = [self.ways(label) for label in labels]
        if all(len(ways) == 1 for ways in every):
            return len(self.after.of_all([way for (way,) in every]))
        return int(self._weights(every, np.ones(len(self.over))).sum())

    def expected(self, labels: NDArray[np.int64], times: NDArray[np.int64]) -> float:
        """How many records are expected to have original items that are shown so: all below a label are alike."""
        every = [self.ways(label) for label in labels.tolist()]
        if all(len(ways) == 1 for ways in every):
            alike = float(np.prod(self.spread[labels].astype(float) ** times))
            return len(self.after.of_all(labels.tolist())) / alike
        weights = np.ones(self.released.rows)
        for ways, many in zip(every, times.tolist(), strict=True):
            weights *= self._weights([ways], self.spread.astype(float) ** -many)
        return float(weights.sum())

    def _weights(self, every: list[list[int]], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each record the product, over the items, of the weight of what it shows for each; 0 where nothing."""
        weights = np.ones(self.released.rows)
        for ways in every:
            mine = np.zeros(self.released.rows)
            for way in ways:
                mine[self.after.of(way)] = weight[way]
            weights *= mine
        return weights

    @cached_property
    def before(self) -> Holders:
        """Who has what in the original."""
        return Holders(self.original)

    @cached_property
    def after(self) -> Holders:
        """Who has what in the release."""
        return Holders(self.released)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FrequentSets(Brief):
    """The maximal frequent sets of the original, and what became of each."""

    sets: Itemsets
    """The sets, with their records in the original."""
    support: int
    """How many records a frequent set has."""
    after: NDArray[np.int64]
    """The records of each in the release, as it is shown there; 0 where an item is not shown."""
    coarser: NDArray[np.bool_]
    """Whether an item of it is shown as something coarser, in some records at least."""

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which are still frequent."""
        return self.after >= self.support

    @property
    def lost(self) -> float:
        """The share that is not frequent any more; nothing is lost where there were none."""
        return float(1 - self.kept.mean()) if self.sets.count else 0.0

    @property
    def blurred(self) -> float:
        """The share that is kept, but with a coarser item."""
        return float((self.kept & self.coarser).mean()) if self.sets.count else 0.0

    @property
    def changes(self) -> NDArray[np.float64]:
        """How much the support of each kept set changed, relative to what it was; coarser ones are left out."""
        same = self.kept & ~self.coarser
        off: NDArray[np.float64] = np.abs(self.after[same] - self.sets.rows[same]) / np.maximum(self.sets.rows[same], 1)
        return off


def frequent_sets(view: ItemView, support: int) -> FrequentSets:
    """What became of the maximal frequent sets of the original (Mohammed 2012, section 4.4: utility loss)."""
    itemsets = maximal_frequent(view.original, support)
    labels = view.to[itemsets.codes]
    of_set = np.repeat(np.arange(itemsets.count), np.diff(itemsets.starts))
    gone, coarser = np.zeros(itemsets.count, np.bool_), np.zeros(itemsets.count, np.bool_)
    gone[of_set[labels < 0]] = True
    blurred = (view.spread > 1) | (view.over >= 0)
    coarser[of_set[labels >= 0][blurred[labels[labels >= 0]]]] = True
    after = np.where(gone, 0, itemsets.rows)
    untouched = len(view.released.codes) == int((view.to[view.original.codes] >= 0).sum())
    for number in np.flatnonzero(~gone & (coarser | (not untouched))).tolist():
        items = set(labels[itemsets.starts[number] : itemsets.starts[number + 1]].tolist())
        after[number] = view.covering(items)
    return FrequentSets(sets=itemsets, support=support, after=after, coarser=coarser)


def certainty_penalty(view: ItemView) -> float:
    """NCP: the mean, over all entries of the original, of the share of its column that an entry is blurred to.

    An entry that is not shown counts 1, also where it is left out of some records only.
    """
    if not len(view.entries):
        return 0.0
    gone = view.entries < 0
    return float(np.where(gone, 1.0, view.penalty[view.entries] if len(view.penalty) else 1.0).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryError:
    """How far answers to random count queries are off, for one number of items."""

    items: int
    """How many items a query names."""
    median: float
    """The median of the relative errors."""
    mean: float
    """Their mean."""


def query_errors(
    view: ItemView, *, chance: Chance, queries: int = 300, most: int = 3, floor: float = 0.001
) -> tuple[QueryError, ...]:
    """Relative errors of queries "how many records have these items?" with 1 to ``most`` items.

    A query takes items of a random record. A coarser item counts in equal parts for all that it stands for. Errors are
    relative to the true answer, or to a share ``floor`` of the records where that is more.
    """
    draw = chance.generator()
    lengths = np.diff(view.original.starts)
    by_size = []
    for size in range(1, most + 1):
        able = np.flatnonzero(lengths >= size)
        if not len(able):
            break
        errors = np.empty(queries)
        for number, row in enumerate(draw.choice(able, queries).tolist()):
            items = view.original.codes[ragged(view.original.starts, np.array([row]))]
            errors[number] = _error(view, draw.choice(items, size, replace=False), floor)
        by_size.append(QueryError(items=size, median=float(np.median(errors)), mean=float(errors.mean())))
    return tuple(by_size)


def _error(view: ItemView, items: NDArray[np.int32], floor: float) -> float:
    true = len(view.before.of_all(items.tolist()))
    labels = view.to[items]
    estimate = 0.0
    if (labels >= 0).all():
        distinct, times = np.unique(labels, return_counts=True)
        estimate = view.expected(distinct, times)
    return abs(estimate - true) / max(true, floor * view.original.rows)
