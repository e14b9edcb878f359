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


def hidden(records: Records, left: Items, right: Items, support: Fraction, confidence: Fraction) -> bool:
    """Whether a pattern is below a share of the records or, if it is a rule, below a confidence; or nobody has it."""
    whole = supported(records, left | right)
    if whole == 0 or whole < support * len(records):
        return True
    return bool(left) and Fraction(whole, supported(records, left)) < confidence


def lost(before: Records, after: Records, secret: Sequence[Items], least: Fraction) -> set[Items]:
    """The frequent sets in which no sensitive set lies and which are not frequent any more."""
    kept = {one for one in frequent(before, least * len(before)) if not any(s <= one for s in secret)}
    return {one for one in kept if supported(after, one) < max(least * len(after), 1)}


def best(
    records: Records, patterns: Sequence[Rule], least: Fraction, support: Fraction, confidence: Fraction
) -> tuple[int, int]:
    """The fewest lost sets, and the fewest items taken out with so few: every choice of items is tried."""
    entries = [(row, item) for row, record in enumerate(records) for item in sorted(record)]
    secret = [right for left, right in patterns if not left]
    found: tuple[int, int] | None = None
    for choice in range(2 ** len(entries)):
        gone = {entry for at, entry in enumerate(entries) if choice >> at & 1}
        if found is not None and found <= (0, len(gone)):
            continue
        after = [frozenset(i for i in record if (row, i) not in gone) for row, record in enumerate(records)]
        if all(hidden(after, left, right, support, confidence) for left, right in patterns):
            cost = len(lost(records, after, secret, least)), len(gone)
            found = cost if found is None else min(found, cost)
    assert found is not None
    return found
