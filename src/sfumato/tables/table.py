"""Tables and their columns: names, kinds of values, and dictionary-encoded cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Literal, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.errors import DataError, listed, unknown_column
from sfumato.core.input_files import MOST_COLUMNS, MOST_FIELD, MOST_NAME
from sfumato.core.short_repr import Brief

# What columns may be called: a text that is not blank, and no two alike.


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
    repetitions = [f"{name!r} (columns {_positions(name, names)})" for name in repeated[:5]]
    raise DataError(
        f"{where}: column names occur more than once: {', '.join(repetitions)}; "
        "every column needs a name of its own (names=[...] would work)"
    )


def _positions(name: str, names: Sequence[str]) -> str:
    return ", ".join(str(at) for at, other in enumerate(names, 1) if other == name)


# What the values of a column are: whole numbers, reals, dates, or text that must stay text.


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


# A table about people, and its columns in dictionary-encoded form.


KINDS: tuple[str, ...] = get_args(Kind)
Codes = NDArray[np.int32]
ENCODED = (pl.Categorical, pl.Enum)
"""Types of cells that are numbers for texts."""
TEXTS = (pl.String, *ENCODED)
"""Types of cells that are texts, written out or encoded."""
FEW_CELLS = 1_000
"""So many texts are sooner looked up in a dictionary of Python than handed to the engine of frames."""

__all__ = ["ENCODED", "KINDS", "TEXTS", "Codes", "Column", "Kind", "Table", "as_text", "categories", "places",
           "plain_cells"]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Column(Brief):
    """One column as small integers: ``values[codes[row]]`` is what row ``row`` says.

    Values stand in the order of their kind (numbers by size, dates by day, the rest as text).
    A missing value has the last code.
    """

    name: str
    """The column's name."""
    kind: Kind
    """How its values are to be read."""
    codes: Codes
    """One code per row."""
    values: tuple[str, ...]
    """The distinct values, as written."""
    missing: int | None
    """The code of the missing value, if any row has it."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Rows per value."""
        return np.bincount(self.codes, minlength=len(self.values)).astype(np.int64)

    @property
    def present(self) -> tuple[str, ...]:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[: self.missing]

    @property
    def texts(self) -> pl.Series:
        """What each row says."""
        return pl.Series(self.name, list(self.values), dtype=pl.String).gather(self.codes)

    def relabelled(self, labels: Mapping[str, str]) -> pl.Series:
        """The label of what each row says; a row without a value has none."""
        present_labels = [labels[value] for value in self.present]
        return pl.Series(self.name, [*present_labels, None], dtype=pl.String).gather(self.codes)

    @property
    def encoded(self) -> pl.Series:
        """The same as categories: a number for each row, and every text once."""
        return pl.Series(self.name, list(self.values), dtype=pl.String).cast(pl.Categorical).gather(self.codes)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values as numbers (dates as day numbers, missing as NaN)."""
        numbers = numbers_of(self.name, self.present, self.kind)
        return numbers if self.missing is None else np.append(numbers, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(Brief):
    """Rows and named columns, as they were read."""

    frame: pl.DataFrame
    """The cells. Files without types (CSV) keep every cell as text; those of large plain files are encoded texts."""
    source: str = "the table"
    """What messages call it."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self.frame.height

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.frame.columns)

    def require(self, name: str, *, where: str = "columns") -> pl.Series:
        """The cells of a column, or a refusal that names the columns there are."""
        if name not in self.frame.columns:
            raise unknown_column(name, self.names, where=where)
        return self.frame[name]

    def is_missing(self, name: str) -> pl.Series:
        """Which rows have no value in this column."""
        cells = self.require(name)
        absent = cells.is_null()
        if cells.dtype not in TEXTS or not self.missing:
            return absent
        if cells.dtype != pl.String:
            distinct = cells.unique()
            marks = distinct.filter(distinct.cast(pl.String).is_in(list(self.missing)))
            return absent | cells.is_in(marks.implode()).fill_null(value=False) if len(marks) else absent
        return absent | cells.is_in(list(self.missing)).fill_null(value=False)

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """The column in dictionary-encoded form; its kind is inferred when not declared."""
        cells = self.require(name)
        if cells.dtype.is_nested() or not has_text(cells.dtype):
            raise DataError(
                f"{self.source}, column {name!r}: cells of type {cells.dtype} are not supported; turn them into texts, "
                "numbers or dates, or leave the column out"
            )
        if cells.dtype in ENCODED:
            texts, codes = categories(cells, self.missing)
        elif cells.dtype == pl.String and len(cells) <= FEW_CELLS:
            texts, codes = _small_dictionary(cells.to_list(), self.missing)
        else:
            texts, codes = _dictionary(cells.zip_with(~self.is_missing(name), pl.Series([None], dtype=cells.dtype)))
        kind = kind or infer_kind(texts, cells.dtype)
        order = _order(name, texts, kind)
        rank = np.empty(len(texts) + 1, np.int32)
        rank[order] = np.arange(len(texts), dtype=np.int32)
        rank[-1] = len(texts)
        values = tuple(texts[i] for i in order)
        missing = len(values) if bool((codes == len(texts)).any()) else None
        label = self.missing[0] if self.missing else ""
        return Column(
            name=name,
            kind=kind,
            codes=rank[codes],
            values=values if missing is None else (*values, label),
            missing=missing,
        )


def _dictionary(cells: pl.Series) -> tuple[list[str], Codes]:
    """Distinct texts in any stable order, and each row's index into them (nulls get the index after the last)."""
    distinct = cells.drop_nulls().unique().sort()
    texts = as_text(distinct).to_list()
    named = cells.dtype == pl.String
    ranks = cells.cast(pl.Enum(distinct)).to_physical() if named else cells.rank("dense") - 1
    return texts, ranks.cast(pl.Int64).fill_null(len(texts)).to_numpy().astype(np.int32)


def _small_dictionary(cells: list[str | None], missing: Collection[str]) -> tuple[list[str], Codes]:
    """The same of a few texts, some of which mean a missing value."""
    texts = sorted({text for text in cells if text is not None}.difference(missing))
    number: dict[str | None, int] = {text: code for code, text in enumerate(texts)}
    return texts, np.array([number.get(text, len(texts)) for text in cells], np.int32)


def categories(cells: pl.Series, missing: Collection[str]) -> tuple[list[str], Codes]:
    """The distinct texts of encoded cells in order, without some, and each row's index into them.

    A null and a text that is missing get the index after the last. Only distinct cells are looked at.
    """
    distinct = cells.unique().drop_nulls()
    texts = distinct.cast(pl.String).to_list()
    known = sorted(set(texts) - set(missing))
    number = {text: code for code, text in enumerate(known)}
    return known, _by_code(cells, distinct, [number.get(text, len(known)) for text in texts], len(known))


def places(cells: pl.Series, known: Mapping[str, int]) -> Codes:
    """The number that each cell's text has; -1 for a text without a number, and for a null.

    >>> places(pl.Series(["b", None, "c"]), {"a": 0, "b": 1}).tolist()
    [1, -1, -1]
    """
    if cells.dtype in ENCODED:
        distinct = cells.unique().drop_nulls()
        return _by_code(cells, distinct, [known.get(text, -1) for text in distinct.cast(pl.String)], -1)
    if len(cells) <= FEW_CELLS:
        return np.array([known.get(text, -1) for text in cells.cast(pl.String).to_list()], np.int32)
    texts, numbers = pl.Series(list(known), dtype=pl.String), pl.Series(list(known.values()), dtype=pl.Int32)
    codes = cells.cast(pl.String).replace_strict(texts, numbers, default=-1, return_dtype=pl.Int32)
    return np.asarray(codes.to_numpy(), np.int32)


def _by_code(cells: pl.Series, distinct: pl.Series, numbers: Sequence[int], absent: int) -> Codes:
    """The number of each encoded cell, given those of the distinct ones; nulls get ``absent``."""
    codes = distinct.to_physical().cast(pl.Int64).to_numpy()
    of_code = np.full(int(codes.max(initial=-1)) + 2, absent, np.int32)
    of_code[codes] = numbers
    cell_codes = cells.to_physical()
    if cell_codes.null_count():
        cell_codes = cell_codes.cast(pl.Int64).fill_null(len(of_code) - 1)
    return np.asarray(of_code[cell_codes.to_numpy()], np.int32)


def has_text(dtype: pl.DataType) -> bool:
    """Whether cells of a type can be written as texts that are read back: not bytes, durations and objects."""
    if isinstance(dtype, pl.List | pl.Array):
        return has_text(cast("pl.DataType", dtype.inner)) and not dtype.inner.is_nested()
    return dtype not in (pl.Binary, pl.Duration, pl.Object, pl.Unknown) and not isinstance(dtype, pl.Struct)


def plain_cells(cells: pl.Series) -> pl.Series:
    """The cells as they are; encoded texts become texts: a list of categories may name values of removed rows."""
    return cells.cast(pl.String) if cells.dtype in TEXTS else cells


def has_times(cells: pl.Series) -> bool:
    """Whether cells are date-times with a time of day."""
    return isinstance(cells.dtype, pl.Datetime) and not bool((cells.dt.truncate("1d") == cells).all())


def as_text(cells: pl.Series) -> pl.Series:
    """Cells as a person would write them: whole numbers without a point, dates as YYYY-MM-DD."""
    if isinstance(cells.dtype, pl.Datetime) and not has_times(cells):
        return cells.dt.date().cast(pl.String)
    if cells.dtype.is_nested() or not has_text(cells.dtype):
        raise DataError(f"column {cells.name!r}: cells of type {cells.dtype} cannot be read as texts")
    return cells.cast(pl.String)


def as_reals(cells: pl.Series) -> pl.Series:
    """Cells as numbers, null where one is none. Texts may be categories: so large files are read."""
    plain = cells if cells.dtype.is_numeric() else cells.cast(pl.String)
    return plain.cast(pl.Float64, strict=False)


def _order(name: str, texts: list[str], kind: Kind) -> list[int]:
    if kind in ("text", "category"):
        return sorted(range(len(texts)), key=texts.__getitem__)
    numbers = numbers_of(name, texts, kind)
    return sorted(range(len(texts)), key=lambda i: (numbers[i], texts[i]))
