"""Algorithm 4.1 of Mohammed 2012 word by word in plain Python, and PrefixSpan: the same sets at other costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from prefixspan import PrefixSpan

from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import Transactions

Items = tuple[int, ...]


def lines(records: Transactions) -> list[list[int]]:
    """The items of every record."""
    bounds = records.starts.tolist()
    codes = records.codes.tolist()
    return [codes[a:b] for a, b in pairwise(bounds)]


def as_sets(found: Itemsets) -> set[Items]:
    """Sets of items as Python's own."""
    bounds, codes = found.starts.tolist(), found.codes.tolist()
    return {tuple(codes[a:b]) for a, b in pairwise(bounds)}


def rescanned(records: Sequence[Sequence[int]], watched: Sequence[bool], l: int, k: int, c: float) -> set[Items]:
    """The minimal violating sequences: candidates by self-join, each size counted by one more scan of the table."""
    candidates: set[Items] = {(item,) for record in records for item in record}
    found: set[Items] = set()
    for size in range(1, l + 1):
        rows: Counter[Items] = Counter()
        sure: Counter[Items] = Counter()
        for record, secret in zip(records, watched, strict=True):
            for one in combinations(record, size):
                if one in candidates:
                    rows[one] += 1
                    sure[one] += secret
        bad = {one for one, many in rows.items() if many < k or sure[one] > c * many + 1e-12}
        found |= bad
        candidates = joined(rows.keys() - bad, size)
    return found


def joined(good: Iterable[Items], size: int) -> set[Items]:
    """The sequences of one item more of which all parts are good."""
    kept, heads = set(good), dict[Items, list[int]]()
    for one in kept:
        heads.setdefault(one[:-1], []).append(one[-1])
    pairs = ((head, a, b) for head, lasts in heads.items() for a, b in combinations(sorted(lasts), 2))
    return {
        (*head, a, b)
        for head, a, b in pairs
        if size < 2 or all((*head[:place], *head[place + 1 :], a, b) in kept for place in range(len(head)))
    }


def spanned(records: list[list[int]], support: int) -> list[Items]:
    """The closed frequent sequences, by PrefixSpan."""
    return [tuple(one) for _, one in PrefixSpan(records).frequent(support, closed=True)]


def maximal(sets: Iterable[Items]) -> set[Items]:
    """Those of which no other holds all items."""
    every = [frozenset(one) for one in sets]
    return {tuple(sorted(one)) for one in every if not any(one < other for other in every)}
