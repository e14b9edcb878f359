"""Rows of two parties as one source: counts open only where the release shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from sfumato.algorithms.top_down.columns import Column, GrownColumn, Rank, Split, classes_of, gain
from sfumato.algorithms.top_down.partitions import Candidates, Refined
from sfumato.algorithms.top_down.validity import Demand, Validity
from sfumato.counts.sources import ROWS, CutSource, Divided, Division, Figure, Groups, Numbers, by_value
from sfumato.parties.conversation import Conversation, Seat, Talk, to_all
from sfumato.parties.oblivious_transfer import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.parties.releases.hidden_gains import (
    HiddenSplit,
    Interval,
    best_split,
    entropy_below,
    gain_share,
    greatest,
    hold_together,
)
from sfumato.parties.secure_sum import Counts
from sfumato.parties.summed_counts import SummedCuts, SummedSource, refuse_outside, refuse_own
from sfumato.tables.labels import roundest, roundness

if TYPE_CHECKING:
    from sfumato.algorithms.top_down.specializer import Search


# The labels of two parties' rows, best first: neither party learns a count or a gain that the release does not tell.
#
# What both know of a label of the current cut, its rows of each class, follows from the release. What lies below it
# stays in circuits: the split of an interval, the gain of a label as shares, which label has the highest gain, and
# whether models allow it.


class TwoPartyCandidates(Candidates):
    """The same labels at both parties; the next one is always one that models allow."""

    def __init__(self, source: TwoPartySource, search: Search) -> None:
        """The roots."""
        self._source, self._search = source, search
        self._run, self._ready = source.conversation.run, source.ready
        self._validity = Validity(search.problem, judged=self._holds)
        self._next: tuple[int, int] | None = None
        self._gains: dict[tuple[int, Rank], int] = {}
        self._halves: dict[tuple[int, int], bool] = {}
        figures = classes_of(search.problem) if search.score == "gain" else (ROWS,)
        sizes = [len(labels) for labels in search.problem.cells.labels]
        self._counts = [source.own_counts(figures, place, size) for place, size in enumerate(sizes)]
        for column in search.columns:
            if isinstance(column, GrownColumn):
                column.assume_every_number()
        super().__init__(search.columns, search.score, float(search.partitions.rows[0]))

    def __len__(self) -> int:
        return len(self._gains) if self.score == "gain" else super().__len__()

    @property
    def left(self) -> bool:
        """Whether there is a label that models allow; found out together."""
        while self._next is None and len(self):
            place, value = self._best()
            split = self.columns[place].split(value)
            if self._allowed(place, value, split):
                self._next = place, value
            else:
                self._retry(place, value)
        return self._next is not None

    def pop(self) -> tuple[int, int]:
        """The label that both take."""
        best, self._next = self._next, None
        return best or super().pop()

    def add(self, place: int, values: list[int]) -> None:  # type: ignore[override]
        """Put in those labels of a column that have something below, each with its split and a share of its gain."""
        column = self.columns[place]
        for value in values:
            if not column.is_open(value):
                continue
            below = 0
            if isinstance(column, GrownColumn):
                split = self._split(place, column, value)
                if split is None:
                    continue
                column.settle(value, split.place)
                self._halves[place, value] = split.smaller_left
                below = split.below
            if self.score != "gain":
                super().add(place, [value])
                continue
            whole = self._whole(place, value)
            if not isinstance(column, GrownColumn):
                parts = self._below(place, value, column.split(value))
                below = self._run(entropy_below(self._ready, parts, sum(whole)))
            first = self._source.conversation.seat.me == 0
            self._gains[place, column.rank(value)] = gain_share(whole, below, first=first)

    def worth(self, place: int, value: int) -> float:
        """The score of a label; a gain is computed from counts that are opened, so only for one that is taken."""
        if self.score != "gain":
            return super().worth(place, value)
        parts = self._source.opened(self._below(place, value, self.columns[place].split(value)))
        return gain(parts.sum(axis=0).astype(np.float64), parts.astype(np.float64))

    def _best(self) -> tuple[int, int]:
        """Take out the label with the highest score, allowed or not."""
        if self.score != "gain":
            return super().pop()
        keys = sorted(self._gains)
        key = keys[self._run(greatest(self._ready, [self._gains[gain_key] for gain_key in keys]))]
        del self._gains[key]
        return key[0], key[1][1]

    def _retry(self, place: int, value: int) -> None:
        """Where that is asked for, an interval comes back with another split."""
        column = self.columns[place]
        if not self._search.retry or not isinstance(column, GrownColumn):
            return
        if column.narrow(value, smaller_left=self._halves[place, value]):
            self.add(place, [value])

    def _split(self, place: int, column: GrownColumn, value: int) -> HiddenSplit | None:
        """Where an interval is best split."""
        numbers = column.inside(value)
        edges = [roundest(low, high) for low, high in zip(numbers[:-1].tolist(), numbers[1:].tolist(), strict=True)]
        order = sorted(range(len(edges)), key=lambda at: (-roundness(edges[at]), at))
        interval = Interval(
            whole=self._whole(place, value),
            order=tuple(order),
            window=column.window(value),
            by_gain=self.score == "gain",
            tells_half=self._search.retry,
        )
        under = _under(column, value)
        mine = np.zeros((len(numbers), self._counts[place].shape[1]), np.int64)
        np.add.at(mine, np.searchsorted(numbers, column.numbers[under]), self._counts[place][under])
        return self._run(best_split(self._ready, interval, np.cumsum(mine, axis=0)[:-1]))

    def _whole(self, place: int, value: int) -> tuple[int, ...]:
        """The rows of a label in each class, of both parties."""
        own = self._counts[place][_under(self.columns[place], value)].sum(axis=0)
        return tuple(self._source.opened(own).tolist())

    def _below(self, place: int, value: int, split: Split) -> Counts:
        """This party's own counts of the labels below: labels x classes."""
        under = _under(self.columns[place], value)
        counts = np.zeros((len(split.values), self._counts[place].shape[1]), np.int64)
        np.add.at(counts, split.child_of[under], self._counts[place][under])
        return counts

    def _allowed(self, place: int, value: int, split: Split) -> bool:
        search = self._search
        parts = np.flatnonzero(search.partitions.keys[place] == value)
        division = Division(column=place, parts=parts, child_of=split.child_of, children=len(split.values))
        divided = cast("TwoPartyCuts", search.partitions.walk).own(division)
        refined = Refined(column=place, parts=parts, divided=divided)
        return self._validity.holds(search.columns, search.partitions, refined, split)

    def _holds(self, groups: Numbers, demand: Demand) -> bool:
        return self._run(hold_together(self._ready, groups, demand))


def _under(column: Column, value: int) -> Numbers:
    """The values of a column, by code, that a label of its current cut stands for."""
    return np.flatnonzero(column.of_code == value)


# Two parties' rows as one source: counts are opened only where the release tells them anyway.
#
# A label that is taken divides groups whose counts follow from the released rows. One that is refused would show finer
# ones: whether it is refused is found by a circuit, and its counts are never told.


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
        return TwoPartyCandidates(self, search)


class TwoPartyCuts(SummedCuts):
    """A walk whose columns are not counted beforehand."""

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Nothing: how often each value occurs is nobody's business."""
        return np.zeros((groups.count if groups else division.count, division.children, self._figures), np.int64)

    def own(self, division: Division) -> Divided:
        """This party's own counts of every pair, also of those without any."""
        counts = np.asarray(self._own.refine(division).dense(), np.int64).reshape(-1, self._figures)
        keys = np.arange(len(counts), dtype=np.int64)
        return Divided(
            division=division, owner=keys // division.children, child=keys % division.children, counts=counts
        )
