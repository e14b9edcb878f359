"""Large CSV files of the plain sort, block by block: their cells become categories, and the text is never held whole.

A plain file has no quotes and no blank lines, every record on a line of its own with as many fields as the first. What
is not plain, or not to be read at all, is left to ``csv_files``, which also says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.input_files import GZIP, MOST_FIELD, PACKED, opened
from sfumato.tables.csv_files import MARKED, Dialect, first_record, heading, refuse_undivided, sniff, usual_cells

LARGE = 2**25
"""Files of fewer bytes are read as a whole."""
BLOCK = 2**24
"""How many bytes are looked at together."""
_HEAD = 2**18
_END = ord("\n")


def packed_csv(
    path: Path,
    *,
    where: str,
    delimiter: str | None,
    quote: str | None,
    encoding: str,
    header: bool,
    names: Sequence[str] | None,
    trim: bool,
) -> pl.DataFrame | None:
    """The cells of a large plain file as categories; None for every other file.

    Claim: the texts are those that ``parse_csv`` gives.
    """
    if encoding.lower() not in ("utf-8", "utf8") or path.suffix.lower() in PACKED:
        return None
    try:
        if os.path.getsize(path) < LARGE:
            return None
        with opened(path) as file:
            head = file.read(_HEAD).removeprefix(MARKED)
            if head.startswith(GZIP) or b"\n" not in head:
                return None
            text = head[: head.rindex(b"\n")].decode()
            dialect = Dialect(delimiter=delimiter or sniff(text, quote=quote), quote=quote, trim=trim)
            refuse_undivided(text, dialect, where=where)
            first = first_record(text, dialect, where=where)
            called = heading(first, header=header, names=names, trim=trim, where=where)
            file.seek(0)
            return _whole(file, dialect, called, header=header)
    except (OSError, UnicodeDecodeError, DataError, ParameterError):
        return None  # whatever is wrong with it, the other reader says what


def _whole(file: BufferedReader, dialect: Dialect, names: Sequence[str], *, header: bool) -> pl.DataFrame | None:
    parts, cells, size = [], 0, 0
    for number, block in enumerate(_blocks(file)):
        part = _cells(block, dialect, names, header=header and not number)
        if part is None:
            return None
        cells, size = cells + part.height * part.width, size + len(block)
        parts.append(part)
    return pl.concat(parts, rechunk=True) if parts and usual_cells(cells, size) else None


def _blocks(file: BufferedReader) -> Iterator[bytes]:
    """Whole lines, about so many bytes at a time; a byte order mark is left out."""
    left, first = b"", True
    while more := file.read(BLOCK):
        block = left + (more.removeprefix(MARKED) if first else more)
        first, end = False, block.rfind(b"\n") + 1
        left = block[end:]
        if len(left) > 2 * BLOCK:
            raise DataError("a line without end")
        if end:
            yield block[:end]
    if left:
        yield left


def _cells(block: bytes, dialect: Dialect, names: Sequence[str], *, header: bool) -> pl.DataFrame | None:
    """The cells of some lines; None if they are not plain."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if b"\r" in block or (dialect.quote is not None and dialect.quote.encode() in block):
        return None
    if header:
        block = block[block.index(b"\n") + 1 :]
    lines = _even_lines(block, dialect.delimiter, len(names))
    if lines is None:
        return None
    try:
        cells = pl.read_csv(
            block,
            has_header=False,
            separator=dialect.delimiter,
            quote_char=dialect.quote,
            infer_schema=False,
            new_columns=list(names),
        )
    except pl.exceptions.PolarsError:
        return None
    if cells.shape != (lines, len(names)) or cells.columns != list(names):
        return None
    texts = cells.fill_null("").with_columns(pl.all().str.strip_chars()) if dialect.trim else cells.fill_null("")
    longest = texts.select(pl.all().str.len_bytes().max()).max_horizontal()[0]
    return None if longest > MOST_FIELD else texts.with_columns(pl.all().cast(pl.Categorical))


def _even_lines(block: bytes, delimiter: str, fields: int) -> int | None:
    """How many lines there are; None if one is blank, or if they have not as many delimiters as so many fields need."""
    seen = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(seen == _END)
    lines = len(ends) + (not block.endswith(b"\n"))
    mark = delimiter.encode()
    many = np.count_nonzero(seen == mark[0]) if len(mark) == 1 else block.count(mark)
    blank = block.startswith(b"\n") or bool((np.diff(ends) == 1).any())
    return None if blank or many != lines * (fields - 1) else lines
