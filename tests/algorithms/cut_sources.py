"""Sources of counts for tests: rows in shuffled parts, rows in DuckDB, and rows made from cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np

from sfumato.counts.added_sources import AddedSources
from sfumato.counts.classes import Classes
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.counts.sources import ROWS, Divided, Division, Figure, Groups
from sfumato.counts.tally import Tally


def rows_of_cells(cells: Classes) -> CodedRows:
    """A row for each that a cell counts; what is counted of two columns need not go together as in the table."""
    columns = [
        CodedColumn(codes=np.repeat(codes, cells.sizes), size=len(names))
        for codes, names in zip(cells.keys, cells.labels, strict=True)
    ]
    counted = {name: _spread(tally) for name, tally in cells.tallies.items()}
    return CodedRows(columns=tuple(columns), counted={**counted, "-": np.zeros(cells.rows, np.int32)})


def _spread(tally: Tally) -> Any:
    return np.repeat(tally.codes, tally.counts)


def parted(rows: CodedRows, many: int, seed: int = 1) -> AddedSources:
    """The rows in so many parts, shuffled; some may have none."""
    owner = np.random.default_rng(seed).integers(0, many, rows.rows)
    return AddedSources(sources=tuple(rows.take(np.flatnonzero(owner == n)) for n in range(many)))


class DuckSource:
    """The rows in an engine that is asked in SQL."""

    gives = frozenset({"integers"})

    def __init__(self, rows: CodedRows) -> None:
        self.link = duckdb.connect()
        self.sets = {c for c, one in enumerate(rows.columns) if one.starts is not None}
        made = {"id": np.arange(rows.rows)}
        made |= {f"c{c}": one.codes for c, one in enumerate(rows.columns) if one.starts is None}
        self.names = list(rows.counted)
        made |= {f"k{n}": rows.counted[name] for n, name in enumerate(self.names)}
        self.keep("rows", made)
        for c in self.sets:
            one = rows.columns[c]
            self.keep(f"items{c}", {"id": np.repeat(np.arange(rows.rows), np.diff(one.starts)), "code": one.codes})
        self.walks = 0

    def keep(self, name: str, columns: dict[str, Any]) -> None:
        self.link.register("given", {key: np.ascontiguousarray(one) for key, one in columns.items()})
        self.link.execute(f"create or replace table {name} as select * from given")
        self.link.unregister("given")

    def root(self, figures: Sequence[Figure]) -> DuckCuts:
        self.walks += 1
        self.link.execute(f"create table walk{self.walks} as select *, 0::bigint as part from rows")
        return DuckCuts(self, f"walk{self.walks}", [self.counts(one) for one in figures])

    def counts(self, figure: Figure) -> str:
        if figure == ROWS:
            return "count(*)"
        return f"count(*) filter (where k{self.names.index(figure[0])} in ({', '.join(map(str, figure[1]))}))"


class DuckCuts:
    """The partition of every row is a column of a table."""

    def __init__(self, source: DuckSource, name: str, figures: Sequence[str]) -> None:
        self.source, self.name, self.figures = source, name, figures

    def total(self) -> Any:
        return np.array(self._asked(f"select {', '.join(self.figures)} from {self.name}"), np.int64)[0]

    def histogram(self, asked: Division, groups: Groups | None = None) -> Any:
        found = self.refine(asked)
        into = groups or Groups(of=np.arange(asked.count, dtype=np.int32), count=asked.count)
        dense = np.zeros((into.count, asked.children, len(self.figures)), np.int64)
        np.add.at(dense, (into.of[found.owner], found.child), found.counts)
        return dense

    def refine(self, asked: Division) -> Divided:
        counts = ", ".join(self.figures)
        lines = self._asked(f"select owner, child, {counts} from ({self._children(asked)}) group by 1, 2 order by 1, 2")
        found = np.array(lines, np.int64).reshape(-1, 2 + len(self.figures))
        return Divided(division=asked, owner=found[:, 0], child=found[:, 1], counts=found[:, 2:])

    def apply(self, divided: Divided, places: Any) -> None:
        self.source.keep("pairs", {"owner": divided.owner, "child": divided.child, "place": places})
        moved = self._children(divided.division)
        self.source.link.execute(
            f"""create or replace table {self.name} as
            select w.* exclude part,
                case when m.id is null then w.part else coalesce(p.place, -1) end as part
            from {self.name} w left join ({moved}) m on w.id = m.id
                left join pairs p on p.owner = m.owner and p.child = m.child"""
        )

    def _children(self, asked: Division) -> str:
        """The rows of the partitions, with their owner and child."""
        parts = asked.parts
        if parts is None:
            owned = f"select *, 0 as owner from {self.name}"
        else:
            self.source.keep("parts", {"part": parts, "owner": np.arange(len(parts))})
            owned = f"select w.*, p.owner from {self.name} w join parts p on w.part = p.part"
        self.source.keep("child_of", {"code": np.arange(len(asked.child_of)), "child": asked.child_of})
        c = asked.column
        if c not in self.source.sets:
            return f"select w.*, m.child from ({owned}) w join child_of m on w.c{c} = m.code"
        masks = f"""select i.id, bit_or(1::bigint << m.child) as mask
            from items{c} i join child_of m on i.code = m.code where m.child >= 0 group by 1"""
        return f"select w.*, coalesce(b.mask, 0) as child from ({owned}) w left join ({masks}) b on w.id = b.id"

    def _asked(self, sql: str) -> list[tuple[int, ...]]:
        return self.source.link.execute(sql).fetchall()
