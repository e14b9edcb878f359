"""Cells that a spreadsheet would run as formulas, and their escaping in CSV.

A CSV file is data: by default its bytes are what the data say. A spreadsheet all the same takes a cell that begins with
``=``, ``+``, ``-`` or ``@`` (also their wide forms), or with a tab or a line end before one, for a formula. Escaping
puts an apostrophe before such a text, and before one that begins with apostrophes and goes on like that: so two texts
never become one, and the escaping can be undone. Plain numbers such as -5 are left alone.

Source: OWASP, CSV Injection (https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import polars as pl

from sfumato.data.table import ENCODED, TEXTS
from sfumato.ground.errors import listed

_MARK = "'"
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_START = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_RISKY = rf"(?s)^'*{_START}."
_HARMLESS = rf"'*{_NUMBER}"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a text, or would if apostrophes before it were taken away.

    >>> [text for text in ("=1+1", "-5", "-5+A1", "@SUM(A1)", "'=1", "-", "a=b", "+1e3") if is_formula(text)]
    ['=1+1', '-5+A1', '@SUM(A1)', "'=1"]
    """
    return bool(re.match(_RISKY, text)) and not re.fullmatch(_HARMLESS, text)


def escaped_text(text: str) -> str:
    """A text that no spreadsheet runs; any other is left as it is."""
    return f"{_MARK}{text}" if is_formula(text) else text


def unescaped_text(text: str) -> str:
    """What was escaped, as it was.

    >>> [unescaped_text(escaped_text(text)) for text in ("=x", "'=x", "''=x", "'tis")]
    ['=x', "'=x", "''=x", "'tis"]
    """
    return text.removeprefix(_MARK) if is_formula(text) else text


def formula_columns(frame: pl.DataFrame) -> list[str]:
    """The columns with a name or a cell that a spreadsheet would run."""
    names = [name for name in frame.columns if is_formula(name) and not name.startswith(_MARK)]
    distinct = [one.unique() if one.dtype in ENCODED else one for one in frame.iter_columns() if one.dtype in TEXTS]
    texts = [one.cast(pl.String) for one in distinct]
    cells = [one.name for one in texts if bool((_formulas(one) & ~one.str.starts_with(_MARK)).any())]
    return [name for name in frame.columns if name in (*names, *cells)]


def told_formulas(columns: Sequence[str]) -> str:
    """What to know about such columns, and what would help."""
    return (
        f"a spreadsheet would run cells of {listed(columns)} as formulas; they are written as the data say. With "
        "--escape-formulas (output.escape_formulas = true) each gets an apostrophe before it"
    )


def escaped(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with all names and texts escaped."""
    return _changed(frame, lambda cells: pl.lit(_MARK) + cells, escaped_text)


def unescaped(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before it was escaped."""
    return _changed(frame, lambda cells: cells.str.strip_prefix(_MARK), unescaped_text)


def _changed(frame: pl.DataFrame, cell: Callable[[pl.Expr], pl.Expr], name: Callable[[str], str]) -> pl.DataFrame:
    found = []
    for one in _texts(frame):
        risky, texts = pl.lit(_formulas(one)), pl.lit(one)
        found.append(pl.when(risky).then(cell(texts)).otherwise(texts).alias(one.name))
    return frame.with_columns(found).rename({old: name(old) for old in frame.columns})


def _texts(frame: pl.DataFrame) -> list[pl.Series]:
    return [one.cast(pl.String) for one in frame.iter_columns() if one.dtype in TEXTS]


def _formulas(cells: pl.Series) -> pl.Series:
    return (cells.str.contains(_RISKY) & ~cells.str.contains(f"^{_HARMLESS}$")).fill_null(value=False)
