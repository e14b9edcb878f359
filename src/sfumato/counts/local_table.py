"""The table in memory as a source of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes, People, told_apart
from sfumato.counts.keys import Ids, distinct, representatives
from sfumato.counts.sources import CellMapping, MappedRows, Need
from sfumato.counts.tally import tally_rows
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import TEXTS, Codes, Column, Kind, Table

# From encoded rows to cells: the finest classes, and which cell each row is in.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Cells(Brief):
    """The distinct quasi-identifier tuples of a table and each row's place among them."""

    classes: Classes
    """The cells, with counts and histograms."""
    row_cell: Ids
    """The cell of each row."""

    def singly(self, counted: Mapping[str, Column], unit: Column | None = None) -> Cells:
        """The same table with one cell per row, for algorithms that tell rows with equal quasi-identifiers apart."""
        rows = len(self.row_cell)
        ids = np.arange(rows, dtype=np.int64)
        tallies = {
            name: replace(
                tally,
                owners=ids,
                codes=counted[name].codes,
                counts=np.ones(rows, np.int64),
                classes=rows,
            )
            for name, tally in self.classes.tallies.items()
        }
        row_classes = replace(
            self.classes,
            keys=self.classes.keys[:, self.row_cell],
            sizes=np.ones(rows, np.int64),
            tallies=tallies,
            measures={name: (w / self.classes.sizes)[self.row_cell] for name, w in self.classes.measures.items()},
            people=None if unit is None else _people(unit, ids, list(counted.values())),
        )
        return Cells(classes=row_classes, row_cell=ids)


def cells(
    quasi: Sequence[Column], counted: Sequence[Column] = (), *, stars: str | None = None, unit: Column | None = None
) -> Cells:
    """Group rows by their quasi-identifiers and count the other columns in each group.

    With ``stars``, cells that read so (suppressed ones) count as unknown values, like missing ones. With a ``unit``,
    the groups know whose rows they hold.
    Cost: one pass per column and one grouping of a single integer key.
    """
    rows = len(quasi[0].codes) if quasi else len(counted[0].codes) if counted else 0
    ids, count = distinct([c.codes for c in quasi], [len(c.values) for c in quasi], rows)
    if not quasi:
        ids, count = np.zeros(rows, np.int64), min(rows, 1)
    place = representatives(ids, count)
    tallies = {
        c.name: tally_rows(
            c.name,
            c.values,
            c.codes,
            ids,
            count,
            missing=c.missing,
            numbers=None if c.kind in ("text", "category") else c.numbers,
        )
        for c in counted
    }
    grouped = Classes(
        quasi=tuple(c.name for c in quasi),
        keys=np.array([c.codes[place] for c in quasi], np.int32).reshape(len(quasi), count),
        labels=tuple(c.values for c in quasi),
        sizes=np.bincount(ids, minlength=count).astype(np.int64),
        tallies=tallies,
        wild=tuple(_unknown(c, stars) for c in quasi),
        people=None if unit is None else _people(unit, ids, counted),
    )
    return Cells(classes=grouped, row_cell=ids)


def _people(unit: Column, owners: Ids, counted: Sequence[Column]) -> People:
    """Whose rows each group holds."""
    persons, count = told_apart(unit)
    return People.of_rows(unit.name, owners, persons, count, {column.name: column.codes for column in counted})


def _unknown(column: Column, stars: str | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(
        [code == column.missing or (stars is not None and text == stars) for code, text in enumerate(column.values)],
        np.bool_,
    ).reshape(len(column.values))


# The table in memory as a source of cells.


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
        column = self._columns.get(name)
        if column is None or (kind is not None and kind != column.kind):
            column = self._columns[name] = self.table.column(name, kind)
        return column

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
        columns = [self.column(name).relabelled(label) for name, label in labels.items()]
        return type(self)(replace(self.table, frame=self.table.frame.with_columns(columns)))

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
        result = cells(
            [self.coded(domain) for domain in quasi],
            [self.coded(domain) for domain in counted],
            unit=self._persons(unit),
        )
        self._cells[result.classes.quasi] = result
        return result.classes

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """One cell per row."""
        columns = {domain.column: self.coded(domain) for domain in counted}
        whole = cells([self.coded(domain) for domain in quasi], list(columns.values()), unit=self._persons(unit))
        return whole.singly(columns, self._persons(unit)).classes

    def _persons(self, unit: str | None) -> Column | None:
        return None if unit is None else self.column(unit, "text")

    def row_cells(self, quasi: tuple[str, ...], *, singly: bool = False) -> NDArray[np.int64]:
        """The cell of each row."""
        return np.arange(self.rows, dtype=np.int64) if singly else self._cells[quasi].row_cell

    def codes(self, name: str) -> Codes:
        """The code of each row in a column, for studies of single rows."""
        return self.column(name).codes

    def apply(self, mapping: CellMapping, other_columns: Sequence[str] = ()) -> MappedRows:
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
        frame = pl.DataFrame([*columns, *(self.table.frame[name] for name in other_columns)])
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
        cell_of_row: NDArray[np.int64] = place[ids[whole.count :]][of_row]
        return cell_of_row

    def _texts(self, name: str) -> pl.Series:
        """The texts of a column, encoded where its cells are."""
        column, packed = self.column(name), self.table.frame[name].dtype == pl.Categorical
        return column.encoded if packed else column.texts

    def texts(self, names: Sequence[str], mapping: CellMapping | None = None) -> pl.DataFrame:
        """Some columns, every cell as text; with a mapping, only the rows that it does not suppress."""
        texts = pl.DataFrame([self._texts(name) for name in names])
        return texts if mapping is None else texts.filter(~pl.Series(mapping.suppressed[self._placed(mapping)]))
