"""Mining a sanitized release below the thresholds, or with its unknowns read as had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb
from typing import ClassVar, Literal

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.subject import Title
from sfumato.core.arguments import at_least, between, one_of
from sfumato.core.fractions import exact
from sfumato.core.randomness import Chance
from sfumato.counts.frequent_itemsets import FrequentItemsets, frequent_itemsets, least_rows
from sfumato.counts.sensitive_patterns import Pattern
from sfumato.counts.transactions import Holders, Transactions

_LONGEST = 8
"""The attacker looks for sets of at most so many items, and of as many as the longest hidden pattern has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SanitizedSubject:
    """A release of sets, and what was hidden in it."""

    sure: Transactions
    """What records surely have."""
    possible: Transactions
    """What they have if every unknown item is had; the same where none is unknown."""
    patterns: tuple[Pattern, ...]
    """What was hidden."""
    min_support: float
    """The stated thresholds."""
    min_confidence: float
    """The stated thresholds."""

    def without_release(self) -> SanitizedSubject:
        """The same secrets behind a release that shows nothing."""
        empty = Transactions.of([[]] * self.sure.rows)
        return replace(self, sure=empty, possible=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredThresholds:
    """Somebody has the release and its thresholds, and knows that rules were hidden.

    The attacker mines it again with both thresholds lowered by a share, and takes all that appears for what may have
    been hidden; or the attacker mines it at the stated thresholds and reads every unknown item as had. A hidden pattern
    is a trial; it works if the pattern appears. The guesser takes as many sets of the pattern's size at random.

    Figures: appear, how many sets appear that the stated thresholds do not show; hidden_per_set, the hidden patterns
        that appear for each of these: how much work is left to who must tell them apart.
    Needs: to know what was hidden; only whoever made the release does.
    Cost: one mining of the release.
    Source: Verykios et al. 2004 and Saygin et al. 2001, who state what their safety margin and unknowns are against.
    """

    name: ClassVar[str] = "lowered-thresholds"
    threat: ClassVar[str] = "the method itself"

    by: float = 0.5
    """By which share both thresholds are lowered."""
    reading: Literal["sure", "possible"] = "sure"
    """Whether unknown items are read as not had, or as had."""
    trials: int = 2000
    """At most so many hidden patterns are looked for."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        between("by", self.by, 0, 0.99)
        one_of("reading", self.reading, ("sure", "possible"))
        at_least("trials", self.trials, 1)

    def fits(self, subject: SanitizedSubject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.patterns:
            return "it is not known what was hidden; only whoever made the release knows"
        return "" if subject.sure.rows else "there are no records"

    def variants(self, subject: SanitizedSubject) -> Sequence[Title]:
        """With unknowns read as had too, where there are any."""
        if len(subject.possible.codes) == len(subject.sure.codes):
            return (("", self),)
        return (("", self), (", unknowns as had", replace(self, by=0.0, reading="possible")))

    def run(self, subject: SanitizedSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Look for what was hidden."""
        records = subject.sure if self.reading == "sure" else subject.possible
        order = chance.generator().permutation(len(subject.patterns))[: self.trials]
        patterns = [subject.patterns[place] for place in sorted(order.tolist())]
        support = (1 - exact(float(self.by))) * exact(float(subject.min_support))
        sure = (1 - exact(float(self.by))) * exact(float(subject.min_confidence))
        least = max(ceil(support * records.rows), 1)
        longest = max([_LONGEST, *(len(pattern.whole) for pattern in patterns)])
        itemsets = frequent_itemsets(records, least, longest=longest)
        stated = frequent_itemsets(subject.sure, least_rows(subject.min_support, subject.sure.rows), longest=longest)
        holders, place = Holders(records), {label: code for code, label in enumerate(records.labels)}
        hits = sum(_appears(holders, place, pattern, least, sure) for pattern in patterns)
        guessed = sum(_chance(itemsets, len(pattern.whole), records.count) for pattern in patterns)
        fresh = itemsets.count - stated.count
        lowered = f"mines it with both thresholds lowered by {self.by:.0%}"
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the release and its thresholds and that rules were hidden",
            does=f"see a hidden one who {lowered if self.reading == 'sure' else 'reads unknown items as had'}",
            rate=Rate(hits=float(hits), trials=len(patterns)),
            naive=Rate(hits=float(guessed), trials=len(patterns), exact=True),
            limit=limit,
            figures={"appear": float(fresh), "hidden_per_set": hits / fresh if fresh else 0.0},
            exact=True,
        )


def _appears(holders: Holders, place: Mapping[str, int], pattern: Pattern, least: int, sure: Fraction) -> bool:
    if any(item not in place for item in pattern.whole):
        return False
    whole = len(holders.of_all([place[item] for item in pattern.whole]))
    left = len(holders.of_all([place[item] for item in pattern.left])) if pattern.left else whole
    return whole >= least and (not pattern.left or whole >= sure * left)


def _chance(itemsets: FrequentItemsets, size: int, items: int) -> float:
    """How likely a set of so many items, drawn at random, is among those that appear."""
    if size > len(itemsets.levels) or items < size:
        return 0.0
    return len(itemsets.levels[size - 1].rows) / comb(items, size)
