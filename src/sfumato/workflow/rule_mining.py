"""``sfumato rules``: frequent sets and association rules of a table's sets and ordinary columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.frames import from_frame
from sfumato.data.itemized import set_column
from sfumato.data.line_sets import line_sets
from sfumato.data.table import Table
from sfumato.ground.errors import DataError, ParameterError
from sfumato.ground.work import Work
from sfumato.group.assembled import ItemPart, assembled
from sfumato.group.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.group.transactions import Transactions
from sfumato.mine.association_rules import SEPARATOR, Rules, association_rules
from sfumato.workflow.loading import read_file

MOST_ITEMS = 8
"""Sets with more items than this are looked for only where it is asked."""


def rules(
    data: object,
    *,
    sets: Sequence[str] = (),
    columns: Sequence[str] = (),
    min_support: float = 0.01,
    min_confidence: float = 0.5,
    longest: int = MOST_ITEMS,
    separator: str = "|",
    lines: bool = False,
    reading: Mapping[str, Any] | None = None,
    work: Work | None = None,
) -> Rules:
    """The frequent sets and association rules of a file or frame.

    ``sets`` are columns whose cells are sets, split by ``separator``; ``columns`` are ordinary ones, whose cells become
    the items ``column=value``. Where neither is named, lists are sets and every other column is ordinary. With
    ``lines`` the file has one set a line and no header. Missing cells are no items.
    """
    table = _table(data, lines=lines, separator=separator, reading=reading or {})
    found = transactions_of(table, sets=sets, columns=columns, separator="|" if lines else separator)
    itemsets = frequent_itemsets(found, least_rows(min_support, found.rows), longest=longest, work=work)
    return association_rules(itemsets, min_confidence, work=work)


def _table(data: object, *, lines: bool, separator: str, reading: Mapping[str, Any]) -> Table:
    if not isinstance(data, str | Path):
        return from_frame(data, missing=tuple(reading.get("missing", ())))
    return line_sets(data, separator) if lines else read_file(data, **reading)


def transactions_of(table: Table, *, sets: Sequence[str], columns: Sequence[str], separator: str = "|") -> Transactions:
    """The rows as sets of items; where several columns bring some, an item begins with its column's name."""
    both = [name for name in sets if name in columns]
    if both:
        raise ParameterError(f"column {both[0]!r} is named among the sets and among the ordinary columns; name it once")
    if not sets and not columns:
        sets = [name for name in table.names if table.frame[name].dtype.is_nested()]
        columns = [name for name in table.names if name not in sets]
    if not table.rows:
        raise DataError(f"{table.source} has no rows; rules need some")
    plain = len(sets) == 1 and not columns
    parts = [_set_part(table, name, separator, plain=plain) for name in sets]
    return assembled([*parts, *(_cell_part(table, name) for name in columns)])


def _set_part(table: Table, name: str, separator: str, *, plain: bool) -> ItemPart:
    found = set_column(table, name, separator=separator)
    labels = found.labels if plain else tuple(f"{name}={label}" for label in found.labels)
    return ItemPart(starts=found.starts, codes=found.codes, labels=labels)


def _cell_part(table: Table, name: str) -> ItemPart:
    """An ordinary column: one item a row, none where the cell is missing."""
    column = table.column(name)
    labels = tuple(f"{name}={value}" for value in column.values)
    whole = ItemPart.of_cells(column.codes, labels)
    if column.missing is None:
        return whole
    some = Transactions(starts=whole.starts, codes=whole.codes, labels=labels).only(column.codes != column.missing)
    return ItemPart(starts=some.starts, codes=some.codes, labels=labels)


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Rules as a flat table: the items of a side in one text."""
    return frame.with_columns(pl.col("antecedent", "consequent").list.join(SEPARATOR))
