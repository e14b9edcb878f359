"""The table in memory as a source of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import TEXTS, Codes, Column, Kind, Table
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.brief import Brief
from sfumato.group.cell_source import CellMapping, MappedRows
from sfumato.group.cells import Cells, cells
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct
from sfumato.group.needs import Need


@dataclass(slots=True, eq=False, repr=False)
class LocalTable(Brief):
    """Rows of a table, encoded once; it alone knows which cell a row is in."""

    table: Table
    """The rows."""
    gives: frozenset[Need] = frozenset(("joint", "integers", "rows", "people"))
    """Everything: single rows are at hand."""
    _columns: dict[str, Column] = field(default_factory=dict)
    _cells: dict[tuple[str, ...], Cells] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """What messages call it."""
        return self.table.source

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return self.table.names

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.table.rows

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that mean a missing value."""
        return self.table.missing

    def dtype(self, name: str) -> pl.DataType:
        """The type of a column's cells."""
        return self.table.require(name).dtype

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """An encoded column; without a kind, as it was asked for before."""
        found = self._columns.get(name)
        if found is None or (kind is not None and kind != found.kind):
            found = self._columns[name] = self.table.column(name, kind)
        return found

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The values of a column with their counts."""
        return ObservedDomain.of(self.column(name, kind))

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""
        absent = np.zeros(self.rows, np.bool_)
        for name in names:
            absent |= self.table.is_missing(name).to_numpy()
        return type(self)(replace(self.table, frame=self.table.frame.filter(~pl.Series(absent))))

    def coarser(self, labels: Mapping[str, Mapping[str, str]]) -> Self:
        """The same rows with a label in place of each value of some columns."""
        shown = [self.column(name).relabelled(label) for name, label in labels.items()]
        return type(self)(replace(self.table, frame=self.table.frame.with_columns(shown)))

    def coded(self, domain: ObservedDomain) -> Column:
        """A column by the codes of a domain, which may have more values than the column."""
        own = self.column(domain.column, domain.kind)
        values = domain.labels
        if own.values == values:
            return own
        place = {value: code for code, value in enumerate(domain.values)}
        moved = np.array([place[value] for value in own.present] + [len(domain.values)] * (own.missing is not None))
        missing = None if domain.missing is None else len(domain.values)
        return replace(own, codes=moved.astype(np.int32)[own.codes], values=values, missing=missing)

    def cells(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """The cells of some columns with tallies of others, and with whose rows they are."""
        found = cells(
            [self.coded(one) for one in quasi], [self.coded(one) for one in counted], unit=self._persons(unit)
        )
        self._cells[found.classes.quasi] = found
        return found.classes

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """One cell per row."""
        columns = {one.column: self.coded(one) for one in counted}
        whole = cells([self.coded(one) for one in quasi], list(columns.values()), unit=self._persons(unit))
        return whole.singly(columns, self._persons(unit)).classes

    def _persons(self, unit: str | None) -> Column | None:
        return None if unit is None else self.column(unit, "text")

    def row_cells(self, quasi: tuple[str, ...], *, singly: bool = False) -> NDArray[np.int64]:
        """The cell of each row."""
        return np.arange(self.rows, dtype=np.int64) if singly else self._cells[quasi].row_cell

    def codes(self, name: str) -> Codes:
        """The code of each row in a column, for studies of single rows."""
        return self.column(name).codes

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        """Every row under a mapping, in the order of the table."""
        of_row = self._placed(mapping)
        columns = []
        for place, name in enumerate(mapping.cells.quasi):
            original = self.table.frame[name]
            if name in mapping.unchanged and original.dtype not in TEXTS:
                columns.append(original)
                continue
            labels = pl.Series(name, list(mapping.labels[place]), dtype=pl.String)
            packed = labels.cast(pl.Categorical) if original.dtype == pl.Categorical else labels
            columns.append(packed.gather(mapping.shown[place][of_row]))
        frame = pl.DataFrame([*columns, *(self.table.frame[name] for name in beside)])
        return MappedRows(frame=frame, suppressed=mapping.suppressed[of_row])

    def _placed(self, mapping: CellMapping) -> NDArray[np.int64]:
        """The cell of each row by the numbers of a mapping, which may have been made for more rows than these."""
        whole, of_row = mapping.cells, self.row_cells(mapping.cells.quasi, singly=mapping.singly)
        if mapping.singly:
            return of_row
        own = self._cells[whole.quasi].classes
        if np.array_equal(own.keys, whole.keys):
            return of_row
        joint = np.concatenate([whole.keys, own.keys], axis=1)
        ids, count = distinct(list(joint), [len(names) for names in whole.labels], joint.shape[1])
        place = np.full(count, -1, np.int64)
        place[ids[: whole.count]] = np.arange(whole.count)
        found: NDArray[np.int64] = place[ids[whole.count :]][of_row]
        return found

    def _texts(self, name: str) -> pl.Series:
        """The texts of a column, encoded where its cells are."""
        column, packed = self.column(name), self.table.frame[name].dtype == pl.Categorical
        return column.encoded if packed else column.texts

    def texts(self, names: Sequence[str], shown: CellMapping | None = None) -> pl.DataFrame:
        """Some columns, every cell as text; with a mapping, only the rows that it does not suppress."""
        found = pl.DataFrame([self._texts(name) for name in names])
        return found if shown is None else found.filter(~pl.Series(shown.suppressed[self._placed(shown)]))
