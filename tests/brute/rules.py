"""Frequent sets, association rules and their hiding, straight from the definitions: slow, and nothing shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations

Items = frozenset[str]
Records = Sequence[Items]
Rule = tuple[Items, Items]


def supported(records: Records, items: Items) -> int:
    return sum(items <= record for record in records)


def subsets(items: Items) -> Iterator[Items]:
    ordered = sorted(items)
    return map(frozenset, chain.from_iterable(combinations(ordered, n) for n in range(1, len(ordered) + 1)))


def frequent(records: Records, least: Fraction | int) -> dict[Items, int]:
    """Every set of items that at least so many records have (and one at least)."""
    every = {one for record in records for one in subsets(record)}
    counts = {one: supported(records, one) for one in every}
    return {one: many for one, many in counts.items() if many >= least}


def rules(records: Records, least: Fraction | int, confidence: Fraction) -> dict[Rule, tuple[int, Fraction, Fraction]]:
    """Every rule with its rows, confidence and lift."""
    found = {}
    for whole, many in frequent(records, least).items():
        for left in subsets(whole):
            if left != whole:
                sure = Fraction(many, supported(records, left))
                if sure >= confidence:
                    lift = sure * len(records) / supported(records, whole - left)
                    found[left, whole - left] = (many, sure, lift)
    return found
