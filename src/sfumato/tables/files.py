"""Read and write tables in files: the file formats, their options, and sets one per line."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.arguments import one_of
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.input_files import (
    BROKEN,
    CELLS_TO_A_BYTE,
    MOST_CELLS,
    PACKED,
    NoReader,
    TooLarge,
    is_packed,
    most_unfolded,
    read_whole,
    unpacked,
)
from sfumato.tables.columnar_sizes import Sizes, arrow_sizes, parquet_sizes
from sfumato.tables.csv_files import parse_csv, render_csv
from sfumato.tables.isolated_readers import try_reading
from sfumato.tables.large_csv import packed_csv
from sfumato.tables.table import Table, checked_names, refuse_long, refuse_long_texts, refuse_many

# JSON lines: one object on each line, a column for each key.


def json_frame(data: bytes, *, where: str) -> pl.DataFrame:
    """The frame in a file of JSON lines; a key that a line does not have is a missing value there.

    The keys are read first: a long list of keys on one line would else make a cell for each on every other line.
    """
    try_reading("json-lines", data, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data)))
    columns = pl.scan_ndjson(io.BytesIO(data), infer_schema_length=None).collect_schema().names()
    refuse_many(len(columns), where=where)
    lines, most = data.count(b"\n") + 1, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data))
    if lines * len(columns) > most:
        raise DataError(f"{where}: {lines:,} lines of {len(columns):,} keys; at most {most:,} cells are read")
    frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    refuse_long_texts(frame, where=where)
    return frame.with_columns(pl.col(pl.Null).cast(pl.String))


# File formats: how the bytes of a table are read and written. Plugins bring more of them.


Options = Mapping[str, Any]
"""How text is read: delimiter, quote, encoding, header, names, trim; and ``where``, for messages. Formats with types
also get the ``sheet`` of a workbook, and ``labels``, whether labels take the place of codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format; a reader raises ``DataError`` or a Polars error for bytes that are not of it."""

    name: str
    """As ``format`` names it."""
    extensions: tuple[str, ...]
    """The ends of file names, with their dot."""
    read: Callable[[bytes, Options], pl.DataFrame]
    """The frame in some bytes."""
    write: Callable[[pl.DataFrame, str | None], bytes] | None = None
    """The bytes of a frame, with a delimiter where there is one; None if it can only be read."""
    large: Callable[[Path, Options], pl.DataFrame | None] | None = None
    """The frame in a large file that is read in pieces, or None where the whole file must be looked at."""
    text: bool = False
    """Whether cells are text without types; names and blanks are then the reader's own business."""


def _text(delimiter: str | None) -> Callable[[bytes, Options], pl.DataFrame]:
    def read(data: bytes, options: Options) -> pl.DataFrame:
        return parse_csv(data, **{**options, "delimiter": options["delimiter"] or delimiter})

    return read


def _large(delimiter: str | None) -> Callable[[Path, Options], pl.DataFrame | None]:
    def read(path: Path, options: Options) -> pl.DataFrame | None:
        return packed_csv(path, **{**options, "delimiter": options["delimiter"] or delimiter})

    return read


def _survey(reader: str) -> Callable[[bytes, Options], pl.DataFrame]:
    def read(data: bytes, options: Options) -> pl.DataFrame:
        from sfumato.tables.survey_files import survey_frame

        return survey_frame(data, reader=reader, labels=options.get("labels", True), where=options["where"])

    return read


def _workbook(data: bytes, options: Options) -> pl.DataFrame:
    from sfumato.tables.workbooks import sheet_frame

    header = options.get("header", True)
    return sheet_frame(data, sheet=options.get("sheet"), header=header, where=options["where"])


def parquet_frame(data: bytes, *, where: str = "the file") -> pl.DataFrame:
    """The frame in the bytes of a Parquet file; one that would become too large is refused before it is unfolded."""
    _refuse_large(parquet_sizes(data), data, where)
    try_reading("parquet", data)
    return _held(pl.read_parquet(io.BytesIO(data)), data, where)


def arrow_frame(data: bytes, *, where: str = "the file") -> pl.DataFrame:
    """The frame in the bytes of an Arrow file, under the same limits."""
    _refuse_large(arrow_sizes(data), data, where)
    try_reading("arrow", data)
    return _held(pl.read_ipc(io.BytesIO(data)), data, where)


def _refuse_large(sizes: Sizes, data: bytes, where: str) -> None:
    """Refuse a file that says that it becomes more than its limits."""
    refuse_many(sizes.columns, where=where)
    cells, many = sizes.rows * sizes.columns, max(MOST_CELLS, CELLS_TO_A_BYTE * len(data))
    if cells > many:
        raise DataError(
            f"{where}: {sizes.rows:,} rows of {sizes.columns:,} columns in {len(data):,} bytes; at most "
            f"{many:,} cells are read from a file of this size"
        )
    _refuse_unfolded(sizes.unfolded, data, where)


def _refuse_unfolded(size: int, data: bytes, where: str) -> None:
    if size > most_unfolded(len(data)):
        raise DataError(
            f"{where}: {len(data):,} bytes unfold to {size:,}; at most {most_unfolded(len(data)):,} are read"
        )


def _held(frame: pl.DataFrame, data: bytes, where: str) -> pl.DataFrame:
    """The frame, whose texts may stand in the file once and in very many cells."""
    lengths = frame.select(pl.col(pl.String).str.len_bytes())
    for name in lengths.columns:
        refuse_long(lengths[name], name, where=where)
    _refuse_unfolded(sum(int(lengths[name].cast(pl.Int64).sum()) for name in lengths.columns), data, where)
    return frame


def _arrow(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    into = io.BytesIO()
    frame.write_ipc(into)
    return into.getvalue()


def _parquet(frame: pl.DataFrame, delimiter: str | None) -> bytes:
    into = io.BytesIO()
    frame.write_parquet(into)
    return into.getvalue()


FORMATS = (
    Format(
        name="csv",
        extensions=(".csv", ".txt", ".data", ".test", ".dat"),
        read=_text(None),
        large=_large(None),
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or ","),
        text=True,
    ),
    Format(
        name="tsv",
        extensions=(".tsv", ".tab"),
        read=_text("\t"),
        large=_large("\t"),
        write=lambda frame, delimiter: render_csv(frame, delimiter=delimiter or "\t"),
        text=True,
    ),
    Format(
        name="parquet",
        extensions=(".parquet", ".pq"),
        read=lambda data, options: parquet_frame(data, where=options["where"]),
        write=_parquet,
    ),
    Format(
        name="arrow",
        extensions=(".arrow", ".feather", ".ipc"),
        read=lambda data, options: arrow_frame(data, where=options["where"]),
        write=_arrow,
    ),
    Format(
        name="json-lines",
        extensions=(".jsonl", ".ndjson"),
        read=lambda data, options: json_frame(data, where=options["where"]),
    ),
    Format(name="excel", extensions=(".xlsx", ".xlsm", ".xls", ".ods"), read=_workbook),
    Format(name="spss", extensions=(".sav", ".zsav"), read=_survey("read_sav")),
    Format(name="stata", extensions=(".dta",), read=_survey("read_dta")),
    Format(name="sas", extensions=(".sas7bdat",), read=_survey("read_sas7bdat")),
    Format(name="xport", extensions=(".xpt",), read=_survey("read_xport")),
)
"""The formats that come with the package."""


# Tables in files: CSV and TSV as text, all others with their types; each also compressed.


def read(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    quote: str | None = '"',
    encoding: str = "utf-8",
    header: bool = True,
    names: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    trim: bool = False,
    sheet: str | int | None = None,
    labels: bool = True,
    format: str | None = None,  # noqa: A002  the word every reader of tables uses
    formats: Iterable[Format] = FORMATS,
) -> Table:
    """The table in a file. Cells of CSV and TSV stay text as written; those of all other formats keep their types.

    Without ``delimiter``, the head of the file shows it. ``names`` replaces the header, or names the columns of a file
    that has none (``header=False``). ``missing`` lists the texts that mean no value: the cells keep them. ``trim``
    drops blanks around names and cells. ``sheet`` is that of a workbook, by name or number; with ``labels``, columns of
    SPSS and Stata show the labels of their codes. Without ``format``, the extension says which of ``formats`` it is.
    """
    where, kind = os.fspath(path), format_of(path, format, formats)
    marks, codec = _missing(missing), _codec(encoding)
    options: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "encoding": codec, "header": header}
    options |= {"where": where, "names": names, "trim": trim}
    typed = {"sheet": sheet, "labels": labels}
    if sheet is not None and kind.name != "excel":
        raise DataError(f"{where}: only workbooks have sheets, and this is {kind.name}; leave sheet out")
    frame = None if kind.large is None else kind.large(Path(path), options)
    if frame is None:
        data = content(Path(path), where=where)
        frame = kind.read(data, options) if kind.text else typed_frame(data, kind, {**options, **typed})
    if not frame.height:
        raise DataError(f"{where}: the file has a header (columns: {frame.width}) but no rows; at least one is needed")
    return Table(frame=frame, source=Path(path).name, missing=marks)


def write(
    frame: pl.DataFrame,
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    format: str | None = None,  # noqa: A002  as in read
) -> None:
    """The frame is in the file afterwards, as its extension says; equal frames give equal bytes.

    CSV is UTF-8 with LF line ends and quotes where needed; ``delimiter`` is a comma, in TSV a tab. A name
    that ends in ``.gz`` is compressed. A null becomes an empty field.
    """
    data = rendered(frame, path, delimiter=delimiter, format=format)
    try:
        Path(path).write_bytes(data)
    except OSError as fault:
        raise DataError(f"{os.fspath(path)}: cannot be written ({fault.strerror}); name a file that can be") from None


def rendered(
    frame: pl.DataFrame,
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    format: str | None = None,  # noqa: A002  as in read
) -> bytes:
    """The bytes that ``write`` puts into a file of this name."""
    where, kind = os.fspath(path), format_of(path, format, FORMATS)
    if kind.write is None:
        raise DataError(f"{where}: tables of format {kind.name} can be read, not written")
    try:
        data = kind.write(frame, delimiter)
    except pl.exceptions.PolarsError as fault:
        raise DataError(f"{where}: the table cannot be written as {kind.name} ({_first_line(fault)})") from None
    return gzip.compress(data, compresslevel=6, mtime=0) if where.lower().endswith(".gz") else data


def format_of(path: str | os.PathLike[str], named: str | None, formats: Iterable[Format]) -> Format:
    """The format that was named, or the one of the extension."""
    known = {file_format.name: file_format for file_format in formats}
    if named is not None:
        one_of("format", named, tuple(known))
        return known[named]
    by_end = {end: file_format for file_format in known.values() for end in file_format.extensions}
    ends = [end.lower() for end in Path(path).suffixes]
    end = next((end for end in reversed(ends) if end not in PACKED), "")
    if end not in by_end:
        raise DataError(
            f"{os.fspath(path)}: the extension {end or 'none'} is not known; known are "
            f"{', '.join(by_end)} (also with {', '.join(PACKED)}), or say format={' | '.join(map(repr, known))}"
        )
    return by_end[end]


def _missing(texts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise ParameterError(f"missing must be a list of texts such as ['?', 'NA'], not {texts!r}")
    return tuple(texts)


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        raise ParameterError(
            f"encoding {encoding!r} is not known; utf-8, latin-1, cp1252 and utf-16 are among those that are"
        ) from None
    return encoding


def content(file: Path, *, where: str, empty: bool = False) -> bytes:
    """What the file holds, decompressed; anything but a regular file is refused."""
    try:
        data = read_whole(file)
    except FileNotFoundError:
        raise DataError(f"{where}: there is no such file; check the name and the folder {file.parent}") from None
    except OSError as fault:
        raise DataError(f"{where}: cannot be read: {fault.strerror}; name a regular file that can be") from None
    if is_packed(data, file.suffix):
        data = _unpacked(data, file.suffix, where=where)
    if not data and not empty:
        raise DataError(f"{where}: the file is empty; a header and rows were expected")
    return data


def _unpacked(data: bytes, end: str, *, where: str) -> bytes:
    try:
        return unpacked(data, end)
    except NoReader as fault:
        raise DataError(f"{where}: {fault.strerror}") from None
    except TooLarge as fault:
        raise DataError(f"{where}: {fault.strerror}; fetch it from whom you know, and decompress it first") from None
    except BROKEN as fault:
        kind = {".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}.get(end.lower(), "gzip")
        raise DataError(f"{where}: is not a complete {kind} file ({fault}); fetch or compress it again") from None


def typed_frame(data: bytes, kind: Format, options: Options) -> pl.DataFrame:
    """The frame in a file whose cells have types; ``options`` are those of ``read``."""
    where, names, trim = options["where"], options.get("names"), options.get("trim", False)
    try:
        frame = kind.read(data, options)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as fault:
        raise DataError(
            f"{where}: is not a valid {kind.name} file ({_first_line(fault)}); write it again, or say its format="
        ) from None
    if names is not None and len(names) != frame.width:
        raise DataError(f"{where}: names given: {len(names)}, columns: {frame.width}; give one name per column")
    called = names or [name.strip() if trim else name for name in frame.columns]
    frame.columns = checked_names(called, where=where)
    return frame.with_columns(pl.col(pl.String).str.strip_chars()) if trim else frame


def _first_line(fault: BaseException) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]


# Files with one set a line, as collections of baskets are often kept.


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
