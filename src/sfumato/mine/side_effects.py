"""What hiding rules does to all others: those that are lost, those that were not there before, and how far it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.frequent_itemsets import frequent_itemsets
from sfumato.group.holders import Holders
from sfumato.group.sensitive_patterns import Pattern, Thresholds
from sfumato.group.transactions import Transactions
from sfumato.mine.association_rules import association_rules

Rule = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideEffects:
    """The original against a release, both mined at the same thresholds.

    Source: Oliveira, Zaiane 2002: hiding failure, misses cost (lost), artifactual patterns (ghosts), dissimilarity.
    """

    hiding_failure: float
    """The share of the sensitive patterns found in the original that are found in the release."""
    sets: int
    """The frequent sets of the original in which no sensitive set lies."""
    lost_sets: int
    """How many of them the release does not yield."""
    rules: int
    """The rules of the original that are not sensitive and have no sensitive set within."""
    lost_rules: int
    """How many of them the release does not yield."""
    ghost_rules: int
    """Rules of the release that the original does not yield."""
    dissimilarity: float
    """How many item entries came or went, item by item, as a share of those that there were."""

    def to_json(self) -> dict[str, float]:
        """The figures by name."""
        return asdict(self)


def side_effects(
    before: Transactions,
    after: Transactions,
    patterns: Sequence[Pattern],
    thresholds: Thresholds,
    *,
    longest: int | None = None,
    work: Work | None = None,
) -> SideEffects:
    """Mine both, and compare; items are compared by their names."""
    sets, rules = zip(*(_mined(one, thresholds, longest, work) for one in (before, after)), strict=True)
    secret = [frozenset(one.right) for one in patterns if not one.left]
    sensitive = {(frozenset(one.left), frozenset(one.right)) for one in patterns if one.left}
    kept_sets = {one for one in sets[0] if not any(hidden <= one for hidden in secret)}
    kept_rules = {
        rule for rule in rules[0] if rule not in sensitive and not any(hidden <= rule[0] | rule[1] for hidden in secret)
    }
    here, there = (found_patterns(one, patterns, thresholds) for one in (before, after))
    return SideEffects(
        hiding_failure=sum(a and b for a, b in zip(here, there, strict=True)) / max(sum(here), 1),
        sets=len(kept_sets),
        lost_sets=len(kept_sets - sets[1]),
        rules=len(kept_rules),
        lost_rules=len(kept_rules - rules[1]),
        ghost_rules=len(rules[1] - rules[0]),
        dissimilarity=_dissimilarity(before, after),
    )


def found_patterns(records: Transactions, patterns: Sequence[Pattern], thresholds: Thresholds) -> list[bool]:
    """Which patterns somebody finds in some records at the thresholds."""
    holders, place = Holders(records), {label: code for code, label in enumerate(records.labels)}

    def rows(items: tuple[str, ...]) -> int:
        if any(item not in place for item in items):
            return 0
        return len(holders.of_all([place[item] for item in items]))

    return [thresholds.found(rows(one.whole), rows(one.left) if one.left else None, records.rows) for one in patterns]


def _mined(
    records: Transactions, thresholds: Thresholds, longest: int | None, work: Work | None
) -> tuple[set[frozenset[str]], set[Rule]]:
    found = frequent_itemsets(records, thresholds.least(records.rows), longest=longest, work=work)
    rules = association_rules(found, thresholds.min_confidence, work=work)
    sets = {frozenset(found.named(items)) for items, _ in found.each()}
    return sets, {(frozenset(found.named(x)), frozenset(found.named(y))) for x, y in rules.each()}


def _dissimilarity(before: Transactions, after: Transactions) -> float:
    place = {label: code for code, label in enumerate(dict.fromkeys((*before.labels, *after.labels)))}
    counts = []
    for one in (before, after):
        mine = np.zeros(len(place), np.int64)
        mine[[place[label] for label in one.labels]] = one.supports()
        counts.append(mine)
    return float(np.abs(counts[0] - counts[1]).sum() / max(int(counts[0].sum()), 1))
