"""What columns may be called: a text that is not blank, and no two alike."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.ground.errors import DataError
from sfumato.ground.limits import MOST_COLUMNS, MOST_FIELD, MOST_NAME


def checked_names(names: Sequence[object], *, where: str) -> list[str]:
    """The names as they are, or a refusal that says which are no good and at which positions."""
    refuse_many(len(names), where=where)
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) != len(names):
        odd = next(name for name in names if not isinstance(name, str))
        raise DataError(
            f"{where}: the column name {odd!r} is {type(odd).__name__}, not text; rename the column to {str(odd)!r}"
        )
    long = [at for at, name in enumerate(texts, 1) if len(name) > MOST_NAME]
    if long:
        raise DataError(
            f"{where}: the name of column {long[0]} has {len(texts[long[0] - 1]):,} characters; at most {MOST_NAME:,} "
            "are read"
        )
    blank = [at for at, name in enumerate(texts, 1) if not name.strip()]
    if blank:
        raise DataError(f"{where}: column {blank[0]} has a blank name; name every column (names=[...] would work)")
    _refuse_repeated(texts, where=where)
    return texts


def refuse_many(columns: int, *, where: str) -> None:
    """Refuse a table with more columns than are read."""
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{where}: columns found: {columns:,}; at most {MOST_COLUMNS:,} are read; leave out those "
            "that the plan does not name"
        )


def refuse_long(lengths: pl.Series, name: str, *, where: str) -> None:
    """Refuse a column in which a cell has more bytes than are read; ``lengths`` are those of its cells."""
    most = lengths.max()
    if isinstance(most, int) and most > MOST_FIELD:
        row = (lengths.arg_max() or 0) + 1
        raise DataError(
            f"{where}, column {name!r}, row {row}: the cell has {most:,} bytes, at most {MOST_FIELD:,} are read"
        )


def refuse_long_texts(frame: pl.DataFrame, *, where: str) -> None:
    """Refuse a frame in which a text has more bytes than are read."""
    for name in frame.select(pl.col(pl.String)).columns:
        refuse_long(frame[name].str.len_bytes(), name, where=where)


def _refuse_repeated(names: Sequence[str], *, where: str) -> None:
    if len(set(names)) == len(names):
        return
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    told = [f"{name!r} (columns {_positions(name, names)})" for name in repeated[:5]]
    raise DataError(
        f"{where}: column names occur more than once: {', '.join(told)}; "
        "every column needs a name of its own (names=[...] would work)"
    )


def _positions(name: str, names: Sequence[str]) -> str:
    return ", ".join(str(at) for at, other in enumerate(names, 1) if other == name)
