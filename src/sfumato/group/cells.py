"""From encoded rows to cells: the finest classes, and which cell each row is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.table import Column
from sfumato.ground.brief import Brief
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct, representatives
from sfumato.group.people import People, told_apart
from sfumato.group.tally import tally_rows


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
        one = replace(
            self.classes,
            keys=self.classes.keys[:, self.row_cell],
            sizes=np.ones(rows, np.int64),
            tallies=tallies,
            measures={name: (w / self.classes.sizes)[self.row_cell] for name, w in self.classes.measures.items()},
            people=None if unit is None else _people(unit, ids, list(counted.values())),
        )
        return Cells(classes=one, row_cell=ids)


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
