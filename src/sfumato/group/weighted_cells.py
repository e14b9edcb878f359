"""Local sources of counts under a cut: the cells of a table, and cells with weights of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.ground.errors import ParameterError
from sfumato.group.cell_cuts import CellCuts
from sfumato.group.classes import Classes
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import ROWS, Figure, Numbers
from sfumato.group.needs import Need


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCells:
    """The cells of a table: whole numbers, and a search may look at the cells themselves."""

    gives: ClassVar[frozenset[Need]] = frozenset({"integers", "joint"})
    """Everything but single rows."""

    cells: Classes
    """The distinct combinations, with sizes and histograms."""

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the cells."""
        weights = np.empty((self.cells.count, len(figures)), np.int64)
        for place, figure in enumerate(figures):
            weights[:, place] = self._weights(figure)
        labels = zip(self.cells.keys, self.cells.labels, strict=True)
        return CellCuts([CodedColumn(codes=codes, size=len(names)) for codes, names in labels], weights)

    def _weights(self, figure: Figure) -> Numbers:
        """How many rows of each cell are counted."""
        if figure == ROWS:
            return self.cells.sizes
        tally = self.cells.tally(figure[0])
        held = np.isin(tally.codes, figure[1])
        return np.bincount(tally.owners[held], weights=tally.counts[held], minlength=self.cells.count)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedCells:
    """Cells with weights: whole numbers, or real ones as estimated distributions have them."""

    columns: tuple[CodedColumn, ...]
    """The value of every cell in every column, or its set of values."""
    weights: Mapping[Figure, Numbers]
    """How much each cell counts: ``ROWS``, and the single values of counted columns."""

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers, if all weights are."""
        whole = all(np.issubdtype(one.dtype, np.integer) for one in self.weights.values())
        return frozenset({"integers"} if whole else ())

    def root(self, figures: Sequence[Figure]) -> CellCuts:
        """A walk over the cells."""
        return CellCuts(self.columns, np.stack([self._weights(one) for one in figures], axis=1))

    def _weights(self, figure: Figure) -> Numbers:
        if figure == ROWS:
            return self.weights[ROWS]
        column, codes = figure
        for code in codes:
            if (column, (code,)) not in self.weights:
                raise ParameterError(f"weights must have value {code} of {column!r}; they do not")
        return np.asarray(sum(self.weights[column, (code,)] for code in codes))
