"""The rows of a table as sets of items."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.itemized import set_column
from sfumato.data.table import Table
from sfumato.ground.errors import DataError, ParameterError
from sfumato.group.assembled import ItemPart, assembled
from sfumato.group.transactions import Transactions


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
