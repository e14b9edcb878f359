"""DuckDB as an engine: in the process, over its own files, Parquet and CSV; it goes on on disk where memory ends."""

from __future__ import annotations

import shutil
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from sqlglot import exp

from sfumato.engines.arrow_stream import ArrowStream
from sfumato.engines.statements import quoted, text
from sfumato.ground.errors import DataError
from sfumato.ground.extras import extra
from sfumato.ground.scratch import Scratch, close, open_temporary

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
            made = cls(duckdb.connect(place, read_only=database is not None, config=config), folder)
            made.connection.execute("SET enable_progress_bar = false")  # it is drawn on standard output
            if database is not None:
                made.connection.execute("SET allowed_directories = [$1]", [folder])
                made.connection.execute("SET enable_external_access = false")
        except duckdb.Error as fault:
            close(kept)
            raise DataError(f"{database or 'DuckDB'} cannot be opened: {_told(fault)}") from None
        weakref.finalize(made, _closed, made.connection, kept)
        return made

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives."""
        found: pl.DataFrame = self._run(statement)
        return found

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """A temporary table, so that DuckDB knows how small it is."""
        self.keep(name, frame)

    def keep(self, name: str, rows: Any) -> None:
        """All rows of a frame or relation as a temporary table; it goes to disk where memory ends."""
        self.connection.register(_ARRIVING, ArrowStream(rows))
        made = exp.Create(
            this=exp.Table(this=quoted(name)),
            kind="TABLE",
            replace=True,
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
            expression=exp.select("*").from_(exp.Table(this=quoted(_ARRIVING))),
        )
        try:
            self._run(made)
        finally:
            self.connection.unregister(_ARRIVING)

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows in files of about 128 MB, none of which is in memory as a whole."""
        inner = Path(self.folder) / f"rows-{len(list(Path(self.folder).iterdir()))}"
        said = {"FORMAT": text("parquet"), "PER_THREAD_OUTPUT": exp.true(), "FILE_SIZE_BYTES": text("128MB")}
        params = [exp.CopyParameter(this=exp.Var(this=key), expression=value) for key, value in said.items()]
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
        asked = isinstance(statement, exp.Query)
        kinds: dict[type[exp.Expr], Any] = {
            exp.Create: duckdb.StatementType.CREATE,
            exp.Copy: duckdb.StatementType.COPY,
        }
        kind = duckdb.StatementType.SELECT if asked else kinds[type(statement)]
        try:
            if [one.type for one in self.connection.extract_statements(written)] != [kind]:
                raise DataError(f"DuckDB reads more in a statement than was meant, so it was not run: {written}")
            if asked:
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
