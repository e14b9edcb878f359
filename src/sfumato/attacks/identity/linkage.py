"""Linking a table to a register that carries names.

The adversary holds a public register (a voter roll) with names and some of the columns that the table has too, and
joins the two on these columns. A row that exactly one person fits, who fits no other, is theirs, with all that it says.
On a generalized table the register is first rewritten: a label such as ``0213*`` or ``[20-30)`` tells everybody which
values it covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.ground.errors import unknown_column

Reading = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """What the join found."""

    candidates: NDArray[np.int64]
    """For each person of the register, how many rows fit."""
    rivals: NDArray[np.int64]
    """For each person, how many people of the register fit the same rows."""

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Who fits exactly one row that nobody else fits."""
        return np.asarray((self.candidates == 1) & (self.rivals == 1))

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The chance that a row picked for a person is theirs, if all who fit are equally likely; 0 where none fits."""
        largest = np.maximum(np.maximum(self.candidates, self.rivals), 1)
        return np.where(self.candidates > 0, 1.0 / largest, 0.0)


def link(
    table: pl.DataFrame, register: pl.DataFrame, columns: Sequence[str], *, reading: Reading | None = None
) -> Links:
    """Join a register to a table on the columns that both have.

    ``reading`` rewrites the register's values to the table's labels; a value that it does not know stays as it is.
    Cost: two groupings and two joins, linear in rows and people.
    """
    for frame, where in ((table, "table"), (register, "register")):
        for name in columns:
            if name not in frame.columns:
                raise unknown_column(name, frame.columns, where=where)
    known = register.select(_rewritten(register[name], (reading or {}).get(name, {})) for name in columns)
    keys = list(columns)
    rows = table.select(pl.col(keys).cast(pl.String)).group_by(keys).len("rows")
    people = known.group_by(keys).len("people")
    joined = known.join(rows, on=keys, how="left", maintain_order="left", nulls_equal=True)
    joined = joined.join(people, on=keys, how="left", maintain_order="left", nulls_equal=True)
    return Links(
        candidates=joined["rows"].fill_null(0).to_numpy().astype(np.int64),
        rivals=joined["people"].to_numpy().astype(np.int64),
    )


def _rewritten(cells: pl.Series, labels: Mapping[str, str]) -> pl.Series:
    texts = cells.cast(pl.String)
    return texts.replace(dict(labels)) if labels else texts
