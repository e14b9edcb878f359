"""Tables in files: CSV and TSV as text, all others with their types; each also compressed."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.formats import FORMATS, Format, Options
from sfumato.data.names import checked_names
from sfumato.data.table import Table
from sfumato.ground.arguments import one_of
from sfumato.ground.errors import DataError, ParameterError
from sfumato.ground.opening import TooLarge, read_whole
from sfumato.ground.packed import BROKEN, PACKED, NoReader, is_packed, unpacked


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
    known = {one.name: one for one in formats}
    if named is not None:
        one_of("format", named, tuple(known))
        return known[named]
    by_end = {end: one for one in known.values() for end in one.extensions}
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
