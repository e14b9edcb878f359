"""The common people of parties with different columns, as a source of counts: document 003, algorithm 5.1.

Every party follows all common people through the leaf partitions. Of its own columns it has the values. Of the others'
it has stand-ins: some declared value under the label that the person's value has by now; an instruction of the owner
replaces it when the label is specialized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.primitives.shared_circuit import ready_to_share
from sfumato.collaborate.releases.vertical_candidates import VerticalCandidates
from sfumato.data.table import Codes
from sfumato.group.cell_cuts import CellCuts
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import ROWS, Division, Figure, Groups, Numbers
from sfumato.group.keys import Ids
from sfumato.group.needs import Need
from sfumato.publish.top_down.top_down_search import Search


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
        self.columns = [CodedColumn(codes=one, size=size) for one, size in zip(codes, sizes, strict=True)]
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

    def histogram(self, asked: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures; nothing of another party's column."""
        found = super().histogram(asked, groups)
        return found if self._source.is_own(asked.column) else np.zeros_like(found)
