"""Counts under a cut that several parties add up: each counts its own records, and only sums are told.

So every search and learner that asks for counts step by step runs over several parties as it is: top-down
specialization, DiffGen, trees. All parties run it, ask the same questions in the same order, and come to the same
result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.collaborate.conversation import Conversation, WrongNumbers
from sfumato.collaborate.primitives.pairwise_masks import PairwiseKeys, agree_keys
from sfumato.collaborate.primitives.secure_sum import Counts, secure_sum
from sfumato.ground.errors import DataError
from sfumato.group.cut_counts import CutCounts, CutSource, Divided, Division, Figure, Groups, Numbers
from sfumato.group.keys import Ids
from sfumato.group.needs import Need

Sums = Callable[[Counts], Counts]
"""From a party's own numbers to those of all parties."""
MOST_PAIRS = 2**26
"""More counts than this are not summed in one step."""


class SummedNumbers:
    """Sums over all parties of a conversation; each sum has masks of its own."""

    def __init__(self, conversation: Conversation, *, each: int = 1, signed: bool = False) -> None:
        """Agree on keys with every other party.

        A record adds at most ``each`` to a number; ``signed`` numbers have noise and may be negative.
        """
        self.conversation, most = conversation, each * conversation.max_records
        self._least, self._most = (-most, 2 * most) if signed else (0, most)
        self._keys: PairwiseKeys = conversation.run(agree_keys(conversation.seat))

    def __call__(self, values: Counts) -> Counts:
        """The sum of what every party gives here; all give arrays of the same shape."""
        refuse_own(values, self._most, self.conversation)
        total = self.conversation.run(secure_sum(self.conversation.seat, self._keys, values))
        parties = self.conversation.seat.count
        refuse_outside(total, self._least * parties, self._most * parties)
        return total


def refuse_own(values: Counts, most: int, conversation: Conversation) -> None:
    """Refuse one's own numbers before they are sent, where the others would refuse them."""
    if values.size and int(values.max()) > most:
        raise DataError(
            f"this party counts more than limits.records of the session allows, {conversation.max_records:,}; agree on "
            "a higher limit"
        )


def refuse_outside(numbers: Counts, least: int, most: int) -> None:
    """Refuse opened numbers that no honest parties can have."""
    if numbers.size and (int(numbers.min()) < least or int(numbers.max()) > most):
        worst = int(numbers.min()) if int(numbers.min()) < least else int(numbers.max())
        raise WrongNumbers(f"a count or sum of the parties is {worst:,}, and must be from {least:,} to {most:,}")


def refuse_more(parts: Numbers, whole: Numbers) -> None:
    """Refuse parts that add up to more than the whole that they are parts of."""
    if (np.asarray(parts) > np.asarray(whole)).any():
        raise WrongNumbers("the counts of the parts of a group add up to more than the group has")


class SummedSource:
    """The records of all parties, over public domains; this party holds some of them."""

    def __init__(self, sums: Sums, own: CutSource) -> None:
        """``own`` counts this party's records in whole numbers."""
        if "integers" not in own.gives:
            raise DataError("parties add up whole numbers; the counts of this source are estimates")
        self._sums, self._own = sums, own

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers; cells and rows stay with each party."""
        return frozenset({"integers"})

    def root(self, figures: Sequence[Figure]) -> SummedCuts:
        """A walk that all parties take together."""
        return SummedCuts(self._sums, self._own.root(figures), len(figures))


class SummedCuts:
    """A walk of one party's records, whose counts are those of all parties."""

    def __init__(self, sums: Sums, own: CutCounts, figures: int) -> None:
        """At the root."""
        self._sums, self._own, self._figures = sums, own, figures
        self._known: Numbers | None = None
        """What each partition has, where it has been told: partitions x figures."""
        self._all: Numbers | None = None

    def total(self) -> Numbers:
        """The figures of all records of all parties."""
        counts = self._sums(np.asarray(self._own.total(), np.int64))
        self._all = counts
        if self._known is None:
            self._known = counts[None]
        return counts

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        self._refuse_many((groups.count if groups else asked.count) * asked.children)
        counts = self._sums(np.asarray(self._own.histogram(asked, groups), np.int64))
        self._refuse_wrong(counts, asked, groups)
        return counts

    def refine(self, asked: Division) -> Divided:
        """The pairs in which anybody counted anything; every public child is asked about, so that none tells whose."""
        self._refuse_many(asked.count * asked.children)
        counts = self._sums(np.asarray(self._own.refine(asked).dense(), np.int64))
        self._refuse_wrong(counts, asked, None)
        flat = counts.reshape(-1, self._figures)
        keys = np.arange(len(flat), dtype=np.int64)
        return Divided(
            division=asked, owner=keys // asked.children, child=keys % asked.children, counts=flat
        ).occupied()

    def apply(self, divided: Divided, places: Ids) -> None:
        """Each party divides its own records."""
        self._own.apply(divided, places)
        if self._known is not None and self._all is not None:
            kept, parts = places >= 0, divided.division.parts
            whole = self._all[None] if parts is None else self._known[parts]
            # a search that names no counts (a tree) is held to those of the partition that it divides
            counts = divided.counts if divided.counts.any() else whole[divided.owner]
            grown = np.zeros((max(len(self._known), int(places.max(initial=-1)) + 1), self._figures), np.int64)
            grown[: len(self._known)] = self._known
            grown[slice(None) if parts is None else parts] = 0
            grown[places[kept]] = counts[kept]
            self._known = grown

    def _refuse_wrong(self, counts: Numbers, division: Division, groups: Groups | None) -> None:
        """Children of a partition have no more records than it has."""
        known = self._all if division.parts is None else self._known
        if known is None:
            return
        expected = known[None] if division.parts is None else known[division.parts]
        if groups is not None:
            each, expected = expected, np.zeros((groups.count, self._figures), np.int64)
            np.add.at(expected, groups.of, each)
        refuse_more(counts.sum(axis=1), expected)

    def _refuse_many(self, pairs: int) -> None:
        if pairs * self._figures > MOST_PAIRS:
            raise DataError(
                f"{pairs:,} parts x {self._figures} figures are too many to sum at once; a coarser grid or fewer "
                "children of a label would do"
            )
