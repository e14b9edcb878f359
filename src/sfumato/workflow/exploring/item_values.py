"""The items of a column of paths or sets, one text for each that stands in a record: what a hierarchy is drawn over."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.data.table import Table
from sfumato.workflow.kinds.items.item_preparing import items_of
from sfumato.workflow.kinds.items.long_tables import item_table
from sfumato.workflow.plan.plan import Plan

TIMES = "time_hierarchy"
"""The key of a path column whose hierarchy is over times; ``hierarchy`` is over places, or over the items of a set."""


def item_values(plan: Plan, table: Table, name: str, key: str) -> Table:
    """A table with one column: every item, place or time as often as records have it."""
    items = items_of(plan.columns[name], item_table(plan, table), name)
    if items.kind == "set":
        texts, codes = items.labels, items.codes
    elif key == TIMES:
        texts, codes = items.times, items.time[items.codes]
    else:
        texts, codes = items.places, items.place[items.codes]
    values = np.asarray(texts, dtype=object)[np.asarray(codes)]
    return Table(frame=pl.DataFrame({name: pl.Series(values, dtype=pl.String)}), source=f"columns.{name}.{key}")
