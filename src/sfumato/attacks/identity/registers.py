"""A register as it is in life: some cells are missing, some are wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.attacks.frame.numeric_labels import numbers


def with_errors(
    people: pl.DataFrame,
    columns: Sequence[str],
    numeric: frozenset[str],
    share: float,
    draws: np.random.Generator,
) -> pl.DataFrame:
    """The columns of some people, with errors in a share of the cells.

    A third of the errors is a missing cell. The others are numbers off by one, and words that are another person's or
    have two letters swapped.
    """
    return people.select(_spoiled(people[name], name in numeric, share, draws) for name in columns)


def _spoiled(cells: pl.Series, numeric: bool, share: float, draws: np.random.Generator) -> pl.Series:
    texts = cells.cast(pl.String).fill_null("")
    kind = np.where(draws.random(len(texts)) < share, draws.integers(3, size=len(texts)), -1)
    others = texts.gather(draws.permutation(len(texts)))
    off = numbers(texts) + np.where(draws.integers(2, size=len(texts)) == 1, 1, -1)
    made = []
    for text, other, moved, one in zip(texts.to_list(), others.to_list(), off.tolist(), kind.tolist(), strict=True):
        if one < 0:
            made.append(text)
        elif one == 0:
            made.append("")
        elif numeric and not np.isnan(moved):
            made.append(f"{moved:.15g}")
        else:
            made.append(other if one == 1 else text[1:2] + text[:1] + text[2:])
    return pl.Series(cells.name, made, dtype=pl.String)
