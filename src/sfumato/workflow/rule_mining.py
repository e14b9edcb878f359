"""``sfumato rules``: frequent sets and association rules of a table's sets and ordinary columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.frames import from_frame
from sfumato.data.line_sets import line_sets
from sfumato.data.table import Table
from sfumato.ground.work import Work
from sfumato.group.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.mine.association_rules import SEPARATOR, Rules, association_rules
from sfumato.mine.table_items import transactions_of
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


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Rules as a flat table: the items of a side in one text."""
    return frame.with_columns(pl.col("antecedent", "consequent").list.join(SEPARATOR))
