"""DuckDB as an engine, over its own files, Parquet and CSV."""

from __future__ import annotations

import glob
import gzip
import shutil
import weakref
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from sqlglot import exp

from sfumato.core.errors import DataError, ParameterError, PlanError, listed
from sfumato.core.extras import extra
from sfumato.core.scratch import Scratch, close, open_temporary
from sfumato.tables.csv_files import Dialect, first_record, heading, sniff
from sfumato.tables.engines.statements import ArrowStream, quoted, text, without_null

# DuckDB as an engine: in the process, over its own files, Parquet and CSV; it goes on on disk where memory ends.


DIALECT = "duckdb"
_ARRIVING = "sfumato arriving"


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class DuckEngine:
    """A connection to DuckDB that only we use. It installs nothing, and writes to no table but temporary ones."""

    connection: Any
    """The connection."""
    folder: str
    """Where it goes on where memory ends, and writes rows; the only folder that it may write into."""
    name: ClassVar[str] = "duckdb"

    @classmethod
    def opened(
        cls, database: Path | None = None, *, memory: str | None = None, what: str = 'engine = "duckdb"'
    ) -> DuckEngine:
        """A database file, only to be read, or none; with one, no other file can be reached.

        ``what`` is what needs DuckDB, for the message where it is not installed.
        """
        duckdb = extra("duckdb", what)
        kept = open_temporary("duckdb")
        folder = str(kept.new)
        config = {
            "temp_directory": folder,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            **({} if memory is None else {"memory_limit": memory}),
        }
        try:
            place = ":memory:" if database is None else str(database)
            engine = cls(duckdb.connect(place, read_only=database is not None, config=config), folder)
            engine.connection.execute("SET enable_progress_bar = false")  # it is drawn on standard output
            if database is not None:
                engine.connection.execute("SET allowed_directories = [$1]", [folder])
                engine.connection.execute("SET enable_external_access = false")
        except duckdb.Error as fault:
            close(kept)
            raise DataError(f"{database or 'DuckDB'} cannot be opened: {_told(fault)}") from None
        weakref.finalize(engine, _closed, engine.connection, kept)
        return engine

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives."""
        rows: pl.DataFrame = self._run(statement)
        return rows

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """A temporary table, so that DuckDB knows how small it is."""
        self.keep(name, frame)

    def keep(self, name: str, rows: Any) -> None:
        """All rows of a frame or relation as a temporary table; it goes to disk where memory ends."""
        self.connection.register(_ARRIVING, ArrowStream(rows))
        statement = exp.Create(
            this=exp.Table(this=quoted(name)),
            kind="TABLE",
            replace=True,
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
            expression=exp.select("*").from_(exp.Table(this=quoted(_ARRIVING))),
        )
        try:
            self._run(statement)
        finally:
            self.connection.unregister(_ARRIVING)

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows in files of about 128 MB, none of which is in memory as a whole."""
        inner = Path(self.folder) / f"rows-{len(list(Path(self.folder).iterdir()))}"
        options = {"FORMAT": text("parquet"), "PER_THREAD_OUTPUT": exp.true(), "FILE_SIZE_BYTES": text("128MB")}
        params = [exp.CopyParameter(this=exp.Var(this=key), expression=value) for key, value in options.items()]
        try:
            self.connection.execute("SET preserve_insertion_order = false")  # it takes memory, and rows are shuffled
            self._run(exp.Copy(this=statement.subquery(), kind=False, files=[text(str(inner))], params=params))
            for file in inner.iterdir() if inner.is_dir() else ():
                shutil.move(file, folder / file.name)
        finally:
            self.connection.execute("SET preserve_insertion_order = true")
            shutil.rmtree(inner, ignore_errors=True)

    def _run(self, statement: exp.Expr) -> Any:
        """Run one statement; DuckDB's own parser must see exactly one in it, of the kind that was built."""
        duckdb = extra("duckdb", 'engine = "duckdb"')
        written = statement.sql(dialect=DIALECT, identify=True, comments=False)
        is_query = isinstance(statement, exp.Query)
        kinds: dict[type[exp.Expr], Any] = {
            exp.Create: duckdb.StatementType.CREATE,
            exp.Copy: duckdb.StatementType.COPY,
        }
        kind = duckdb.StatementType.SELECT if is_query else kinds[type(statement)]
        try:
            if [part.type for part in self.connection.extract_statements(written)] != [kind]:
                raise DataError(f"DuckDB reads more in a statement than was meant, so it was not run: {written}")
            if is_query:
                return pl.DataFrame(ArrowStream(self.connection.sql(written)))
            return self.connection.execute(written)
        except (duckdb.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException) as fault:
            raise DataError(f"DuckDB cannot answer: {_told(fault)}") from None


def _told(fault: BaseException) -> str:
    """The first line of what DuckDB says."""
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]


def _closed(connection: Any, kept: Scratch) -> None:
    connection.close()
    close(kept)


# What DuckDB reads for a plan: files, folders and patterns of Parquet or CSV, tables or queries of its own files.


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
        every = [file for file in path.rglob("*") if file.is_file() and _end(file) in (*_PARQUET, *_CSV)]
        parts = [(file, file.relative_to(path).parts) for file in every]
        files = sorted(file for file, names in parts if not any(name.startswith((".", "_")) for name in names))
    else:
        files = sorted(Path(file) for file in glob.glob(str(path), recursive=True) if Path(file).is_file())
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
    settings = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
    return exp.select("*").from_(exp.Table(this=exp.Anonymous(this=function, expressions=[paths, *settings])))
