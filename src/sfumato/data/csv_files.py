"""CSV texts in and out. Every cell is text: nothing is guessed, nothing turns into a null."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import polars as pl

from sfumato.data.csv_faults import decode, read_carefully
from sfumato.data.csv_shape import DELIMITERS, Dialect, check_mark, first_record, refuse_undivided, sniff
from sfumato.data.names import checked_names, refuse_long_texts, refuse_many
from sfumato.ground.errors import DataError
from sfumato.ground.limits import BYTES_TO_A_CELL, MOST_CELLS, MOST_FIELD

MARKED = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
_BLANK_ENDS = (b"\n\n", b"\n\r\n", b"\r", b"\r\r\n")


def parse_csv(
    data: bytes,
    *,
    where: str,
    delimiter: str | None = None,
    quote: str | None = '"',
    encoding: str = "utf-8",
    header: bool = True,
    names: Sequence[str] | None = None,
    trim: bool = False,
) -> pl.DataFrame:
    """The cells of a CSV file as text, or a refusal that says what is wrong and where."""
    text = _without_blank_end(decode(data, encoding, where=where), trim=trim)
    if not text:
        raise DataError(f"{where}: the file has only blank lines; a header and rows were expected")
    mark = sniff(text, quote=quote) if delimiter is None else delimiter
    dialect = Dialect(delimiter=mark, quote=quote, trim=trim)
    refuse_undivided(text, dialect, where=where)
    _refuse_cells(text, dialect, where=where)
    text = _without_blanks_around_quotes(text, dialect)
    first = first_record(text, dialect, where=where)
    called = heading(first, header=header, names=names, trim=trim, where=where)
    same = data if encoding.lower() in ("utf-8", "utf8") and _as_it_is(data) and not trim else None
    frame = _cells(text, same, dialect, first, header=header, where=where)
    frame.columns = called
    if len(text) > MOST_FIELD:
        refuse_long_texts(frame, where=where)
    return frame.with_columns(pl.all().str.strip_chars()) if trim else frame


def usual_cells(cells: int, size: int) -> bool:
    """Whether a text of so many bytes may have so many cells."""
    return cells <= max(MOST_CELLS, size // BYTES_TO_A_CELL)


def _refuse_cells(text: str, dialect: Dialect, *, where: str) -> None:
    """Refuse a text of nearly nothing but marks: its cells would take many times what it takes."""
    cells = text.count(dialect.delimiter) + text.count("\n")
    if not usual_cells(cells, len(text)):
        raise DataError(f"{where}: about {cells:,} cells, most of them empty; at most {MOST_CELLS:,} are read")


def render_csv(frame: pl.DataFrame, *, delimiter: str) -> bytes:
    r"""The frame as UTF-8 with LF line ends, quoted where needed; reading it back gives the same texts.

    >>> render_csv(pl.DataFrame({"zip": ["02139", ""], "a;b": ["x, y", "z"]}), delimiter=",")
    b'zip,"a;b"\n02139,"x, y"\n"",z\n'
    """
    check_mark("delimiter", delimiter)
    heading = delimiter.join(_quoted_name(name, delimiter) for name in frame.columns)
    absent = '""' if frame.width == 1 else ""
    made = io.BytesIO()
    made.write(f"{heading}\n".encode())
    frame.write_csv(made, include_header=False, separator=delimiter, null_value=absent)
    return made.getvalue()


def _quoted_name(name: str, delimiter: str) -> str:
    """Names with any usual delimiter are quoted, so that the delimiter can be told from the header."""
    marks = {*DELIMITERS, delimiter, '"', "\r", "\n", "\ufeff"}
    return '"' + name.replace('"', '""') + '"' if not name or marks & set(name) else name


def _without_blank_end(text: str, *, trim: bool) -> str:
    """The text without blank lines at its end; lone carriage returns end lines if nothing else does."""
    text = text.rstrip(" \r\n" if trim else "\r\n")
    return text if "\n" in text or '"' in text else text.replace("\r", "\n")


def heading(first: list[str], *, header: bool, names: Sequence[str] | None, trim: bool, where: str) -> list[str]:
    """What the columns are called, by the first record and by what was said; names that cannot be used are refused."""
    refuse_many(len(first), where=where)
    return checked_names(_names(first, header=header, names=names, trim=trim, where=where), where=where)


def _names(first: list[str], *, header: bool, names: Sequence[str] | None, trim: bool, where: str) -> list[str]:
    width = len(first)
    if names is not None:
        if len(names) != width:
            raise DataError(f"{where}: names given: {len(names)}, columns: {width}; give one name per column")
        return list(names)
    if not header:
        return [f"column_{i}" for i in range(1, width + 1)]
    return [name.strip() if trim else name for name in first]


def _as_it_is(data: bytes) -> bool:
    """Whether nothing has to be taken off the bytes: no byte order mark, no blank lines at the end, plain line ends."""
    return not data.startswith(MARKED) and not data.endswith(_BLANK_ENDS) and b"\n" in data


def _cells(
    text: str, same: bytes | None, dialect: Dialect, first: list[str], *, header: bool, where: str
) -> pl.DataFrame:
    """The cells below the header, under names that do not matter yet; ``same`` are the text's bytes, if at hand."""
    width = len(first)
    frame = _read_fast(text.encode() if same is None else same, dialect, header=header)
    if frame is None or frame.width != width or _is_short(text, dialect, first, frame, header=header):
        return read_carefully(text, dialect, width=width, header=header, where=where)
    return frame.fill_null("")


def _without_blanks_around_quotes(text: str, dialect: Dialect) -> str:
    """The text with quoted fields moved up to their delimiters; a parser sees a quote only there."""
    if not dialect.trim or dialect.delimiter == " " or dialect.quote is None:
        return text
    if f" {dialect.quote}" not in text and f"{dialect.quote} " not in text:
        return text
    quote, mark = re.escape(dialect.quote), re.escape(dialect.delimiter)
    field = rf"(^|{mark}) *({quote}(?:[^{quote}]|{quote}{quote})*{quote}) *(?={mark}|\r?$)"
    return re.sub(field, r"\1\2", text, flags=re.MULTILINE)


def _read_fast(data: bytes, dialect: Dialect, *, header: bool) -> pl.DataFrame | None:
    """The cells with null for an empty field, or None when the parser refuses the text."""
    try:
        return pl.read_csv(
            data,
            has_header=header,
            separator=dialect.delimiter,
            quote_char=dialect.quote,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError:
        return None


def _is_short(text: str, dialect: Dialect, first: list[str], frame: pl.DataFrame, *, header: bool) -> bool:
    """Whether some row has too few fields (the fast parser fills it up, but refuses too many)."""
    if not frame.width or not frame[:, -1].null_count():
        return False
    mark = dialect.delimiter
    inside = frame.select(pl.all().str.count_matches(mark, literal=True).sum()).sum_horizontal().sum()
    named = sum(name.count(mark) for name in first) if header else 0
    return text.count(mark) != (frame.height + header) * (frame.width - 1) + int(inside) + named
