"""People with several rows, as attacks see them: each of them once, by one of their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.attacks.frame.subject import PERSON
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.group.people import told_apart


def one_each(rows: pl.DataFrame, unit: str | None, chance: Chance, missing: Sequence[str] = ()) -> pl.DataFrame:
    """One random row of each person, without the column that tells them apart; all rows where nothing does.

    Who has many rows is no likelier to be attacked than others, and a group shows each of its people once: so what fits
    an adversary's knowledge is counted in people.
    """
    if unit is None:
        return rows
    kept, _ = with_all_rows(rows, unit, chance, missing)
    return kept.drop(PERSON)


def with_all_rows(
    rows: pl.DataFrame, unit: str, chance: Chance, missing: Sequence[str] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One random row of each person, and all rows; both number people in ``PERSON``, by the order of the former."""
    order = chance.generator().permutation(rows.height)
    persons, _ = told_apart(Table(frame=rows.select(unit), missing=tuple(missing)).column(unit, "text"))
    first = np.sort(np.unique(persons[order], return_index=True)[1])
    number = np.zeros(int(persons.max(initial=-1)) + 1, np.int64)
    number[persons[order[first]]] = np.arange(len(first))
    every = rows.drop(unit).with_columns(pl.Series(PERSON, number[persons]))
    return every[order[first]], every
