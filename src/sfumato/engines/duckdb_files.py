"""What DuckDB reads for a plan: files, folders and patterns of Parquet or CSV, tables or queries of its own files."""

from __future__ import annotations

import glob
import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sfumato.data.csv_files import heading
from sfumato.data.csv_shape import Dialect, first_record, sniff
from sfumato.engines.statements import text, without_null
from sfumato.ground.errors import DataError, ParameterError, PlanError, listed

_PARQUET, _CSV = (".parquet", ".pq"), (".csv", ".tsv")
_HEAD = 1_000_000
"""The first characters of a CSV file, among which its header must end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShape:
    """How CSV files are divided, as a plan says."""

    delimiter: str | None = None
    """The separator; found out from the first file when absent."""
    quote: str | None = '"'
    """The quoting mark."""
    header: bool = True
    """Whether the first line of every file names the columns."""
    names: tuple[str, ...] = ()
    """The columns' names where files have none, or instead of their own."""
    trim: bool = False
    """Whether blanks around names are cut."""


def file_rows(path: Path, shape: TextShape) -> exp.Select:
    """The rows of all files that a path stands for: a file, a folder, or a pattern such as ``2024-*.parquet``."""
    files = found_files(path)
    ends = {_end(file) for file in files}
    if ends <= set(_PARQUET):
        inside = {part for file in files if path.is_dir() for part in file.parent.relative_to(path).parts}
        return parquet_rows(files, hive=any("=" in part for part in inside))
    if len(ends) == 1 and ends <= set(_CSV):
        return _csv_rows(files, shape)
    raise DataError(f"{path}: files of different formats ({listed(sorted(ends))}); name those of one, as in *.parquet")


def parquet_rows(files: Sequence[Path], *, hive: bool = False) -> exp.Select:
    """The rows of Parquet files; with ``hive``, folders named ``year=2024`` give a column."""
    named_folders = exp.true() if hive else exp.false()
    return _scan("READ_PARQUET", files, hive_partitioning=named_folders, can_have_nan=exp.true())


def found_files(path: Path) -> list[Path]:
    """The files that a path stands for, in order; hidden files, and those that begin with _, are none of them."""
    if path.is_file():
        return [path]
    if path.is_dir():
        every = [one for one in path.rglob("*") if one.is_file() and _end(one) in (*_PARQUET, *_CSV)]
        parts = [(one, one.relative_to(path).parts) for one in every]
        files = sorted(one for one, names in parts if not any(name.startswith((".", "_")) for name in names))
    else:
        files = sorted(Path(one) for one in glob.glob(str(path), recursive=True) if Path(one).is_file())
    if not files:
        raise DataError(f"{path}: there is no such file, and no file of a folder or pattern of this name; "
                        f"{', '.join((*_PARQUET, *_CSV))} are read (CSV also with .gz)")  # fmt: skip
    return files


def _end(file: Path) -> str:
    ends = [end.lower() for end in file.suffixes]
    return next((end for end in reversed(ends) if end != ".gz"), "")


def _csv_rows(files: Sequence[Path], shape: TextShape) -> exp.Select:
    """Every cell as text, none of them null, as our own reader gives it."""
    first = _opening(files[0])
    mark = shape.delimiter or ("\t" if _end(files[0]) == ".tsv" else sniff(first, quote=shape.quote))
    try:
        dialect = Dialect(delimiter=mark, quote=shape.quote, trim=shape.trim)
    except ParameterError as fault:
        raise PlanError(f"input: {fault}") from None
    names = _names(files[0], first, dialect, shape)
    for other in files[1:] if shape.header else ():
        theirs = _names(other, _opening(other), dialect, shape)
        if theirs != names:
            raise DataError(f"{other.name}: its columns are {listed(theirs)}, those of {files[0].name} {listed(names)}")
    columns = exp.Struct(expressions=[exp.PropertyEQ(this=text(name), expression=text("VARCHAR")) for name in names])
    rows = _scan(
        "READ_CSV",
        files,
        auto_detect=exp.false(),
        columns=columns,
        header=exp.true() if shape.header else exp.false(),
        delim=text(mark),
        quote=text(shape.quote or ""),
        escape=text(shape.quote or ""),
    )
    return without_null(rows, names)


def _names(file: Path, opening: str, dialect: Dialect, shape: TextShape) -> list[str]:
    record = first_record(opening, dialect, where=file.name)
    return heading(record, header=shape.header, names=shape.names or None, trim=shape.trim, where=file.name)


def _opening(file: Path) -> str:
    """The head of a file, without a byte order mark."""
    try:
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
            data = stream.read(_HEAD)
    except (OSError, EOFError, zlib.error) as fault:
        raise DataError(f"{file.name}: cannot be read ({fault})") from None
    if not data.strip():
        raise DataError(f"{file.name}: the file is empty; a header and rows were expected")
    return data.decode("utf-8-sig", errors="replace")


def _scan(function: str, files: Sequence[Path], **options: exp.Expr) -> exp.Select:
    """The rows of files; their names are taken as they are, not as patterns."""
    paths = exp.Array(expressions=[text(glob.escape(str(file.absolute()))) for file in files])
    said = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    return exp.select("*").from_(exp.Table(this=exp.Anonymous(this=function, expressions=[paths, *said])))
