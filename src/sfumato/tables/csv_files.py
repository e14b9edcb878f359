"""Read and write CSV: delimiters, quotes, heads, broken lines, and cells that look like formulas."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.core.input_files import BYTES_TO_A_CELL, GZIP, MOST_CELLS, MOST_FIELD, opened
from sfumato.tables.table import ENCODED, TEXTS, checked_names, infer_kind, numbers_of, refuse_long_texts, refuse_many

if TYPE_CHECKING:
    from _csv import Reader


# How a CSV text is divided: its delimiter, its quote, and the records at its head.


DELIMITERS = (",", ";", "\t", "|")
_HEAD = 65_536
_SAMPLE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How fields are divided and quoted; both marks are single ASCII characters."""

    delimiter: str
    """What stands between two fields."""
    quote: str | None = '"'
    """What a field with delimiters or line ends in it is wrapped in; None when nothing is wrapped."""
    trim: bool = False
    """Whether blanks around a field are dropped."""

    def __post_init__(self) -> None:
        """Refuse marks that no parser can use."""
        check_mark("delimiter", self.delimiter)
        if self.quote is not None:
            check_mark("quote", self.quote)
        if self.delimiter == self.quote:
            raise ParameterError(f"delimiter and quote must differ, both are {self.quote!r}")

    def records(self, text: str, *, strict: bool = False) -> Reader:
        """The records of the text, one list of fields each; a blank line gives an empty list."""
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            skipinitialspace=self.trim and self.delimiter != " ",
            strict=strict,
        )


def check_mark(name: str, mark: object) -> None:
    """A single ASCII character that ends no line, or a refusal."""
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in "\r\n":
        hint = '; fields divided by ", " are read with delimiter="," and trim=True' if mark == ", " else ""
        raise ParameterError(f"{name} must be a single ASCII character, not {mark!r}{hint}")


def first_record(text: str, dialect: Dialect, *, where: str) -> list[str]:
    """The fields of the first record; a blank line has one, and it is empty."""
    try:
        reader = dialect.records(text[:_HEAD])
        first = next(reader, [])
        if len(text) > _HEAD and next(reader, None) is None:
            first = next(dialect.records(text), [])
        return first or [""]
    except csv.Error as fault:
        raise DataError(f"{where}, line 1: the record cannot be read ({fault}); is a quote left open?") from None


def sniff(text: str, *, quote: str | None) -> str:
    r"""The delimiter that divides the head of the text best; a comma when none divides its first line.

    >>> sniff('name;"a, b, c"\nx;1,5\n', quote='"')
    ';'
    """
    lines = _bare_head(text, quote)
    return max(_others(quote), key=lambda mark: _fit(lines, mark))


def refuse_undivided(text: str, dialect: Dialect, *, where: str) -> None:
    """A text that is one column under this dialect is refused when another delimiter divides it evenly."""
    if len(first_record(text, dialect, where=where)) > 1:
        return
    lines = _bare_head(text, dialect.quote)
    for mark in _others(dialect.delimiter, dialect.quote):
        even, width = _fit(lines, mark)
        if even:
            raise DataError(
                f"{where}: delimiter {dialect.delimiter!r} gives a single column, "
                f"delimiter={mark!r} would give {width} columns"
            )


def _others(*taken: str | None) -> list[str]:
    return [mark for mark in DELIMITERS if mark not in taken]


def _bare_head(text: str, quote: str | None) -> list[str]:
    """The first lines, with a letter in place of every quoted field, so that all marks left do divide."""
    part = text[:_HEAD]
    if quote is not None:
        q, marks = re.escape(quote), re.escape("".join(DELIMITERS))
        quoted = rf"(^|[{marks}]) *{q}(?:[^{q}]|{q}{q})*{q}(?= *(?:[{marks}]|\r?$))"
        part = re.sub(quoted, r"\1x", part, flags=re.MULTILINE)
    lines = part.split("\n")
    return lines[: max(1, min(_SAMPLE, len(lines) - (len(text) > _HEAD)))]


def _fit(lines: Sequence[str], mark: str) -> tuple[bool, int]:
    """Whether nine in ten lines have as many fields as the first, and how many that is."""
    widths = [line.count(mark) + 1 for line in lines]
    return widths[0] > 1 and widths.count(widths[0]) >= 0.9 * len(widths), widths[0]


# What is wrong with a CSV text, and at which line; slow, and used only when the fast way fails.


_PART = 1_000_000
"""So many cells are held as texts of their own, which take many times what they say, before they become columns."""


def decode(data: bytes, encoding: str, *, where: str) -> str:
    """The text of the bytes without a byte order mark, or a refusal that says which byte is not valid."""
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        byte = data[fault.start : fault.start + 1].hex()
        raise DataError(
            f"{where}: byte 0x{byte} at offset {fault.start} (line {line}) is not valid {encoding}; "
            f"{_other_encoding(data)} may do"
        ) from None


def _other_encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return 'encoding="utf-16"'
    return 'encoding="latin-1" or encoding="cp1252"'


def read_carefully(text: str, dialect: Dialect, *, width: int, header: bool, where: str) -> pl.DataFrame:
    """The cells of the text, or a refusal that names the first line that does not fit the others."""
    reader = dialect.records(text, strict=True)
    schema = {f"column_{i}": pl.String for i in range(width)}
    parts, rows = [pl.DataFrame(schema=schema)], list[list[str]]()
    line = 1
    try:
        for record in reader:
            fields = record or [""] * (width == 1)
            if len(fields) != width:
                raise DataError(f"{where}, line {line}: {_ragged(fields, width, dialect)}")
            rows.append(fields)
            line = reader.line_num + 1
            if len(rows) * width > _PART:
                parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
                rows = []
    except csv.Error as fault:
        raise DataError(f"{where}, line {line}: {_broken(str(fault), dialect)}") from None
    whole = pl.concat([*parts, pl.DataFrame(rows, schema=schema, orient="row")])
    return whole[1:] if header else whole


def _ragged(fields: list[str], width: int, dialect: Dialect) -> str:
    if not fields:
        return f"a blank line, expected {width} fields; remove the line"
    return (
        f"fields found: {len(fields)}, expected: {width} (delimiter {dialect.delimiter!r}); "
        "wrap a field that contains the delimiter in quotes, or complete the row"
    )


def _broken(fault: str, dialect: Dialect) -> str:
    if "unexpected end" in fault:
        return f"a quote {dialect.quote} that opens here is never closed; close it, or read with quote=None"
    if "expected after" in fault:
        return f"text follows a closing quote {dialect.quote}; double it inside a field, or read with quote=None"
    return f"the record cannot be read ({fault})"


# CSV texts in and out. Every cell is text: nothing is guessed, nothing turns into a null.


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
    output = io.BytesIO()
    output.write(f"{heading}\n".encode())
    frame.write_csv(output, include_header=False, separator=delimiter, null_value=absent)
    return output.getvalue()


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


# Whether the first line of a text file names the columns, from the first lines alone.
#
# A line is taken for data only where its cells look like those below: numbers and dates among numbers and dates,
# within their range, or texts that come again in their column. Names that count up, such as years, are names.


_BYTES = 2**18
_LINES = 400
_TEXTS = ("text", "category")
_STRING = pl.String()
_ALIKE, _AGAIN, _UNLIKE, _NAME = 1, 2, -1, -2
"""A number among numbers; a text that comes again; a text unlike the few below it; a text over numbers or dates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the first lines of a text file tell about how it is to be read."""

    header: bool
    """Whether the first line names the columns."""
    trim: bool
    """Whether blanks follow the delimiters throughout."""


def read_head(path: Path, *, delimiter: str | None, encoding: str = "utf-8", trim: bool = False) -> Head | None:
    """The head of a text file; None where it cannot be looked at, for the reader says why."""
    try:
        text = _first_lines(path).decode(encoding, errors="replace")
        dialect = Dialect(delimiter=delimiter or sniff(text, quote='"'))
        records = [record for _, record in zip(range(_LINES), dialect.records(text), strict=False) if record]
    except (OSError, EOFError, LookupError, csv.Error, zlib.error, DataError):
        return None
    if len(records) < 2:
        return None
    blank = _blank(records)
    return Head(header=not _is_data(records), trim=blank and not trim)


def _first_lines(path: Path) -> bytes:
    """The whole lines at the beginning of a file, without a byte order mark."""
    with opened(path) as file:
        data = file.read(_BYTES)
    if data.startswith(GZIP):
        data = zlib.decompressobj(wbits=31).decompress(data, _BYTES)
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data[: data.rfind(b"\n") + 1] or data


def _blank(records: Sequence[Sequence[str]]) -> bool:
    """Whether every cell but the first of nearly every line begins with a blank."""
    cells = [cell for record in records for cell in record[1:]]
    return bool(cells) and sum(cell[:1] == " " for cell in cells) > 0.95 * len(cells)


def _is_data(records: Sequence[Sequence[str]]) -> bool:
    first, *rest = [[cell.strip() for cell in record] for record in records]
    rows = [record for record in rest if len(record) == len(first)]
    if len(rows) < 2 or _counts_up(first) or not all(first):
        return False
    votes = [_vote(name, [row[place] for row in rows]) for place, name in enumerate(first)]
    alike, again, unlike = votes.count(_ALIKE), votes.count(_AGAIN), votes.count(_UNLIKE)
    if _NAME in votes:
        return False
    return alike + again >= max(1, len(votes) // 2) and (not unlike or again >= max(3, 2 * unlike))


def _vote(name: str, below: Sequence[str]) -> int:
    """Whether a cell looks like those below it, or like their name; 0 where nobody can say."""
    values = sorted({cell for cell in below if cell})
    if not values:
        return 0
    kind = infer_kind(values, _STRING)
    mine = infer_kind([name], _STRING)
    if kind in _TEXTS:
        few = len(values) * 5 < len(below) and mine == "text"
        return _AGAIN if below.count(name) >= 2 else _UNLIKE if few else 0
    if mine in _TEXTS:
        return _NAME
    if (mine == "date") != (kind == "date"):
        return 0
    numbers, own = numbers_of("", values, kind), numbers_of("", [name], mine)[0]
    return _ALIKE if numbers.min() <= own <= numbers.max() else 0


def _counts_up(names: Sequence[str]) -> bool:
    """Whether the numbers among names follow each other in equal steps, as years and places do."""
    numbers = [int(name) for name in names if re.fullmatch(r"\d{1,9}", name)]
    steps = {b - a for a, b in pairwise(numbers)}
    return steps == {1} or (len(numbers) > 2 and len(steps) == 1 and 0 not in steps)


# Cells that a spreadsheet would run as formulas, and their escaping in CSV.
#
# A CSV file is data: by default its bytes are what the data say. A spreadsheet all the same takes a cell that begins
# with ``=``, ``+``, ``-`` or ``@`` (also their wide forms), or with a tab or a line end before one, for a formula.
# Escaping puts an apostrophe before such a text, and before one that begins with apostrophes and goes on like that: so
# two texts never become one, and the escaping can be undone. Plain numbers such as -5 are left alone.
#
# Source: OWASP, CSV Injection (https://owasp.org/www-community/attacks/CSV_Injection).


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
    distinct = [
        column.unique() if column.dtype in ENCODED else column
        for column in frame.iter_columns()
        if column.dtype in TEXTS
    ]
    texts = [column.cast(pl.String) for column in distinct]
    cells = [column.name for column in texts if bool((_formulas(column) & ~column.str.starts_with(_MARK)).any())]
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
    columns = []
    for column in _texts(frame):
        risky, texts = pl.lit(_formulas(column)), pl.lit(column)
        columns.append(pl.when(risky).then(cell(texts)).otherwise(texts).alias(column.name))
    return frame.with_columns(columns).rename({old: name(old) for old in frame.columns})


def _texts(frame: pl.DataFrame) -> list[pl.Series]:
    return [column.cast(pl.String) for column in frame.iter_columns() if column.dtype in TEXTS]


def _formulas(cells: pl.Series) -> pl.Series:
    return (cells.str.contains(_RISKY) & ~cells.str.contains(f"^{_HARMLESS}$")).fill_null(value=False)
