"""A table that lives in DuckDB: counts by GROUP BY, recoding by a join with the mapping of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import duckdb
import numpy as np
import polars as pl

from sfumato.data.table import Kind, Table
from sfumato.describe.domains import ObservedDomain
from sfumato.ground.errors import DataError
from sfumato.group.cell_source import CellMapping, MappedRows
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct
from sfumato.group.needs import Need
from sfumato.group.tally import Tally


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class DuckTable:
    """A view in DuckDB; nothing but domains, counts and recoded rows ever leaves it."""

    connection: Any
    view: str
    frame: pl.DataFrame
    """No rows: only names and types."""
    missing: tuple[str, ...] = ()
    gives: frozenset[Need] = frozenset(("joint", "integers"))
    source: str = "a DuckDB table"

    @classmethod
    def of(cls, frame: pl.DataFrame, missing: tuple[str, ...]) -> DuckTable:
        connection = duckdb.connect()
        connection.register("arrow_rows", frame.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM arrow_rows")
        return cls(connection=connection, view="people", frame=frame.clear(), missing=missing)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def rows(self) -> int:
        return int(self.ask(f"SELECT count(*) AS n FROM {self.view}")["n"][0])

    def ask(self, sql: str) -> pl.DataFrame:
        return pl.from_arrow(self.connection.sql(sql).to_arrow_table())  # type: ignore[return-value]

    def dtype(self, name: str) -> pl.DataType:
        return self.frame.schema[name]

    def absent(self, name: str) -> str:
        marks = ", ".join("'" + mark.replace("'", "''") + "'" for mark in self.missing)
        text = self.dtype(name) == pl.String and bool(marks)
        return f"({quoted(name)} IS NULL" + (f" OR {quoted(name)} IN ({marks}))" if text else ")")

    def complete(self, names: Sequence[str]) -> Self:
        view = f"{self.view}_complete"
        there = " AND ".join(f"NOT {self.absent(name)}" for name in names)
        self.connection.execute(f"CREATE VIEW {view} AS SELECT * FROM {self.view} WHERE {there}")
        return replace(self, view=view)

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        found = self.ask(f"SELECT {quoted(name)} AS v, count(*) AS n FROM {self.view} GROUP BY ALL")
        values = found.select(pl.col("v").cast(self.dtype(name)).alias(name))
        column = Table(frame=values, missing=self.missing).column(name, kind)
        domain = ObservedDomain.of(column)
        counts = np.bincount(column.codes, weights=found["n"].to_numpy(), minlength=len(column.values)).astype(np.int64)
        absent = 0 if column.missing is None else int(counts[column.missing])
        return replace(domain, counts=counts[: len(domain.values)], absent=absent)

    def coded(self, cells: pl.Series, domain: ObservedDomain) -> np.ndarray[Any, Any]:
        """Distinct values that came back, as codes of a domain."""
        column = Table(frame=pl.DataFrame([cells.cast(self.dtype(domain.column)).alias("v")]), missing=self.missing)
        own = column.column("v", domain.kind)
        place = {value: code for code, value in enumerate(domain.values)}
        moved = [place[value] for value in own.present] + [len(domain.values)] * (own.missing is not None)
        return np.array(moved, np.int32)[own.codes]

    def cells(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        names = [one.column for one in quasi]
        keys, sizes = self.grouped(names, quasi)
        ids, count = distinct(list(keys), [len(one.labels) for one in quasi], keys.shape[1])
        whole = Classes(
            quasi=tuple(names),
            keys=np.zeros((len(quasi), count), np.int32),
            labels=tuple(one.labels for one in quasi),
            sizes=np.bincount(ids, weights=sizes, minlength=count).astype(np.int64),
            wild=tuple(_unknown(one) for one in quasi),
        )
        whole.keys[:, ids] = keys
        tallies = {one.column: self.tally(whole, quasi, one) for one in counted}
        return replace(whole, tallies=tallies)

    def grouped(
        self, names: Sequence[str], domains: Sequence[ObservedDomain]
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        chosen = ", ".join(f"{quoted(name)} AS c{place}" for place, name in enumerate(names))
        found = self.ask(f"SELECT {chosen}, count(*) AS n FROM {self.view} GROUP BY ALL")
        keys = [self.coded(found[f"c{place}"], domain) for place, domain in enumerate(domains)]
        return np.array(keys, np.int32).reshape(len(names), found.height), found["n"].to_numpy()

    def tally(self, whole: Classes, quasi: Sequence[ObservedDomain], one: ObservedDomain) -> Tally:
        keys, sizes = self.grouped([*(q.column for q in quasi), one.column], [*quasi, one])
        joint = np.concatenate([whole.keys, keys[:-1]], axis=1)
        ids, _ = distinct(list(joint), [len(q.labels) for q in quasi], joint.shape[1])
        place = np.zeros(ids.max() + 1, np.int64)
        place[ids[: whole.count]] = np.arange(whole.count)
        owners = place[ids[whole.count :]]
        order = np.lexsort((keys[-1], owners))
        made = Tally(
            column=one.column,
            values=one.labels,
            owners=owners[order],
            codes=keys[-1][order],
            counts=sizes[order].astype(np.int64),
            classes=whole.count,
            missing=None if one.missing is None else len(one.values),
            numbers=None if one.kind in ("text", "category") else _numbers(one),
        )
        return made.merged(np.arange(whole.count), whole.count)

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        raise DataError("single rows stay in DuckDB")

    def joined(self, mapping: CellMapping) -> str:
        """The rows with the mapping of their cells."""
        quasi, cells = mapping.cells.quasi, mapping.cells
        columns: dict[str, Any] = {"hidden": mapping.suppressed}
        for place in range(len(quasi)):
            missing = cells.wild is not None and cells.wild[place]
            texts = np.array(cells.labels[place], dtype=object)
            known = np.where(missing, None, texts) if cells.wild is not None else texts
            columns[f"k{place}"] = known[cells.keys[place]].tolist()
            columns[f"s{place}"] = np.array(mapping.labels[place], dtype=object)[mapping.shown[place]].tolist()
        self.connection.register("mapping", pl.DataFrame(columns, strict=False).to_arrow())
        alike = " AND ".join(
            f"(CASE WHEN {self.absent(name).replace(quoted(name), 'p.' + quoted(name))} THEN NULL "
            f"ELSE {self.as_text(name)} END) IS NOT DISTINCT FROM m.k{place}"
            for place, name in enumerate(quasi)
        )
        return f"{self.view} p JOIN mapping m ON {alike}"

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        quasi, rows = mapping.cells.quasi, self.joined(mapping)
        shown = [
            f"p.{quoted(name)} AS {quoted(name)}"
            if name in mapping.unchanged and self.dtype(name) != pl.String
            else f"m.s{place} AS {quoted(name)}"
            for place, name in enumerate(quasi)
        ]
        kept = [f"p.{quoted(name)} AS {quoted(name)}" for name in beside]
        found = self.ask(f"SELECT {', '.join([*shown, *kept])}, m.hidden FROM {rows}")
        types = {name: self.dtype(name) for name in (*beside, *(n for n in quasi if n in mapping.unchanged))}
        frame = found.drop("hidden").with_columns(pl.col(name).cast(dtype) for name, dtype in types.items())
        return MappedRows(frame=frame, suppressed=found["hidden"].to_numpy())

    def as_text(self, name: str) -> str:
        return f"CAST(p.{quoted(name)} AS VARCHAR)"

    def texts(self, names: Sequence[str], shown: CellMapping | None = None) -> pl.DataFrame:
        source = f"{self.view} p" if shown is None else f"{self.joined(shown)} WHERE NOT m.hidden"
        rows = self.ask(f"SELECT {', '.join(f'p.{quoted(name)} AS {quoted(name)}' for name in names)} FROM {source}")
        table = Table(frame=rows.with_columns(pl.col(n).cast(self.dtype(n)) for n in names), missing=self.missing)
        return pl.DataFrame([table.column(name).texts for name in names])


def _unknown(domain: ObservedDomain) -> np.ndarray[Any, Any]:
    return np.arange(len(domain.labels)) == (-1 if domain.missing is None else len(domain.values))


def _numbers(domain: ObservedDomain) -> np.ndarray[Any, Any] | None:
    if domain.numbers is None or domain.missing is None:
        return domain.numbers
    return np.append(domain.numbers, np.nan)
