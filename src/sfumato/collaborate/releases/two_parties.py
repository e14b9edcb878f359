"""Two parties' rows as one source: counts are opened only where the release tells them anyway.

A label that is taken divides groups whose counts follow from the released rows. One that is refused would show finer
ones: whether it is refused is found by a circuit, and its counts are never told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.exchange import Seat, Talk, to_all
from sfumato.collaborate.primitives.secure_sum import Counts
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.collaborate.summed_cuts import SummedCuts, SummedSource, refuse_outside, refuse_own
from sfumato.group.cut_counts import CutSource, Divided, Division, Figure, Groups, Numbers, by_value

if TYPE_CHECKING:
    from sfumato.collaborate.releases.two_party_candidates import TwoPartyCandidates
    from sfumato.publish.top_down.top_down_search import Search


class OpenedNumbers:
    """Sums of two parties, each of which tells its own number: for what follows from the release."""

    def __init__(self, conversation: Conversation, *, signed: bool = False) -> None:
        """Nothing is sent yet; ``signed`` numbers have noise or are shares modulo 2^32, and may be negative."""
        self.conversation = conversation
        self._least, self._most = (-(2**32), 2**32) if signed else (0, conversation.max_records)

    def __call__(self, values: Counts) -> Counts:
        """The sum of what both give; both give arrays of the same shape."""
        refuse_own(values, self._most, self.conversation)
        return self.conversation.run(_opened(self.conversation.seat, values, self._least, self._most))


def _opened(seat: Seat, values: Counts, least: int, most: int) -> Talk[Counts]:
    came = yield to_all(seat, "counts/opened", values.astype("<i8").tobytes())
    total = values.astype(np.int64)
    for content in came.values():
        theirs = np.frombuffer(content, "<i8").reshape(values.shape)
        refuse_outside(theirs, least, most)
        total = total + theirs
    return total


class TwoPartySource(SummedSource):
    """The rows of two parties, of which this one holds some."""

    def __init__(self, conversation: Conversation, own: CutSource) -> None:
        """Get ready for circuits."""
        super().__init__(OpenedNumbers(conversation), own)
        seat = conversation.seat
        self.conversation = conversation
        self.ready: Sending | Receiving
        if seat.me == 0:
            self.ready = conversation.run(ready_to_send(seat, 1))
        else:
            self.ready = conversation.run(ready_to_receive(seat, 0))

    def root(self, figures: Sequence[Figure]) -> TwoPartyCuts:
        """A walk that both take together."""
        return TwoPartyCuts(self._sums, self._own.root(figures), len(figures))

    def own_counts(self, figures: Sequence[Figure], column: int, size: int) -> Counts:
        """This party's own counts by the values of a column: values x figures."""
        return np.asarray(self._own.root(figures).histogram(by_value(column, size))[0], np.int64)

    def opened(self, values: Counts) -> Counts:
        """The sum of both parties' numbers: only of what follows from the release."""
        return self._sums(values)

    def candidates(self, search: Search) -> TwoPartyCandidates:
        """The same candidates at both parties; one that models refuse is dropped before its counts are opened."""
        from sfumato.collaborate.releases.two_party_candidates import TwoPartyCandidates

        return TwoPartyCandidates(self, search)


class TwoPartyCuts(SummedCuts):
    """A walk whose columns are not counted beforehand."""

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Nothing: how often each value occurs is nobody's business."""
        return np.zeros((groups.count if groups else asked.count, asked.children, self._figures), np.int64)

    def own(self, asked: Division) -> Divided:
        """This party's own counts of every pair, also of those without any."""
        counts = np.asarray(self._own.refine(asked).dense(), np.int64).reshape(-1, self._figures)
        keys = np.arange(len(counts), dtype=np.int64)
        return Divided(division=asked, owner=keys // asked.children, child=keys % asked.children, counts=counts)
