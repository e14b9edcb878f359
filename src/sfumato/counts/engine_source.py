"""A table in an SQL engine as a source of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.core.errors import DataError, PlanError, listed, unknown_column
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, total
from sfumato.counts.sources import CellMapping, MappedRows, Need
from sfumato.counts.tally import Counts, Tally
from sfumato.tables.engines import statements as sql
from sfumato.tables.engines.statements import BATCH, Engine
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import TEXTS, Codes, Column, Kind, Table, checked_names

# The refusal of more combinations than memory holds: how many there are, which columns make them, what would help.


def refuse_many(engine: Engine, rows: exp.Query, names: Sequence[str], most: int, source: str) -> NoReturn:
    """Say how many combinations of some columns there are, and how many each column is responsible for."""

    def many(some: Sequence[str]) -> int:
        return int(engine.ask(sql.combinations(rows, some))["n"][0])

    if len(names) == 1:
        raise DataError(
            f"{source}, column {names[0]!r}: {many(names):,} different values; at most {most:,} are counted: round or "
            "cut them in the table or in input.query, or drop the column"
        )
    fewer = sorted((many([n for n in names if n != name]), name) for name in names)
    breakdown = ", ".join(f"{rest:,} without {name!r}" for rest, name in fewer[:3])
    raise DataError(
        f"{source}: {many(names):,} combinations of {listed(names)}; at most {most:,} are counted, and there would be "
        f"{breakdown}. Let the count begin at a coarser level of such a column's hierarchy (base = 1 in "
        f"[columns.{fewer[0][1]}]), round or cut it in the table or in input.query, or drop it"
    )


# Recoded rows as an engine gives them: all at once, or in files that are read batch by batch.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecodedRows(Brief):
    """A question for the rows under a mapping, and how its answer is read.

    The last two columns of the answer say whether a row is suppressed, and which cell it is in.
    """

    statement: exp.Select
    """The question."""
    types: Mapping[str, pl.DataType]
    """The columns of the rows, in order, with the types of their cells."""

    def read(self, answer: pl.DataFrame) -> MappedRows:
        """The rows of an answer."""
        rows = [self._cells(answer[f"c{n}"], name, dtype) for n, (name, dtype) in enumerate(self.types.items())]
        return MappedRows(frame=pl.DataFrame(rows), suppressed=answer[f"c{len(self.types)}"].to_numpy())

    def cells(self, answer: pl.DataFrame, count: int) -> Counts:
        """How many rows of an answer are in each of so many cells."""
        cell_of_row = answer[f"c{len(self.types) + 1}"].to_numpy()
        return np.bincount(cell_of_row, minlength=count).astype(np.int64)

    @staticmethod
    def _cells(cells: pl.Series, name: str, dtype: pl.DataType) -> pl.Series:
        if cells.dtype.is_float() and not dtype.is_float():
            raise DataError(
                f"column {name!r}: cells of type {dtype} lose digits in a Parquet file; turn them into another type in "
                "the table or in input.query"
            )
        return cells.cast(dtype).alias(name)


def batches(folder: Path, most: int = BATCH) -> Iterator[pl.DataFrame]:
    """The rows of all Parquet files of a folder, some at a time."""
    for file in sorted(folder.rglob("*.parquet")):
        rows = pl.scan_parquet(file, glob=False, hive_partitioning=False)
        height = rows.select(pl.len()).collect().item()
        for begin in range(0, height, most):
            yield rows.slice(begin, most).collect()


def refuse_changed(counts: Counts, mapping: CellMapping, rows: int, source: str) -> None:
    """Refuse rows that are not those that were counted; ``counts`` are those of each cell now."""
    many, whole = int(counts.sum()), int(mapping.cells.sizes.sum()) == rows
    if many != rows or (whole and not np.array_equal(counts, mapping.cells.sizes)):
        raise DataError(
            f"{source} changed while it was read: {rows:,} rows were counted, and {many:,} of them are there now in "
            "the same cells; release a table that nobody writes to, or a copy"
        )


# From the answers of an engine to cells, and from a mapping of cells to the table that is lent for it.


def placed(own: Column, values: Sequence[str]) -> Codes:
    """For each code of a column, its place among the values of a wider domain; a missing one comes after them.

    A value that is not among them has the place -1.
    """
    place = {value: code for code, value in enumerate(values)}
    codes = [place.get(value, -1) for value in own.present]
    return np.array([*codes, *[len(values)] * (own.missing is not None)], np.int32)


def cells_of(
    answer: pl.DataFrame, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain], codes: Sequence[Codes]
) -> Classes:
    """The cells of an answer to ``statements.groups``; equal ones are added, as two texts can mean no value."""
    keys = np.array(codes[: len(quasi)], np.int32).reshape(len(quasi), answer.height)
    rows = answer["n"].cast(pl.Int64).to_numpy()
    ids, count = distinct(list(keys), [len(domain.labels) for domain in quasi], answer.height)
    whole = np.empty((len(quasi), count), np.int32)
    whole[:, ids] = keys
    about = [_about(answer, place, len(counted)) for place in range(len(counted))]
    first = about[0] if about else np.ones(answer.height, np.bool_)
    tallies = {
        domain.column: _tally(domain, ids[mine], codes[len(quasi) + place][mine], rows[mine], count)
        for place, (domain, mine) in enumerate(zip(counted, about, strict=True))
    }
    return Classes(
        quasi=tuple(domain.column for domain in quasi),
        keys=whole,
        labels=tuple(domain.labels for domain in quasi),
        sizes=total(ids[first], rows[first], count),
        tallies=tallies,
        wild=tuple(_unknown(domain) for domain in quasi),
    )


def _about(answer: pl.DataFrame, place: int, many: int) -> NDArray[np.bool_]:
    """Which rows of an answer are about one of the columns beside the keys."""
    if many < 2:
        return np.ones(answer.height, np.bool_)
    return (answer[f"g{place}"] == 0).to_numpy()


def _tally(domain: ObservedDomain, owners: Ids, codes: Codes, rows: Counts, classes: int) -> Tally:
    order = np.lexsort((codes, owners))
    numbers = domain.numbers if domain.missing is None or domain.numbers is None else np.append(domain.numbers, np.nan)
    tally = Tally(
        column=domain.column,
        values=domain.labels,
        owners=owners[order],
        codes=codes[order],
        counts=rows[order],
        classes=classes,
        missing=None if domain.missing is None else len(domain.values),
        numbers=None if domain.kind in ("text", "category") else numbers,
    )
    return tally.merged(np.arange(classes), classes)


def _unknown(domain: ObservedDomain) -> NDArray[np.bool_]:
    return np.asarray(np.arange(len(domain.labels)) == (-1 if domain.missing is None else len(domain.values)))


def cell_table(mapping: CellMapping) -> pl.DataFrame:
    """The cells of a mapping: codes ``k0`` ..., what they read ``s0`` ..., whether they are hidden, their number."""
    columns = []
    for place in range(len(mapping.cells.quasi)):
        labels = pl.Series(list(mapping.labels[place]), dtype=pl.String)
        columns.append(pl.Series(f"k{place}", mapping.cells.keys[place]))
        columns.append(labels.gather(mapping.shown[place]).alias(f"s{place}"))
    hidden = pl.Series("hidden", mapping.suppressed)
    return pl.DataFrame([*columns, hidden, pl.Series("cell", np.arange(mapping.cells.count, dtype=np.int64))])


# A table in an engine as a source of cells: it counts and recodes where it is; domains, cells and rows come back.


MOST = 5_000_000
"""The most different combinations, each with its count, that are taken out of an engine."""

_TIMES = "\0times"
_BOOKS = count()
"""Lent tables of labels stay; each has a number of its own."""


@dataclass(eq=False, repr=False)
class EngineSource(Brief):
    """Rows in an engine. Nothing but values with counts, cells with counts, and recoded rows ever leaves it."""

    engine: Engine
    """Where the rows are."""
    base: exp.Query
    """The rows, as an expression that every statement is about."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value; the first one stands for it in a release."""
    source: str = "the table"
    """What messages call it."""
    most: int = MOST
    """The most cells that are counted."""
    note: str = ""
    """What a steward should know about how the rows are read."""
    gives: frozenset[Need] = frozenset(("joint", "integers"))
    """Whole counts of all columns together; no single rows, and not whose rows they are."""
    _values: dict[str, tuple[pl.Series, Counts]] = field(default_factory=dict)
    _groups: dict[tuple[tuple[str, ...], tuple[str, ...]], pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def reading(
        cls, engine: Engine, base: exp.Query, *, names: Sequence[str] = (), trim: bool = False, **options: Any
    ) -> EngineSource:
        """The rows as a plan reads a table: texts as texts, a number that is none as missing, zero without a sign."""
        head = engine.ask(sql.head(base))
        where = str(options.get("source", "the table"))
        if names and len(names) != head.width:
            raise DataError(f"{where}: names given: {len(names)}, columns: {head.width}; give one name per column")
        called = checked_names(list(names) or [n.strip() if trim else n for n in head.columns], where=where)
        kinds = {name: _read_as(dtype) for name, dtype in head.schema.items()}
        return cls(engine=engine, base=sql.as_read(base, kinds, called, trim=trim), **options)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """No rows: only names and types."""
        return self.engine.ask(sql.head(self.base))

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return tuple(self.frame.columns)

    @cached_property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.engine.ask(sql.size(self.base))["n"][0])

    def dtype(self, name: str) -> pl.DataType:
        """The type of a column's cells."""
        if name not in self.names:
            raise unknown_column(name, self.names, where="columns")
        return self.frame.schema[name]

    def marked(self, columns: Sequence[str], markers: Sequence[str]) -> Self:
        """Where there are nulls and no marker is declared, with the first marker that is no value of the table."""
        if self.missing or not columns:
            return self
        marks_by_column = {name: tuple(markers) if self.dtype(name) in TEXTS else () for name in columns}
        counts = iter(self.engine.ask(sql.lacking(self.base, marks_by_column)).row(0))
        nulls, taken = 0, set()
        for marks in marks_by_column.values():
            nulls += int(next(counts))
            taken |= {mark for mark in marks if next(counts)}
        free = [mark for mark in markers if mark not in taken]
        if nulls and not free:
            raise DataError(
                f"{self.source} has nulls, and {', '.join(map(repr, markers))} are all values of it; declare in "
                "[input] missing how a missing value is to be written"
            )
        return replace(self, missing=(free[0],)) if nulls else self

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The values of a column with their counts; the kind is inferred when not declared."""
        values, rows = self.values(name)
        column = Table(frame=pl.DataFrame([values]), missing=self.missing, source=self.source).column(name, kind)
        domain = ObservedDomain.of(column)
        counts = total(column.codes.astype(np.int64), rows, len(column.values))
        absent = 0 if column.missing is None else int(counts[column.missing])
        return replace(domain, counts=counts[: len(domain.values)], absent=absent)

    def values(self, name: str) -> tuple[pl.Series, Counts]:
        """The different values of a column as they are, and the rows of each; asked for once."""
        if name not in self._values:
            dtype = self.dtype(name)
            rows = self._grouped([name], ())
            self._values[name] = rows["c0"].cast(dtype).alias(name), rows["n"].cast(pl.Int64).to_numpy()
        return self._values[name]

    def _grouped(self, keys: Sequence[str], other_columns: Sequence[str]) -> pl.DataFrame:
        """Rows per combination; too many of them are refused before they are taken out."""
        rows = self.engine.ask(sql.groups(self.base, keys, other_columns, self.most))
        if rows.height > self.most:
            refuse_many(self.engine, self.base, [*keys, *other_columns], self.most, self.source)
        return rows

    def counted(self, names: Sequence[str]) -> tuple[Table, Counts]:
        """Every different row of some columns once, sorted, and how often each is there."""
        groups = self._grouped(list(names), ())
        rows = [groups[f"c{place}"].cast(self.dtype(name)).alias(name) for place, name in enumerate(names)]
        whole = pl.DataFrame([*rows, groups["n"].cast(pl.Int64).alias(_TIMES)]).sort(*names, nulls_last=True)
        return Table(frame=whole.drop(_TIMES), source=self.source, missing=self.missing), whole[_TIMES].to_numpy()

    def some_values(self, name: str, most: int) -> tuple[pl.Series, Counts]:
        """At most so many different values of a column as they are, and the rows of each."""
        rows = self.engine.ask(sql.groups(self.base, [name], (), most))[:most]
        return rows["c0"].cast(self.dtype(name)).alias(name), rows["n"].cast(pl.Int64).to_numpy()

    def group_sizes(self, names: Sequence[str]) -> tuple[Counts, Counts]:
        """The sizes of the groups of rows that are alike in some columns, and how many groups have each."""
        rows = self.engine.ask(sql.sizes(self._unmarked(names), names)).sort("n")
        return rows["n"].cast(pl.Int64).to_numpy(), rows["m"].cast(pl.Int64).to_numpy()

    def _unmarked(self, names: Sequence[str]) -> exp.Select:
        return sql.unmarked(self.base, {name: self._marks(name) for name in names})

    def rare(self, name: str, marks: Sequence[str], k: int) -> int:
        """How many rows hold a value that fewer than k rows hold; ``marks`` are texts that are no values."""
        known = tuple(marks) if self.dtype(name) in TEXTS else ()
        return int(self.engine.ask(sql.rare(self.base, name, known, k))["n"][0] or 0)

    def unlike(self, name: str, letters: str, many: int) -> int:
        """How many rows have a value that is not so many of these letters."""
        return int(self.engine.ask(sql.unlike(self.base, name, self._marks(name), letters, many))["n"][0])

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""
        marks = {name: self._marks(name) for name in names}
        return replace(self, base=sql.complete(self.base, marks), _values={}, _groups={}) if marks else self

    def coarser(self, labels: Mapping[str, Mapping[str, str]]) -> Self:
        """The same rows with a label in place of each value of some columns, by joins with lent tables."""
        books = {name: f"b{next(_BOOKS)}" for name in labels}
        for name, label in labels.items():
            values, _ = self.values(name)
            own = Table(frame=pl.DataFrame([values.alias("v")]), missing=self.missing).column("v", "text")
            label_column = own.relabelled(label).alias("l")
            self.engine.lend(sql.lent(books[name]), pl.DataFrame([values.alias("v"), label_column]).drop_nulls())
        return replace(self, base=sql.coarser(self.base, self.names, books), _values={}, _groups={})

    def _marks(self, name: str) -> tuple[str, ...]:
        return self.missing if self.dtype(name) in TEXTS else ()

    def cells(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """The cells of some columns, by the codes of the given domains, with tallies of others; asked for once."""
        if unit is not None:
            raise PlanError(f"input.unit: {self.source} counts rows, and does not know whose they are")
        key = tuple(domain.column for domain in quasi), tuple(domain.column for domain in counted)
        if key not in self._groups:
            rows = self._grouped(*key)
            self._groups = {key: rows.filter(rows["n"] > 0)}
        return self._cells(self._groups[key], quasi, counted)

    def cells_within(self, quasi: Sequence[ObservedDomain], most: int) -> Classes | None:
        """The cells of some columns; None where there are more than so many."""
        names = [domain.column for domain in quasi]
        rows = self.engine.ask(sql.groups(self._unmarked(names), names, (), most))
        return None if rows.height > most else self._cells(rows, quasi, ())

    def _cells(self, rows: pl.DataFrame, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain]) -> Classes:
        codes = [self._coded(rows[f"c{n}"], domain) for n, domain in enumerate([*quasi, *counted])]
        return cells_of(rows, quasi, counted, codes)

    def _coded(self, cells: pl.Series, domain: ObservedDomain) -> Codes:
        """Values that came back, as codes of a domain."""
        known = pl.DataFrame([cells.cast(self.dtype(domain.column)).alias("v")])
        own = Table(frame=known, missing=self.missing, source=self.source).column("v", domain.kind)
        return placed(own, domain.values)[own.codes]

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """Refused: rows stay where they are."""
        raise DataError(f"{self.source}: single rows stay in {self.engine.name}, which only counts them")

    def apply(self, mapping: CellMapping, other_columns: Sequence[str] = ()) -> MappedRows:
        """Every row under a mapping, with other columns as they are; a table that changed since is refused."""
        recoded = self._recoded(mapping, other_columns)
        rows = self.engine.ask(recoded.statement)
        refuse_changed(recoded.cells(rows, mapping.cells.count), mapping, self.rows, self.source)
        return recoded.read(rows)

    def apply_in(self, folder: Path, mapping: CellMapping, other_columns: Sequence[str] = ()) -> Iterator[MappedRows]:
        """The same, some rows at a time, by way of files in an empty folder; the change is told after the last rows."""
        recoded = self._recoded(mapping, other_columns)
        self.engine.write(recoded.statement, folder)
        counts = np.zeros(mapping.cells.count, np.int64)
        for batch in batches(folder):
            counts += recoded.cells(batch, mapping.cells.count)
            yield recoded.read(batch)
        refuse_changed(counts, mapping, self.rows, self.source)

    def _recoded(self, mapping: CellMapping, other_columns: Sequence[str]) -> RecodedRows:
        """Ask for every row under a mapping, which is lent for that."""
        names = mapping.cells.quasi
        kept = [self._as_it_is(mapping, name) for name in names]
        label_cells = [
            sql.cell(name) if same else sql.cell(f"s{place}", sql.CELLS)
            for place, (name, same) in enumerate(zip(names, kept, strict=True))
        ]
        columns = [
            *label_cells,
            *map(sql.cell, other_columns),
            sql.cell("hidden", sql.CELLS),
            sql.cell("cell", sql.CELLS),
        ]
        types = {name: self.dtype(name) if same else pl.String() for name, same in zip(names, kept, strict=True)}
        types |= {name: self.dtype(name) for name in other_columns}
        return RecodedRows(statement=sql.recoded(self.base, self._lend(mapping), columns), types=types)

    def _as_it_is(self, mapping: CellMapping, name: str) -> bool:
        return name in mapping.unchanged and self.dtype(name) not in TEXTS

    def _lend(self, mapping: CellMapping) -> dict[str, int]:
        """Lend the dictionary of each column and the table of cells; each column has a code for no value."""
        codes = {}
        for place, name in enumerate(mapping.cells.quasi):
            book, codes[name] = self._dictionary(mapping, place)
            self.engine.lend(sql.lent(f"d{place}"), book)
        self.engine.lend(sql.lent(sql.CELLS), cell_table(mapping))
        return codes

    def _dictionary(self, mapping: CellMapping, place: int) -> tuple[pl.DataFrame, int]:
        """The values of a column, each with its code in a mapping; and the code of no value, -1 for none."""
        values, _ = self.values(mapping.cells.quasi[place])
        own = Table(frame=pl.DataFrame([values.alias("v")]), missing=self.missing).column("v", "text")
        labels, wild = mapping.cells.labels[place], mapping.cells.wild
        none = np.flatnonzero(wild[place]).tolist() if wild is not None else []
        known = [label for code, label in enumerate(labels) if code not in none]
        missing = none[0] if none else -1
        moved = np.append(placed(own, known), np.int32(missing))
        codes = np.where(own.codes == (-1 if own.missing is None else own.missing), missing, moved[own.codes])
        book = pl.DataFrame([values.alias("v"), pl.Series("k", codes.astype(np.int32))])
        return book.filter(book["v"].is_not_null(), book["k"] >= 0), missing

    def texts(self, names: Sequence[str], mapping: CellMapping | None = None) -> pl.DataFrame:
        """Some columns, every cell as text; with a mapping, only the rows that it does not suppress."""
        if mapping is None:
            rows = self.engine.ask(sql.columns(self.base, names))
        else:
            cells = [sql.cell(name) for name in names]
            rows = self.engine.ask(sql.recoded(self.base, self._lend(mapping), cells, visible=True))
        return pl.DataFrame([self._written(rows[f"c{n}"], name) for n, name in enumerate(names)])

    def _written(self, cells: pl.Series, name: str) -> pl.Series:
        """Cells as texts; moments as days only where the whole column has no others."""
        first = self.values(name)[0] if isinstance(self.dtype(name), pl.Datetime) else None
        whole = cells.cast(self.dtype(name)).alias(name)
        whole = whole if first is None else pl.concat([first, whole])
        texts = Table(frame=pl.DataFrame([whole]), missing=self.missing, source=self.source).column(name, "text").texts
        return texts if first is None else texts.slice(len(first))


def _read_as(dtype: pl.DataType) -> str:
    return "text" if dtype in TEXTS else "real" if dtype.is_float() else "other"
