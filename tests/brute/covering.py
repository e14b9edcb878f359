"""Releases in which a label covers items: what an adversary finds who knows original items, word for word.

Sources: Terrovitis, Mamoulis, Kalnis 2011 (local recoding, Gray order); Cao, Karras, Raissi, Tan 2010
(rho-uncertainty).
Nothing here is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Record = frozenset[str]
Covers = Callable[[str, str], bool]
"""Whether a label covers an original item."""


def fits(record: Record, q: Iterable[str], covers: Covers) -> bool:
    """Whether a released record has, for every known item, a label that covers it."""
    return all(any(covers(label, item) for label in record) for item in q)


def found(released: Sequence[Record], q: Iterable[str], covers: Covers) -> list[int]:
    """The records that may be hers, for somebody who knows the items q of her."""
    known = tuple(q)
    return [row for row, record in enumerate(released) if fits(record, known, covers)]


def knowledge(people: Sequence[Record], most: int | None) -> list[tuple[int, Record]]:
    """Every person with every set of at most ``most`` of her original items."""
    return [
        (row, frozenset(q))
        for row, items in enumerate(people)
        for size in range(1, (len(items) if most is None else min(most, len(items))) + 1)
        for q in combinations(sorted(items), size)
    ]


def found_enough(people: Sequence[Record], released: Sequence[Record], covers: Covers, k: int, m: int) -> bool:
    """Whoever knows at most m original items of somebody finds at least k records, or none where one is left out."""
    for row, q in knowledge(people, m):
        rows = found(released, q, covers)
        if fits(released[row], q, covers):
            assert row in rows
        elif not rows:
            continue
        if len(rows) < k:
            return False
    return True


def surest(
    people: Sequence[Record], released: Sequence[Record], covers: Covers, sensitive: Iterable[str], l: int | None
) -> Fraction:
    """The largest share of records with another sensitive item among those that fit at most l known original items.

    What is covered by no label of the release tells nothing: who knows it is left with what else is known. Whoever is
    left with nothing looks at everybody, and that is not bounded.
    """
    best = Fraction(0)
    named = set(sensitive)
    for _, known in knowledge(people, l):
        q = {item for item in known if any(covers(label, item) for record in released for label in record)}
        rows = found(released, q, covers) if q else []
        for item in named - known:
            if rows:
                best = max(best, Fraction(sum(item in released[row] for row in rows), len(rows)))
    return best


def gray(rows: Sequence[int], records: Sequence[Record], items: Sequence[str]) -> list[int]:
    """The rows in Gray order of their bits: those without the first item, then those with it the other way round."""
    if not items:
        return list(rows)
    without, having = ([r for r in rows if (items[0] in records[r]) == there] for there in (False, True))
    return gray(without, records, items[1:]) + blocks_reversed(gray(having, records, items[1:]), records, items[1:])


def blocks_reversed(rows: Sequence[int], records: Sequence[Record], items: Sequence[str]) -> list[int]:
    """The other way round, but rows that are alike stay in their order."""
    blocks: list[list[int]] = []
    for row in rows:
        if blocks and records[blocks[-1][0]] & set(items) == records[row] & set(items):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return [row for block in reversed(blocks) for row in block]
