"""The longest sets of items that many records have."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets, slots_of
from sfumato.group.repeats import repeats
from sfumato.group.transactions import Codes, Transactions


def maximal_frequent(transactions: Transactions, support: int, *, work: Work | None = None) -> Itemsets:
    """All maximal sets of items that at least ``support`` records have; for paths, the maximal frequent sequences.

    Claim: complete, each once, none within another.
    How: depth first over the items in their order, on lists of slots that shrink with every item. An item that all
        rows of a set have joins it at once; what lies within a maximal set already found is not looked at again.
    Source: MAFIA (Burdick, Calimlim, Gehrke 2001) with the projections of PrefixSpan (Pei et al. 2001); used in
        Mohammed 2012, algorithm 4.2.
    """
    found = maximal_within(transactions, support, sys.maxsize, work=work)
    return _collected([], [], [], np.empty(0, np.int32)) if found is None else found


def maximal_within(transactions: Transactions, support: int, most: int, *, work: Work | None = None) -> Itemsets | None:
    """The same, or None where more than ``most`` places in records would have to be looked at."""
    from sfumato.ground.kernels.maximal_kernel import maximal_from

    work, support = work or Work(), max(support, 1)
    frequent = transactions.supports() >= support
    once = repeats(replace(transactions.only(frequent[transactions.codes]), secret=None))
    names = np.flatnonzero(frequent).astype(np.int32)
    new = np.cumsum(frequent).astype(np.int32) - 1
    slots, row_of, stop = slots_of(once.records)
    slots[slots >= 0] = new[slots[slots >= 0]]
    order = np.argsort(slots, kind="stable").astype(np.int32)
    bounds = np.searchsorted(slots[order], np.arange(len(names) + 1))
    records, members = (slots, stop, once.times[row_of]), np.zeros((len(names), 4), np.uint64)
    codes: list[Codes] = []
    sizes: list[Codes] = []
    rows: list[Codes] = []
    number = 0
    for item in range(len(names)):
        work.advance("maximal frequent sets", item, len(names))
        begin = (item, order[bounds[item] : bounds[item + 1]])
        members, found, long, many, looked = maximal_from(records, begin, support, members, number, most)
        most -= looked
        if most < 0:
            return None
        number += len(long)
        codes.append(found)
        sizes.append(long)
        rows.append(many)
    return _collected(codes, sizes, rows, names)


def _collected(codes: list[Codes], sizes: list[Codes], rows: list[Codes], names: Codes) -> Itemsets:
    none = np.empty(0, np.int32)
    starts = np.concatenate(([0], np.cumsum(np.concatenate([none, *sizes]), dtype=np.int64)))
    found = np.concatenate([none, *codes])
    set_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    found = found[np.lexsort((found, set_of))]
    counts = np.concatenate([none, *rows]).astype(np.int64)
    return Itemsets(starts=starts, codes=names[found], rows=counts, top=np.zeros(len(counts), np.int64))
