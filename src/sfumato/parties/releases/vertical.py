"""Vertically partitioned tables as one source of counts, and the joint choice of the next label."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.algorithms.top_down.columns import GrownColumn, Split
from sfumato.algorithms.top_down.partitions import Candidates
from sfumato.algorithms.top_down.specializer import Search
from sfumato.core.errors import SessionError
from sfumato.counts.keys import Ids
from sfumato.counts.local_cuts import CellCuts, CodedColumn
from sfumato.counts.sources import ROWS, Division, Figure, Groups, Need, Numbers
from sfumato.parties.conversation import Conversation, Exchange, Seat, Talk
from sfumato.parties.gmw import ready_to_share
from sfumato.parties.secure_maximum import joint_maximum_of_values
from sfumato.tables.table import Codes

# The next label of a vertical release: every party's best, the best of these without showing scores, an instruction.
#
# Claim: the labels are taken in the same order as from one table. A label that is refused is refused by its owner
# alone, who knows all partitions; nobody else hears of it. What is refused now would be refused later too.
#
# Source: document 003, algorithm 5.1, with the secure maximum in place of telling scores.


HEAD = struct.Struct("<?qqdd")
_PLACES = 16
"""Binary digits for the place of a column: of equal scores the first column's wins."""
_WIDTH = 64 + _PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """A label that may be taken."""

    place: int
    """Its column."""
    value: int
    """Its number."""
    split: Split
    """What replaces it."""
    score: float
    """Its score."""

    @property
    def number(self) -> int:
        """A whole number that stands in the order of candidates: by score, then by column; none is 0.

        A score may be a little below nothing by rounding; -0.0 has another pattern of bits than 0.0.
        """
        bits = int(np.float64(max(0.0, round(self.score, 12)) + 0.0).view(np.uint64))
        return (bits << _PLACES | (1 << _PLACES) - 1 - self.place) + 1


class VerticalCandidates(Candidates):
    """This party's labels, and whatever label all parties take next."""

    def __init__(self, source: VerticalSource, search: Search) -> None:
        """The roots of own columns."""
        self._source, self._search = source, search
        self._next: Best | None = None
        super().__init__(search.columns, search.score, float(search.partitions.rows[0]))

    @property
    def left(self) -> bool:
        """Whether any party has a label that may be taken; found out together."""
        if self._next is None:
            self._next = self._agreed()
        return self._next is not None

    def add(self, place: int, values: list[int]) -> None:  # type: ignore[override]
        """Put in labels, where the column is this party's."""
        if self._source.is_own(place):
            super().add(place, values)

    def pop(self) -> tuple[int, int]:
        """The label that all take."""
        if self._next is None:
            raise SessionError("no label was agreed on")
        return self._next.place, self._next.value

    def split(self, place: int, value: int) -> Split:
        """What replaces it, as its owner says."""
        if self._next is None or (self._next.place, self._next.value) != (place, value):
            raise SessionError("another label was agreed on")
        split, self._next = self._next.split, None
        return split

    def worth(self, place: int, value: int) -> float:
        """The score of a label; of the one that all take, what its owner says: it follows from the released rows."""
        if self._next is not None and (self._next.place, self._next.value) == (place, value):
            return self._next.score
        return super().worth(place, value)

    def _agreed(self) -> Best | None:
        """The best of all parties' labels, told by its owner; None where nobody has any."""
        seat, run = self._source.conversation.seat, self._source.conversation.run
        mine = self._valid()
        number = 0 if mine is None else mine.number
        winner = run(joint_maximum_of_values(self._source.sharing, [number], [1] * seat.count, bits=_WIDTH)).index
        if winner == seat.me:
            if mine is not None:
                super().pop()
            run(self._instructing(seat, mine))
            return mine
        best: Best | None = run(self._instructed(seat, winner))
        return best

    def _valid(self) -> Best | None:
        """This party's best label that models allow; those before it are dropped for good."""
        search = self._search
        while self._heap:
            place, value = super().pop()
            column, worth = search.columns[place], super().worth(place, value)
            split = column.split(value)
            refined = search.partitions.refine(place, value, split.child_of, len(split.values))
            if search.validity.holds(search.columns, search.partitions, refined, split):
                super().add(place, [value])
                return Best(place=place, value=value, split=split, score=worth)
            if search.retry and column.retry(value):
                super().add(place, [value])
        return None

    def _instructing(self, seat: Seat, mine: Best | None) -> Talk[None]:
        """Tell everybody which label is taken, and which of the common people, by number, go to which label below."""
        head = HEAD.pack(False, 0, 0, 0.0, 0.0)
        if mine is not None:
            head = HEAD.pack(True, mine.place, mine.value, mine.split.edge, mine.score)
        yield Exchange(label="instruction/head", send=dict.fromkeys(seat.others, head))
        if mine is None:
            return
        rows, kind = self._rows(mine.place, mine.value), _kind(len(mine.split.values))
        codes = self._source.columns[mine.place].codes[rows]
        content = mine.split.child_of[codes].astype(kind).tobytes()
        yield Exchange(label="instruction/rows", send=dict.fromkeys(seat.others, content))

    def _instructed(self, seat: Seat, winner: int) -> Talk[Best | None]:
        """What the owner tells; rows that the label does not have, and children that it has not, are refused."""
        came = yield Exchange(label="instruction/head", expect={winner: HEAD.size})
        there, place, value, edge, score = HEAD.unpack(came[winner])
        if not there:
            return None
        self._refuse_strange(winner, place, value)
        column = self._search.columns[place]
        grown = isinstance(column, GrownColumn)
        split = column.split_at(value, edge) if isinstance(column, GrownColumn) else column.split(value)
        under = np.flatnonzero(column.of_code == value)
        if grown and not 0 < int(split.child_of[under].sum()) < len(under):
            raise SessionError(f"party {winner} splits an interval outside of it")
        rows, kind = self._rows(place, value), _kind(len(split.values))
        came = yield Exchange(label="instruction/rows", expect={winner: len(rows) * kind.itemsize})
        children = np.frombuffer(came[winner], kind).astype(np.int64)
        first = np.full(len(split.values), -1, np.int32)
        first[split.child_of[under[::-1]]] = under[::-1]
        if (children >= len(first)).any() or (first[children] < 0).any():
            raise SessionError(f"party {winner} sends rows to a label that is not there")
        self._source.place(place, rows, first[children])
        return Best(place=place, value=value, split=split, score=score)

    def _rows(self, place: int, value: int) -> Ids:
        """The common people whose label it is: the same at every party."""
        codes = self._source.columns[place].codes
        return np.asarray(np.flatnonzero(self._search.columns[place].of_code[codes] == value))

    def _refuse_strange(self, winner: int, place: int, value: int) -> None:
        """Refuse an instruction about a column that is not the sender's, or a label that is not in the cut."""
        columns = self._search.columns
        if not 0 <= place < len(columns) or self._source.owners[place] != winner:
            raise SessionError(f"party {winner} gives an instruction about a column that it does not hold")
        if value not in columns[place].of_code or value < 0:
            raise SessionError(f"party {winner} gives an instruction about a label that is not there")


def _kind(children: int) -> np.dtype[Any]:
    return np.dtype("<u1" if children <= 256 else "<u4")


# The common people of parties with different columns, as a source of counts: document 003, algorithm 5.1.
#
# Every party follows all common people through the leaf partitions. Of its own columns it has the values. Of the
# others' it has stand-ins: some declared value under the label that the person's value has by now; an instruction of
# the owner replaces it when the label is specialized.


class VerticalSource:
    """Rows whose columns are held by several parties; what is counted beside them, everybody knows."""

    gives: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole numbers."""

    def __init__(
        self,
        conversation: Conversation,
        owners: Sequence[int],
        own: Mapping[int, Codes],
        sizes: Sequence[int],
        counted: Mapping[str, Codes],
        rows: int,
    ) -> None:
        """``owners`` says whose each column is; ``own`` has the codes of this party's, by place."""
        self.conversation, self.owners, self._counted, self._rows = conversation, owners, counted, rows
        codes = [own[place].copy() if place in own else np.zeros(rows, np.int32) for place in range(len(owners))]
        self.columns = [
            CodedColumn(codes=column_codes, size=size) for column_codes, size in zip(codes, sizes, strict=True)
        ]
        self.sharing = conversation.run(ready_to_share(conversation.seat))

    def is_own(self, place: int) -> bool:
        """Whether this party has the values of a column."""
        return self.owners[place] == self.conversation.seat.me

    def root(self, figures: Sequence[Figure]) -> VerticalCuts:
        """A walk over all common people."""
        weights = np.zeros((self._rows, len(figures)), np.int64)
        for place, (name, values) in enumerate(figures):
            weights[:, place] = 1 if (name, values) == ROWS else np.isin(self._counted[name], values)
        return VerticalCuts(self, weights)

    def candidates(self, search: Search) -> VerticalCandidates:
        """Every party has candidates of its own columns; the best of all is found without showing any score."""
        return VerticalCandidates(self, search)

    def place(self, column: int, rows: Ids, codes: Codes) -> None:
        """New stand-ins of some rows in another party's column."""
        self.columns[column].codes[rows] = codes


class VerticalCuts(CellCuts):
    """A walk that counts the values of own columns only."""

    def __init__(self, source: VerticalSource, weights: Numbers) -> None:
        """At the root."""
        super().__init__(source.columns, weights)
        self._source = source

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures; nothing of another party's column."""
        counts = super().histogram(division, groups)
        return counts if self._source.is_own(division.column) else np.zeros_like(counts)
