"""What the values of a column are: whole numbers, reals, dates, or text that must stay text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from math import isfinite
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.ground.errors import DataError, listed

Kind = Literal["text", "category", "integer", "real", "date"]
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_REAL = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def infer_kind(texts: Sequence[str], dtype: pl.DataType) -> Kind:
    """The narrowest kind that reads every value back as it is written.

    A leading zero makes a code, and a code stays text:

    >>> infer_kind(["02139", "10598"], pl.String()), infer_kind(["7", "10"], pl.String())
    ('text', 'integer')
    """
    native = _native_kind(dtype)
    if native == "integer" and not all(map(_INTEGER.fullmatch, texts)):
        return "real"  # as in a text file: beyond 18 digits nobody counts in steps of one
    if native is not None:
        return "text" if native == "date" and not all(map(_is_date, texts)) else native
    return next((kind for kind, readable in _READABLE.items() if texts and all(map(readable, texts))), "text")


def _native_kind(dtype: pl.DataType) -> Kind | None:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "real"
    return "date" if dtype in (pl.Date, pl.Datetime) else None


def numbers_of(name: str, texts: Sequence[str], kind: Kind) -> NDArray[np.float64]:
    """The values as numbers (dates as day numbers), or a refusal that names those that are none."""
    if kind in ("text", "category"):
        raise DataError(f"column {name!r} is of type {kind}; numbers or dates are needed here")
    bad = [text for text in texts if not _READABLE[kind](text)]
    if bad:
        raise DataError(
            f"column {name!r} is of type {kind}, but {len(bad)} of its {len(texts)} distinct values cannot be read so: "
            f"{listed(bad, most=5)}. {_would(kind)}"
        )
    if kind == "date":
        return np.array([date.fromisoformat(text).toordinal() for text in texts], np.float64)
    return np.array([float(text) for text in texts], np.float64)


def _would(kind: Kind) -> str:
    """What would work instead."""
    if kind != "date":
        return "Declare them in [input] missing, or the column as text"
    return (
        'Dates are written YYYY-MM-DD; say with format = "dmy", "mdy" or "ymd" in which order day, month and year '
        "stand, declare the values in [input] missing, or the column as text"
    )


def is_readable(text: str, kind: Kind) -> bool:
    """Whether a text can be read as a value of a kind.

    >>> is_readable("02139", "text"), is_readable("02139", "integer"), is_readable("2020-02-30", "date")
    (True, False, False)
    """
    return kind not in _READABLE or bool(_READABLE[kind](text))


def _is_real(text: str) -> bool:
    """Whether a text is a number that can be counted with: not one beyond all limits."""
    return bool(_REAL.fullmatch(text)) and isfinite(float(text))


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_READABLE: dict[Kind, Callable[[str], object]] = {
    "integer": _INTEGER.fullmatch,
    "real": _is_real,
    "date": _is_date,
}
