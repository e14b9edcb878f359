"""Files with one set a line, as collections of baskets are often kept."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sfumato.data.files import content
from sfumato.data.table import Table
from sfumato.ground.errors import DataError, ParameterError

COLUMN = "items"
"""What the one column is called."""


def line_sets(path: str | Path, separator: str = " ") -> Table:
    """The sets of a file without a header: every line that is not blank is a set, its items split by ``separator``."""
    if not isinstance(separator, str) or len(separator) != 1:
        raise ParameterError(f"separator must be one character such as ' ', not {separator!r}")
    place = Path(path)
    try:
        text = content(place, where=str(place)).decode()
    except UnicodeDecodeError as fault:
        raise DataError(
            f"{place}: is not UTF-8 ({fault.reason} at byte {fault.start}); write it again as such"
        ) from None
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if not lines:
        raise DataError(f"{place}: has only blank lines; one set a line is needed")
    items = pl.Series(COLUMN, lines).str.split(separator)
    return Table(frame=items.list.eval(pl.element().str.strip_chars().filter(pl.element() != "")).to_frame(),
                 source=place.name)  # fmt: skip
