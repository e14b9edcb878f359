"""How large a workbook becomes, before anybody unfolds it for good: its parts, its cells and its texts.

An .xlsx and an .ods file are zip folders of XML. A few bytes can say that a cell stands in the last row and column, or
that a long text stands in a million cells, and readers make room for all of it. So the parts are unfolded here first,
each no further than the folder says, and the places and texts of cells are counted; every figure is at least the true
one. An .xls file is not compressed; ``workbooks`` opens it in a process of its own first.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from xml.parsers import expat

import numpy as np

from sfumato.data.parquet_sizes import Sizes
from sfumato.ground.limits import most_unfolded

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
        found = packed if part.compress_type == 0 else zlib.decompressobj(-15).decompress(packed, part.file_size + 1)
    except zlib.error as fault:
        raise ValueError(f"the part {part.filename!r} is broken ({fault})") from None
    if len(found) != part.file_size:
        raise ValueError(f"the part {part.filename!r} has not the {part.file_size:,} bytes that it says")
    return found


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
    found = 0
    for letter in name.upper():
        found = found * 26 + letter - 64
    return found


def _texts(strings: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many bytes each shared text takes, at most."""
    starts = [one.start() for one in re.finditer(rb"<(?:\w+:)?si[\s/>]", strings)]
    return np.diff(np.array([*starts, len(strings)], np.int64)) if starts else np.zeros(0, np.int64)


def _said(sheet: bytes, texts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    """How many bytes the shared texts of all cells take, at most: a number may be that of a text."""
    if not len(texts):
        return 0
    values = _VALUE.findall(sheet)
    numbers = [int(one) for one in values if one.strip().isdigit() and len(one) < 10]
    odd = sum(b"&" in one or not one for one in values)
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

    def _start(self, tag: str, said: dict[str, str]) -> None:
        if tag == "table:table":
            self.row = self.rows = self.columns = 0
        elif tag == "table:table-row":
            self.times, self.column, self.last = int(said.get(_REPEATED[1], 1)), 0, 0
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self.here, self.full = int(said.get(_REPEATED[0], 1)), "office:value-type" in said

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
