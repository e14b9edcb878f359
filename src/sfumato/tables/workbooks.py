"""Read sheets of Excel and OpenDocument workbooks, after checking how large they become."""

from __future__ import annotations

import io
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

import numpy as np
import polars as pl

from sfumato.core.errors import DataError
from sfumato.core.extras import extra
from sfumato.core.input_files import most_unfolded
from sfumato.tables.columnar_sizes import Sizes
from sfumato.tables.isolated_readers import try_reading
from sfumato.tables.table import checked_names, has_times, refuse_long_texts, refuse_many

# How large a workbook becomes, before anybody unfolds it for good: its parts, its cells and its texts.
#
# An .xlsx and an .ods file are zip folders of XML. A few bytes can say that a cell stands in the last row and column,
# or that a long text stands in a million cells, and readers make room for all of it. So the parts are unfolded here
# first, each no further than the folder says, and the places and texts of cells are counted; every figure is at least
# the true one. An .xls file is not compressed; ``workbooks`` opens it in a process of its own first.


ZIP = b"PK\x03\x04"
"""How a zip folder begins."""
MOST_SHEET_CELLS = 16_000_000
"""How many cells a sheet may have, empty ones among them counted."""
_STRINGS = re.compile(r"xl/sharedStrings\.xml", re.IGNORECASE)
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_COLUMN = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,7})\d""")
_ROW = re.compile(rb"""\br\s*=\s*["'][A-Za-z]{0,7}(\d{1,9})""")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>\s*([^<]*)")
_REPEATED = ("table:number-columns-repeated", "table:number-rows-repeated")


def sheet_sizes(data: bytes) -> Sizes:
    """The size of the largest sheet, and what all parts and texts unfold to; a ``ValueError`` where it is broken."""
    if not data.startswith(ZIP):
        return Sizes(columns=256, rows=1, unfolded=len(data))
    parts = dict(_parts(data))
    unfolded = sum(map(len, parts.values()))
    if "content.xml" in parts:
        rows, columns = _OpenSheet().extent(parts["content.xml"])
        return Sizes(columns=columns, rows=rows, unfolded=unfolded)
    texts = _texts(next((part for name, part in parts.items() if _STRINGS.fullmatch(name)), b""))
    sheets = [part for name, part in parts.items() if _SHEET.fullmatch(name)]
    if any(part.startswith((b"\xff\xfe", b"\xfe\xff")) for part in sheets):
        raise ValueError("a sheet of it is not written in UTF-8")
    extents = [_extent(part) for part in sheets] or [(0, 0)]
    rows, columns = max(extents, key=lambda extent: extent[0] * extent[1])
    return Sizes(
        columns=columns, rows=rows, unfolded=unfolded + max((_said(part, texts) for part in sheets), default=0)
    )


def _parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The parts of a zip folder, unfolded one by one; ``ValueError`` beyond the limit."""
    try:
        folder = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeError, OverflowError) as fault:
        raise ValueError(str(fault)) from None
    left = most_unfolded(len(data))
    for part in folder:
        left -= part.file_size
        if left < 0:
            raise ValueError(f"{len(data):,} bytes unfold to more than {most_unfolded(len(data)):,}, which are read")
        yield part.filename, _unfolded(data, part)


def _unfolded(data: bytes, part: zipfile.ZipInfo) -> bytes:
    """One part; the folder may not say that it is smaller than it is."""
    at = part.header_offset
    if data[at : at + 4] != ZIP or part.flag_bits & 1 or part.compress_type not in (0, 8):
        raise ValueError(f"the part {part.filename!r} is encrypted or packed in an unusual way")
    name, more = struct.unpack_from("<HH", data, at + 26)
    packed = data[at + 30 + name + more :][: part.compress_size]
    try:
        content = packed if part.compress_type == 0 else zlib.decompressobj(-15).decompress(packed, part.file_size + 1)
    except zlib.error as fault:
        raise ValueError(f"the part {part.filename!r} is broken ({fault})") from None
    if len(content) != part.file_size:
        raise ValueError(f"the part {part.filename!r} has not the {part.file_size:,} bytes that it says")
    return content


def _extent(sheet: bytes) -> tuple[int, int]:
    """How many rows and columns a sheet has at most, from its first cell on."""
    names = _COLUMN.findall(sheet)
    columns = max((_place(name) for name in set(names)), default=0)
    rows = max(map(int, set(_ROW.findall(sheet))), default=0)
    cells, lines = len(re.findall(rb"<(?:\w+:)?c[\s/>]", sheet)), len(re.findall(rb"<(?:\w+:)?row[\s/>]", sheet))
    if cells > len(names):  # cells that do not say where they stand follow each other
        columns += max(len(re.findall(rb"<(?:\w+:)?c[\s/>]", row)) for row in re.split(rb"<(?:\w+:)?row[\s/>]", sheet))
    return (max(rows, lines) if rows <= lines else rows + lines * (cells > len(names))), columns


def _place(name: bytes) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in name.upper():
        number = number * 26 + letter - 64
    return number


def _texts(strings: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many bytes each shared text takes, at most."""
    starts = [match.start() for match in re.finditer(rb"<(?:\w+:)?si[\s/>]", strings)]
    return np.diff(np.array([*starts, len(strings)], np.int64)) if starts else np.zeros(0, np.int64)


def _said(sheet: bytes, texts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    """How many bytes the shared texts of all cells take, at most: a number may be that of a text."""
    if not len(texts):
        return 0
    values = _VALUE.findall(sheet)
    numbers = [int(value) for value in values if value.strip().isdigit() and len(value) < 10]
    odd = sum(b"&" in value or not value for value in values)
    held = np.bincount(np.array(numbers, np.int64), minlength=len(texts))[: len(texts)] if numbers else 0
    return int((held * texts).sum()) + odd * int(texts.max())


class _OpenSheet:
    """The extent of the largest sheet of an .ods file, up to its last cell that is not empty."""

    def __init__(self) -> None:
        self.row = self.column = self.rows = self.columns = self.last = 0
        self.largest, self.times, self.here, self.full = (0, 0), 1, 1, False

    def extent(self, content: bytes) -> tuple[int, int]:
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(content, True)
        except (expat.ExpatError, LookupError, ValueError) as fault:
            raise ValueError(f"its content is broken ({fault})") from None
        return self.largest

    def _refuse(self, *_: object) -> None:
        raise ValueError("it declares a document type")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "table:table":
            self.row = self.rows = self.columns = 0
        elif tag == "table:table-row":
            self.times, self.column, self.last = int(attributes.get(_REPEATED[1], 1)), 0, 0
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self.here, self.full = int(attributes.get(_REPEATED[0], 1)), "office:value-type" in attributes

    def _text(self, text: str) -> None:
        self.full = True

    def _end(self, tag: str) -> None:
        if tag in ("table:table-cell", "table:covered-table-cell"):
            self.column += self.here
            self.last = self.column if self.full else self.last
        elif tag == "table:table-row":
            self.row += self.times
            if self.last:
                self.rows, self.columns = self.row, max(self.columns, self.last)
        elif tag == "table:table":
            self.largest = max(self.largest, (self.rows, self.columns), key=lambda extent: extent[0] * extent[1])


# Cells of programs that know one kind of number only: whole numbers and days are shown as what they are.


_EXACT = 2**53
"""Whole numbers up to here are exact in 64 bits of floating point."""


def plain_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of whole numbers become integers, times at midnight dates, columns without any value texts.

    >>> plain_types(pl.DataFrame({"age": [31.0, None], "pay": [1.5, 2.0], "x": [None, None]})).dtypes
    [Int64, Float64, String]
    """
    return frame.with_columns(_plain(frame[name]) for name in frame.columns)


def _plain(cells: pl.Series) -> pl.Series:
    if cells.dtype == pl.Null:
        return cells.cast(pl.String)
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        whole = bool(((cells == cells.round()) & (cells.abs() <= _EXACT)).all())
        return cells.cast(pl.Int64) if whole else cells
    return cells.dt.date() if isinstance(cells.dtype, pl.Datetime) and not has_times(cells) else cells


# Sheets of Excel and OpenDocument workbooks, read with fastexcel.
#
# The first row that is not empty names the columns. A blank name is the name on its left with a number, for that is
# how a merged cell looks from below; without one it is that of its place. Columns without a name and without a value,
# and rows without a value, are no part of the table.


def sheet_frame(data: bytes, *, sheet: str | int | None, header: bool, where: str) -> pl.DataFrame:
    """The frame in a sheet, by its name or its number from 1 on; without either the only sheet that has cells."""
    module = extra("fastexcel", f"reading {where}")
    for name in ("fastexcel", "calamine"):  # what they would say on standard error, the refusal says
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _refuse_large(data, where)
    try_reading("workbook", data)
    try:
        book = module.read_excel(data)
        name = _sheet(book, sheet, where)
        first = _loaded(book, name, header_row=None, n_rows=1, dtypes="string")
        if not first.width:
            raise DataError(f"{where}: the sheet {name!r} is empty; a header and rows were expected")
        frame = _loaded(book, name, header_row=0 if header else None, schema_sample_rows=None)
    except module.FastExcelError as fault:
        raise ValueError(str(fault)) from None
    frame.columns = checked_names(_names([cell if header else None for cell in first.row(0)]), where=where)
    kept = [name for name, heading in zip(frame.columns, first.row(0), strict=True) if heading or _full(frame[name])]
    frame = plain_types(frame.select(kept).filter(~pl.all_horizontal(pl.all().is_null())))
    refuse_long_texts(frame, where=where)
    return frame


def _loaded(book: Any, name: str, **options: Any) -> pl.DataFrame:
    return pl.DataFrame(book.load_sheet(name, **options).to_polars())


def _full(cells: pl.Series) -> bool:
    return cells.null_count() < len(cells)


def _names(headings: list[str | None]) -> list[str]:
    """What the columns are called.

    >>> _names([None, "blood", None, " ", "age"])
    ['column_1', 'blood', 'blood_2', 'blood_3', 'age']
    """
    names: list[str] = []
    left, many = "", 1
    for place, name in enumerate(headings, 1):
        if name is not None and name.strip():
            left, many = name, 1
            names.append(name)
        else:
            many += 1
            names.append(f"{left}_{many}" if left else f"column_{place}")
    return names


def _refuse_large(data: bytes, where: str) -> None:
    """Refuse a workbook that becomes more than its limits."""
    sizes, most = sheet_sizes(data), max(MOST_SHEET_CELLS, len(data))
    if sizes.rows * sizes.columns > most:
        raise DataError(
            f"{where}: a sheet reaches to row {sizes.rows:,} and column {sizes.columns:,}; at most {most:,} cells are "
            "read; remove what stands far away from the table, or write the sheet as CSV"
        )
    refuse_many(sizes.columns if data.startswith(ZIP) else 0, where=where)
    if sizes.unfolded > most_unfolded(len(data)):
        raise DataError(
            f"{where}: {len(data):,} bytes unfold to {sizes.unfolded:,}; at most {most_unfolded(len(data)):,} are read"
        )


def _sheet(book: Any, sheet: str | int | None, where: str) -> str:
    """The name of the sheet that was asked for."""
    names: list[str] = book.sheet_names
    listing = ", ".join(f"{at} {name!r}" for at, name in enumerate(names, 1)) or "none"
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if isinstance(sheet, int) and 1 <= sheet <= len(names):
        return names[sheet - 1]
    if sheet is not None:
        raise DataError(f"{where}: there is no sheet {sheet!r}; its sheets are {listing}")
    full = [name for name in names if book.load_sheet(name, header_row=None, n_rows=1).width]
    if len(full) > 1:
        raise DataError(f"{where}: several sheets have cells; say which by name or number (sheet, --sheet): {listing}")
    if not full:
        raise DataError(f"{where}: no sheet has cells; a header and rows were expected")
    return full[0]
