"""Single rows over public domains: a local source of counts that can also give rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.ground.brief import Brief
from sfumato.group.cell_cuts import CellCuts
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import ROWS, Figure
from sfumato.group.keys import Ids, distinct, representatives, total
from sfumato.group.needs import Need
from sfumato.group.tally import Counts

_SEEN = 2**14
"""So many rows tell whether there are enough equal ones for it to be worth while to count them together."""
_ENOUGH = 0.95


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CodedRows(Brief):
    """The value of every row in every column, and in the columns that are counted. Equal rows are counted together."""

    columns: tuple[CodedColumn, ...]
    """The columns by which leaf partitions are divided."""
    counted: Mapping[str, Codes]
    """The code of every row in the columns whose values are counted; at least one."""
    times: Counts | None = None
    """How often each row is there, where equal ones were counted together before; None: once."""

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers, and rows where these were not counted together."""
        return frozenset({"integers", "rows"} if self.times is None else {"integers"})

    @property
    def rows(self) -> int:
        """How many rows there are, equal ones that were counted together as one."""
        return len(next(iter(self.counted.values())))

    def take(self, rows: Ids) -> CodedRows:
        """Some of the rows."""
        return CodedRows(
            columns=tuple(one.take(rows) for one in self.columns),
            counted={name: codes[rows] for name, codes in self.counted.items()},
            times=None if self.times is None else self.times[rows],
        )

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the distinct rows."""
        cell, columns = self.cells
        count = columns[0].records if columns else self.rows
        weights = np.empty((count, len(figures)), np.int32 if self.times is None else np.int64)
        for place, figure in enumerate(figures):
            held = self._held(figure)
            if self.times is not None:
                weights[:, place] = total(cell, np.where(held, self.times, 0), count)
                continue
            weights[:, place] = held if columns is self.columns else np.bincount(cell[held], minlength=count)
        return CellCuts(columns, weights)

    def _held(self, figure: Figure) -> NDArray[np.bool_]:
        """Which rows are counted."""
        held = np.full(self.rows, figure == ROWS)
        for code in figure[1]:
            held |= self.counted[figure[0]] == code
        return held

    @cached_property
    def cells(self) -> tuple[Ids, tuple[CodedColumn, ...]]:
        """The cell of every row, and the columns of the cells; every row is one where hardly any two are equal."""
        if not self.columns or any(one.starts is not None for one in self.columns) or not self._repeats():
            return np.arange(self.rows), self.columns
        cell, count = self._distinct(slice(None))
        place = representatives(cell, count)
        return cell, tuple(one.take(place) for one in self.columns)

    def _repeats(self) -> bool:
        """Whether some rows, taken from all over the table, have equal ones among them."""
        some = slice(None, None, max(self.rows // _SEEN, 1))
        ids, count = self._distinct(some)
        return count < _ENOUGH * len(ids)

    def _distinct(self, some: slice) -> tuple[Ids, int]:
        codes = [one.codes[some] for one in self.columns]
        return distinct(codes, [one.size for one in self.columns], len(codes[0]))
