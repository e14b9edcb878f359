"""Records as a source of counts under a cut: what learners that stand on counts ask."""

from __future__ import annotations

import numpy as np

from sfumato.describe.domains import Numbers
from sfumato.ground.errors import DataError
from sfumato.group.coded_column import CodedColumn
from sfumato.group.cut_counts import ROWS, Figure
from sfumato.group.cut_counts import Numbers as Counted
from sfumato.group.weighted_cells import WeightedCells
from sfumato.mine.edge_labels import grid_cells
from sfumato.mine.node_rows import cells_of
from sfumato.mine.records import Records


def record_cuts(records: Records) -> WeightedCells:
    """Every attribute as a column, numbers by the cell of their grid; each class of the target is a figure."""
    columns = []
    for one, column in zip(records.attributes, records.columns, strict=True):
        size = cells_of(one)
        codes = grid_cells(one.domain, column) if isinstance(one.domain, Numbers) else column
        if not bool(((codes >= 0) & (codes < size)).all()):
            raise DataError(f"column {one.name!r}: some records have values outside the declared domain")
        columns.append(CodedColumn(codes=codes.astype(np.int32), size=size))
    if (records.codes < 0).any():
        raise DataError(f"column {records.target!r}: some records have no declared class")
    weights: dict[Figure, Counted] = {ROWS: np.ones(records.count, np.int64)}
    for code in range(len(records.classes)):
        weights[records.target, (code,)] = (records.codes == code).astype(np.int64)
    return WeightedCells(columns=tuple(columns), weights=weights)
