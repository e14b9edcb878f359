"""Counts under a cut that several parties add up: each counts its own records, and only sums are told.

So every search and learner that asks for counts step by step runs over several parties as it is: top-down
specialization, DiffGen, trees. All parties run it, ask the same questions in the same order, and come to the same
result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.collaborate.conversation import Conversation
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

    def __init__(self, conversation: Conversation) -> None:
        """Agree on keys with every other party."""
        self.conversation = conversation
        self._keys: PairwiseKeys = conversation.run(agree_keys(conversation.seat))

    def __call__(self, values: Counts) -> Counts:
        """The sum of what every party gives here; all give arrays of the same shape."""
        return self.conversation.run(secure_sum(self.conversation.seat, self._keys, values))


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

    def total(self) -> Numbers:
        """The figures of all records of all parties."""
        return self._sums(np.asarray(self._own.total(), np.int64))

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        self._refuse_many((groups.count if groups else asked.count) * asked.children)
        return self._sums(np.asarray(self._own.histogram(asked, groups), np.int64))

    def refine(self, asked: Division) -> Divided:
        """The pairs in which anybody counted anything; every public child is asked about, so that none tells whose."""
        self._refuse_many(asked.count * asked.children)
        counts = self._sums(np.asarray(self._own.refine(asked).dense(), np.int64))
        flat = counts.reshape(-1, self._figures)
        keys = np.arange(len(flat), dtype=np.int64)
        return Divided(
            division=asked, owner=keys // asked.children, child=keys % asked.children, counts=flat
        ).occupied()

    def apply(self, divided: Divided, places: Ids) -> None:
        """Each party divides its own records."""
        self._own.apply(divided, places)

    def _refuse_many(self, pairs: int) -> None:
        if pairs * self._figures > MOST_PAIRS:
            raise DataError(
                f"{pairs:,} parts x {self._figures} figures are too many to sum at once; a coarser grid or fewer "
                "children of a label would do"
            )
