"""A million rows: from text cells to cells and counts, against polars' and pandas' own group-by."""

from __future__ import annotations

import polars as pl

from measure import table, timed
from sfumato.counts.local_table import Cells, cells
from sfumato.tables.table import Table
from tables import subject


def encoded(frame: pl.DataFrame) -> Cells:
    """Encode every column and group by all of them."""
    loaded = Table(frame=frame)
    *quasi, counted = [loaded.column(name) for name in frame.columns]
    return cells(quasi, [counted])


def main() -> str:
    """Encode and group a million rows, and group the same rows with polars and pandas."""
    one = subject().times(1_000_000)
    names = one.frame.columns
    found, ours = timed(lambda: encoded(one.frame), repeat=3)
    _, polars = timed(lambda: one.frame.group_by(names).len(), repeat=3)
    heavy = one.frame.to_pandas()
    _, pandas = timed(lambda: heavy.groupby(names, observed=True).size(), repeat=1)
    rows = [
        ["sfumato: encode, group, count the last column, index of every row", f"{ours.wall:.2f} s", "1"],
        ["polars: group_by and count", f"{polars.wall:.2f} s", f"{polars.wall / ours.wall:.1f}"],
        ["pandas: groupby and count", f"{pandas.wall:.2f} s", f"{pandas.wall / ours.wall:.1f}"],
    ]
    return table(f"{one.name}, {found.classes.count:,} cells", ["what", "time", "ratio to sfumato"], rows)


if __name__ == "__main__":
    print(main())
