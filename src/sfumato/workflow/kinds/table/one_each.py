"""People with several rows, as attacks see them: each of them once, by one of their rows."""

from __future__ import annotations

import polars as pl

from sfumato.ground.chance import Chance


def one_each(rows: pl.DataFrame, unit: str | None, chance: Chance) -> pl.DataFrame:
    """One random row of each person, without the column that tells them apart; all rows where nothing does.

    A row without a person is somebody of their own. Who has many rows is no likelier to be attacked than others, and a
    group shows each of its people once: so what fits an adversary's knowledge is counted in people.
    """
    if unit is None:
        return rows
    drawn = rows[chance.generator().permutation(rows.height)]
    own = pl.when(pl.col(unit).is_null() | (pl.col(unit).cast(pl.String) == "")).then(pl.int_range(pl.len()))
    return (
        drawn.with_columns(own.alias("\0own"))
        .unique([unit, "\0own"], keep="first", maintain_order=True)
        .drop(unit, "\0own")
    )
