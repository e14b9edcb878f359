"""People in several tables whose rows are linked by keys: what somebody who knows all tables sees of each person.

The tables form a tree: the people's own table is its root, and every other table names one row of another by a key.
A person's joint class is then the label of their row together with, table by table, the labels of the rows below it,
each with what lies below it in turn. Rows below one row have no order: how many there are of each kind is known
(``counted``), or only which kinds there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import DataError, PlanError, listed

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One column of a table that names rows of another."""

    table: str
    """The table that names."""
    column: str
    """Its column."""
    to_table: str
    """The table whose rows are named."""
    to_column: str
    """Its key: no value stands there twice."""

    @property
    def told(self) -> str:
        """As a plan writes it."""
        return f"{self.table}.{self.column} -> {self.to_table}.{self.to_column}"


def from_leaves(tables: Iterable[str], links: Sequence[Link]) -> tuple[str, tuple[Link, ...]]:
    """The root of the tree, and all links so that whatever lies below a table comes before it; others are refused.

    >>> at = Link(table="visits", column="who", to_table="people", to_column="id")
    >>> from_leaves(["visits", "people"], [at])[0]
    'people'
    """
    known, above = list(tables), {link.table: link for link in links}
    twice = [link.table for link in links if sum(other.table == link.table for other in links) > 1]
    if twice:
        raise PlanError(
            f"links: {twice[0]!r} names rows of other tables by several columns; keep one link, and give the other "
            "columns role = 'drop': the one table can be reached over the other"
        )
    roots = [name for name in known if name not in above]
    if len(roots) != 1:
        roots_text = f"{listed(roots)} all" if roots else "none"
        raise PlanError(f"links: one table must name no rows of another, the people's own; found {roots_text}")
    order: list[Link] = []
    level = roots
    while level:
        order = [*(below := [link for link in links if link.to_table in level]), *order]
        level = [link.table for link in below]
    if len(order) < len(links):
        round_ = next(link for link in links if link not in order)
        raise PlanError(f"links: {round_.told} leads round in a circle, not to {roots[0]!r}")
    return roots[0], tuple(order)


def parents(link: Link, named: pl.Series, keys: pl.Series) -> Codes:
    """The place of the row that each row names; -1 for one that is not there.

    >>> at = Link(table="visits", column="who", to_table="people", to_column="id")
    >>> parents(at, pl.Series(["b", "x"]), pl.Series(["a", "b"])).tolist()
    [1, -1]
    """
    texts = keys.cast(pl.String)
    if texts.null_count() or texts.n_unique() < len(texts):
        raise DataError(
            f"{link.to_table}.{link.to_column}: a key names one row, and here a value is missing or repeated"
        )
    places = pl.Series(np.arange(len(texts), dtype=np.int64))
    row_numbers = named.cast(pl.String).replace_strict(texts, places, default=-1, return_dtype=pl.Int64)
    return np.asarray(row_numbers.fill_null(-1).to_numpy(), np.int64)


def joint_classes(
    labels: Mapping[str, Codes], above: Mapping[str, Codes], order: Sequence[Link], *, counted: bool
) -> Codes:
    """The joint class of each row of the root, numbered from 0.

    ``labels`` are the classes of every table's rows by their own labels, ``above`` the places of the rows that they
    name. Cost: one grouping of the rows of each table.
    """
    seen = dict(labels)
    for link in order:
        below = pl.DataFrame({"above": above[link.table], "seen": seen[link.table]})
        kept = pl.col("seen").sort() if counted else pl.col("seen").unique().sort()
        lists = below.group_by("above").agg(kept.cast(pl.String)).with_columns(pl.col("seen").list.join(","))
        rows = pl.DataFrame({"own": seen[link.to_table]}).with_row_index("above").with_columns(
            pl.col("above").cast(pl.Int64)
        )  # fmt: skip
        row_lists = rows.join(lists, on="above", how="left", maintain_order="left")
        both = pl.struct(pl.col("own"), pl.col("seen").fill_null("")).rank("dense")
        seen[link.to_table] = np.asarray(row_lists.select(both.cast(pl.Int64) - 1).to_series().to_numpy(), np.int64)
    root = order[-1].to_table if order else next(iter(labels))
    return seen[root]


def persons(above: Mapping[str, Codes], order: Sequence[Link], root: str, rows: int) -> dict[str, Codes]:
    """The person of every row of every table: the place of a row of the root."""
    person_of = {root: np.arange(rows, dtype=np.int64)}
    for link in reversed(order):
        person_of[link.table] = person_of[link.to_table][above[link.table]]
    return person_of
