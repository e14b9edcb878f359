"""Columns whose cells are sets: texts split by a separator, or lists; a row becomes ascending codes of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.short_repr import Brief
from sfumato.tables.table import Codes, Table, is_readable

__all__ = ["ItemColumn", "Tokens", "as_lists", "encoded", "in_order", "ranked", "set_column", "tokens", "written"]

Starts = NDArray[np.int64]
Mask = NDArray[np.bool_]
_TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Null)


def _none() -> Codes:
    return np.empty(0, np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemColumn(Brief):
    """One set-valued or trajectory column: row ``r`` has the items ``codes[starts[r]:starts[r + 1]]``, ascending.

    The items of a set are ordered by number if all are whole numbers, else by text; those of a trajectory by
    time, then place.
    """

    name: str
    """The column's name."""
    kind: Literal["set", "trajectory"]
    """Whether items are plain, or places at times."""
    starts: Starts
    """Where each row's items begin, and after the last row where they end."""
    codes: Codes
    """The items of all rows, ascending within a row, each once."""
    labels: tuple[str, ...]
    """The items by code, as written: ``"milk"``, ``"b@2"``."""
    places: tuple[str, ...] = ()
    """Of a trajectory: the distinct places, sorted."""
    times: tuple[str, ...] = ()
    """Of a trajectory: the distinct times as written, in order of time."""
    place: Codes = field(default_factory=_none)
    """Of a trajectory: each item's index into ``places``."""
    time: Codes = field(default_factory=_none)
    """Of a trajectory: each item's index into ``times``."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tokens:
    """The items of all cells, one cell after the other, in the order in which they are written."""

    column: str
    """The column, as messages name it: table, then column."""
    starts: Starts
    """Where each row's items begin, and after the last row where they end."""
    texts: pl.Series
    """The distinct items without blanks around them (two that differed only in blanks may stand here twice)."""
    codes: Codes
    """Each item's index into ``texts``."""

    def where(self, position: int) -> str:
        """The item at a position, for messages."""
        row = int(np.searchsorted(self.starts, position, side="right")) - 1
        return f"{self.column}, row {row + 1}, item {position - int(self.starts[row]) + 1} {self.text(position)!r}"

    def text(self, position: int) -> str:
        """What is written at a position."""
        return str(self.texts[int(self.codes[position])])

    def first(self, bad: Mask) -> int | None:
        """The first position of an item among those that are marked, if there is one."""
        return int(np.argmax(bad[self.codes])) if bad.any() else None


def set_column(table: Table, name: str, *, separator: str = "|") -> ItemColumn:
    """The column as sets of items.

    A cell is a text split by the separator, or a list of texts or whole numbers. Blanks around items do not
    count, repeated items are one. An empty cell, a null and a text of ``table.missing`` are the empty set.
    """
    item_tokens = tokens(table, name, separator)
    labels, codes = in_order(item_tokens.texts)
    rows = np.repeat(np.arange(table.rows, dtype=np.int64), np.diff(item_tokens.starts))
    keys = np.unique(rows * len(labels) + codes[item_tokens.codes])
    owner = keys // max(len(labels), 1)
    return ItemColumn(
        name=name,
        kind="set",
        starts=np.searchsorted(owner, np.arange(table.rows + 1)).astype(np.int64),
        codes=(keys - owner * len(labels)).astype(np.int32),
        labels=labels,
    )


def written(column: ItemColumn, *, lists: bool, separator: str = "|") -> pl.Series:
    """The column as it is published: lists of texts, or texts joined by the separator, in the order of the codes."""
    items = pl.Series(column.name, column.labels, pl.String).gather(column.codes)
    if lists:
        return as_lists(column.starts, items)
    inside = next((label for label in column.labels if separator in label), None)
    if inside is not None:
        raise DataError(f"column {column.name!r}: the item {inside!r} contains the separator {separator!r}; {_OTHER}")
    return as_lists(column.starts, items).list.join(separator)


def in_order(texts: pl.Series) -> tuple[tuple[str, ...], Codes]:
    """The distinct texts in order (whole numbers by size, else as text), and the place of each given text in it."""
    distinct: list[str] = texts.unique().to_list()
    numeric = all(is_readable(text, "integer") for text in distinct)
    labels = tuple(sorted(distinct, key=(lambda text: (int(text), text)) if numeric else None))
    rank = {label: code for code, label in enumerate(labels)}
    return labels, np.fromiter(map(rank.__getitem__, texts.to_list()), np.int32, len(texts))


def ranked(texts: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct texts, sorted as text, and each text's index among them."""
    distinct = texts.unique().sort()
    return distinct, texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int32)


def as_lists(starts: Starts, items: pl.Series) -> pl.Series:
    """One list per row: the items from its start to the next row's start."""
    count = len(starts) - 1
    owner = np.repeat(np.arange(count, dtype=np.int64), np.diff(starts))
    frame = pl.DataFrame({"row": owner, "items": items}).set_sorted("row")
    lists = frame.group_by("row", maintain_order=True).agg("items")
    if lists.height < count:
        every = pl.DataFrame({"row": np.arange(count, dtype=np.int64)})
        nothing = pl.lit([], dtype=pl.List(items.dtype))
        lists = every.join(lists, on="row", how="left", maintain_order="left").with_columns(
            pl.col("items").fill_null(nothing)
        )
    return lists["items"].alias(items.name)


def tokens(table: Table, name: str, separator: str) -> Tokens:
    """The items of a column of texts or lists; empty items and those that could not be written are refused."""
    _one_character(separator)
    cells = table.require(name)
    if cells.dtype in _TEXTS:
        texts = cells.cast(pl.String).str.strip_chars()
        empty = table.is_missing(name) | (texts == "").fill_null(value=True)
        return encoded(table, name, texts.set(empty, None).str.split(separator), separator)
    inner = cells.dtype.inner if isinstance(cells.dtype, pl.List | pl.Array) else None
    if inner is None or not (inner in _TEXTS or inner.is_integer()):
        raise DataError(
            f"{table.source}, column {name!r}: the cells are of type {cells.dtype}; "
            f"texts split by {separator!r}, or lists of texts or whole numbers are needed"
        )
    return encoded(table, name, cells.cast(pl.List(pl.String)), separator)


def encoded(table: Table, name: str, cells: pl.Series, separator: str) -> Tokens:
    """The items of lists of texts, as an index into the distinct ones."""
    lengths = cells.list.len().fill_null(0)
    flat = cells.filter(lengths > 0).explode().fill_null("")
    distinct, codes = ranked(flat)
    tokens = Tokens(
        column=f"{table.source}, column {name!r}",
        starts=np.concatenate(([0], np.cumsum(lengths.to_numpy(), dtype=np.int64))),
        texts=distinct.str.strip_chars(),
        codes=codes,
    )
    _refuse(tokens, tokens.texts == "", "is empty; remove it, or leave the whole cell empty")
    _refuse(
        tokens, tokens.texts.str.contains(separator, literal=True), f"contains the separator {separator!r}; {_OTHER}"
    )
    absent = f"is a text that means a missing value ({', '.join(map(repr, table.missing))}); name it otherwise"
    _refuse(tokens, tokens.texts.is_in(list(table.missing)), absent)
    return tokens


_OTHER = "name another separator, one that no item contains"


def _refuse(tokens: Tokens, bad: pl.Series, why: str) -> None:
    position = tokens.first(bad.to_numpy())
    if position is not None:
        raise DataError(f"{tokens.where(position)}: {why}")


def _one_character(separator: Sequence[str]) -> None:
    if not isinstance(separator, str) or len(separator) != 1:
        raise ParameterError(f"separator must be one character such as '|', not {separator!r}")
