"""Two parties' rows as one source: counts are opened only where the release tells them anyway.

A label that is taken divides groups whose counts follow from the released rows. One that is refused would show finer
ones: whether it is refused is found by a circuit, and its counts are never told. So labels are chosen by the squares of
groups (discernibility), which are known; the information gain of a label would need the counts below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.exchange import Seat, Talk, to_all
from sfumato.collaborate.primitives.secure_sum import Counts
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.collaborate.releases.hidden_checks import hold_together
from sfumato.collaborate.summed_cuts import SummedCuts, SummedSource
from sfumato.group.cut_counts import CutSource, Divided, Division, Figure, Groups, Numbers
from sfumato.publish.top_down.candidates import Candidates
from sfumato.publish.top_down.demands import Demand
from sfumato.publish.top_down.partitions import Refined
from sfumato.publish.top_down.top_down_search import Search
from sfumato.publish.top_down.validity import Validity


class OpenedNumbers:
    """Sums of two parties, each of which tells its own number: for what follows from the release."""

    def __init__(self, conversation: Conversation) -> None:
        """Nothing is sent yet."""
        self.conversation = conversation

    def __call__(self, values: Counts) -> Counts:
        """The sum of what both give; both give arrays of the same shape."""
        return self.conversation.run(_opened(self.conversation.seat, values))


def _opened(seat: Seat, values: Counts) -> Talk[Counts]:
    came = yield to_all(seat, "counts/opened", values.astype("<i8").tobytes())
    theirs = [np.frombuffer(content, "<i8").reshape(values.shape) for content in came.values()]
    return np.asarray(sum(theirs, values), np.int64)


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

    def candidates(self, search: Search) -> TwoPartyCandidates:
        """The same candidates at both parties; one that models refuse is dropped before its counts are opened."""
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


class TwoPartyCandidates(Candidates):
    """Labels by the squares of groups, which both parties know; the next one is always one that models allow."""

    def __init__(self, source: TwoPartySource, search: Search) -> None:
        """The roots."""
        self._source, self._search = source, search
        self._validity = Validity(search.problem, judged=self._holds)
        self._next: tuple[int, int] | None = None
        super().__init__(search.columns, search.score, float(search.partitions.rows[0]))

    @property
    def left(self) -> bool:
        """Whether there is a label that models allow; found out together."""
        while self._next is None and self._heap:
            found = super().pop()
            if self._allowed(*found):
                self._next = found
        return self._next is not None

    def pop(self) -> tuple[int, int]:
        """The label that both take."""
        found, self._next = self._next, None
        return found or super().pop()

    def _allowed(self, place: int, value: int) -> bool:
        search = self._search
        split = search.columns[place].split(value)
        parts = np.flatnonzero(search.partitions.keys[place] == value)
        asked = Division(column=place, parts=parts, child_of=split.child_of, children=len(split.values))
        divided = cast("TwoPartyCuts", search.partitions.walk).own(asked)
        refined = Refined(column=place, parts=parts, divided=divided)
        return self._validity.holds(search.columns, search.partitions, refined, split)

    def _holds(self, groups: Numbers, demand: Demand) -> bool:
        return self._source.conversation.run(hold_together(self._source.ready, groups, demand))
