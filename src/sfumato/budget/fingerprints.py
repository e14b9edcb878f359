"""The digest of a table, by which a ledger knows it again: over cells alone, the same on every machine and version.

A column of text and one of whole numbers that are written alike have the same digest: a file without types and the
frame that was read from it are one table. Columns count in the order of their names; rows in their own order.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import numpy as np
import polars as pl

from sfumato.budget import chain
from sfumato.data.table import Table


def digest(table: Table) -> str:
    """128 hexadecimal digits over names, nulls and cells.

    >>> digest(Table(frame=pl.DataFrame({"a": ["1", None]}))) == digest(Table(frame=pl.DataFrame({"a": [1, None]})))
    True
    """
    found = hashlib.blake2b(f"{table.frame.height} rows".encode())
    for name in sorted(table.frame.columns):
        _text(found, name)
        _column(found, table.frame[name].rechunk())
    return found.hexdigest()


def bindings(link: sqlite3.Connection, table: Table) -> tuple[str, list[str]]:
    """The keyed fingerprint of a table, and those that a ledger is bound to."""
    return chain.keyed(link, f"table {digest(table)}"), [str(one["table"]) for one in chain.every(link, "bind")]


def _text(found: Any, text: str) -> None:
    data = text.encode()
    found.update(len(data).to_bytes(8, "little") + data)


def _column(found: Any, cells: pl.Series) -> None:
    """Nulls, then cells by what they are made of."""
    kind = cells.dtype
    found.update(np.packbits(cells.is_null().to_numpy(), bitorder="little").tobytes())
    if isinstance(kind, pl.List | pl.Array):
        plain = cells if isinstance(kind, pl.List) else cells.arr.to_list()
        _numbers(found, plain.list.len().fill_null(0))
        _column(found, plain.filter(plain.list.len().fill_null(0) > 0).explode())
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            _text(found, field.name)
            _column(found, cells.struct.field(field.name))
    elif kind.is_float():
        _text(found, "real")
        found.update(cells.cast(pl.Float64).fill_null(0.0).to_numpy().astype("<f8").tobytes())
    elif isinstance(kind, pl.Binary | pl.Object):
        for cell in cells.to_list():
            _text(found, repr(cell))
    else:
        _texts(found, cells)


def _texts(found: Any, cells: pl.Series) -> None:
    """Text, and whatever is written the same everywhere: whole numbers, categories, truth, days and times as counts."""
    if cells.dtype.is_temporal():
        _text(found, str(cells.dtype))
        cells = cells.to_physical()
    text = cells.cast(pl.String).fill_null("")
    _numbers(found, text.str.len_bytes())
    found.update(str(text.str.join("")[0]).encode())


def _numbers(found: Any, numbers: pl.Series) -> None:
    found.update(numbers.cast(pl.Int64).to_numpy().astype("<i8").tobytes())
