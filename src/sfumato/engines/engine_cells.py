"""From the answers of an engine to cells, and from a mapping of cells to the table that is lent for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.table import Codes, Column
from sfumato.describe.domains import ObservedDomain
from sfumato.group.cell_source import CellMapping
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct, total
from sfumato.group.tally import Counts, Tally


def placed(own: Column, values: Sequence[str]) -> Codes:
    """For each code of a column, its place among the values of a wider domain; a missing one comes after them.

    A value that is not among them has the place -1.
    """
    place = {value: code for code, value in enumerate(values)}
    found = [place.get(value, -1) for value in own.present]
    return np.array([*found, *[len(values)] * (own.missing is not None)], np.int32)


def cells_of(
    answer: pl.DataFrame, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain], codes: Sequence[Codes]
) -> Classes:
    """The cells of an answer to ``statements.groups``; equal ones are added, as two texts can mean no value."""
    keys = np.array(codes[: len(quasi)], np.int32).reshape(len(quasi), answer.height)
    rows = answer["n"].cast(pl.Int64).to_numpy()
    ids, count = distinct(list(keys), [len(one.labels) for one in quasi], answer.height)
    whole = np.empty((len(quasi), count), np.int32)
    whole[:, ids] = keys
    about = [_about(answer, place, len(counted)) for place in range(len(counted))]
    first = about[0] if about else np.ones(answer.height, np.bool_)
    tallies = {
        one.column: _tally(one, ids[mine], codes[len(quasi) + place][mine], rows[mine], count)
        for place, (one, mine) in enumerate(zip(counted, about, strict=True))
    }
    return Classes(
        quasi=tuple(one.column for one in quasi),
        keys=whole,
        labels=tuple(one.labels for one in quasi),
        sizes=total(ids[first], rows[first], count),
        tallies=tallies,
        wild=tuple(_unknown(one) for one in quasi),
    )


def _about(answer: pl.DataFrame, place: int, many: int) -> NDArray[np.bool_]:
    """Which rows of an answer are about one of the columns beside the keys."""
    if many < 2:
        return np.ones(answer.height, np.bool_)
    return (answer[f"g{place}"] == 0).to_numpy()


def _tally(one: ObservedDomain, owners: Ids, codes: Codes, rows: Counts, classes: int) -> Tally:
    order = np.lexsort((codes, owners))
    numbers = one.numbers if one.missing is None or one.numbers is None else np.append(one.numbers, np.nan)
    found = Tally(
        column=one.column,
        values=one.labels,
        owners=owners[order],
        codes=codes[order],
        counts=rows[order],
        classes=classes,
        missing=None if one.missing is None else len(one.values),
        numbers=None if one.kind in ("text", "category") else numbers,
    )
    return found.merged(np.arange(classes), classes)


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
