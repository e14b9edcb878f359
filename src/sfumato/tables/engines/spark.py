"""Spark as an engine: a session of this process, or a server by Spark Connect."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from sqlglot import exp

from sfumato.core.errors import DataError
from sfumato.core.extras import extra
from sfumato.tables.engines.statements import ArrowStream, named

# Spark as an engine: a session of this process, or a server by Spark Connect.


DIALECT = "spark"
_SUBSTITUTE = "spark.sql.variable.substitute"
"""Whether Spark replaces ${...} anywhere in a statement, also in names and values."""
_MOMENTS = "spark.sql.timestampType"
"""Whether a moment without a time zone stays one."""
_WHAT = 'engine = "spark"'
_OWN = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.ui.showConsoleProgress": "false"}
"""What a session of our own is told."""


@dataclass(slots=True, eq=False, repr=False, weakref_slot=True)
class SparkEngine:
    """A session of Spark. It is lent temporary views, and writes to no table."""

    session: Any
    """The session."""
    name: ClassVar[str] = "spark"
    _views: set[str] = field(default_factory=set)

    @classmethod
    def opened(cls, address: str | None = None) -> SparkEngine:
        """The session at an address (``sc://host:port``, or a master such as ``local[4]``); else the active one."""
        sql = extra("pyspark.sql", _WHAT)
        extra("pyarrow", _WHAT)
        builder = sql.SparkSession.builder
        with _told_as("Spark cannot be reached"):
            if address is not None and address.startswith("sc://"):
                return cls.of(builder.remote(address).getOrCreate())
            active = None if address else sql.SparkSession.getActiveSession()
            if active is not None:
                return cls.of(active)
            for key, value in _OWN.items():
                builder = builder.config(key, value)
            session = builder.master(address or "local[*]").getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
        return cls.of(session)

    @classmethod
    def of(cls, session: Any) -> SparkEngine:
        """A session that is there."""
        engine = cls(session=session)
        weakref.finalize(engine, _forget, session, engine._views)
        return engine

    def ask(self, statement: exp.Query) -> pl.DataFrame:
        """The rows that a statement gives."""
        with _told_as("Spark cannot answer"):
            return pl.DataFrame(ArrowStream(self._meant(statement).toArrow()))

    def lend(self, name: str, frame: pl.DataFrame) -> None:
        """A temporary view."""
        with _told_as("Spark takes no table"), self._set(_MOMENTS, "TIMESTAMP_NTZ"):
            self.show(name, self.session.createDataFrame(frame.to_arrow()))

    def show(self, name: str, rows: Any) -> None:
        """Let statements name a data frame that Spark holds."""
        rows.createOrReplaceTempView(name)
        self._views.add(name)

    def write(self, statement: exp.Query, folder: Path) -> None:
        """The rows in files, by Spark itself where it runs on this machine; else they come through memory."""
        with _told_as("Spark cannot answer"):
            rows = self._meant(statement)
            if self._local:
                rows.write.mode("append").parquet(folder.absolute().as_uri())
                return
            pl.DataFrame(ArrowStream(rows.toArrow())).write_parquet(folder / "rows.parquet")

    @property
    def _local(self) -> bool:
        """Whether Spark's files are those of this machine."""
        return str(self.session.conf.get("spark.master", "")).startswith("local")

    def _meant(self, statement: exp.Query) -> Any:
        """A statement that Spark reads as it stands: its parser takes one, and replaces nothing in it."""
        written = statement.sql(dialect=DIALECT, identify=True, comments=False)
        with self._set(_SUBSTITUTE, "false"):
            rows = self.session.sql(written)
            rows.schema  # noqa: B018  Spark Connect reads a statement only when it must
            return rows

    @contextmanager
    def _set(self, key: str, value: str) -> Iterator[None]:
        """A setting of the session, for as long as the block lasts."""
        before = self.session.conf.get(key)
        self.session.conf.set(key, value)
        try:
            yield
        finally:
            self.session.conf.set(key, before)


@contextmanager
def _told_as(what: str) -> Iterator[None]:
    """Tell faults of Spark, and of the way to it, in one line."""
    try:
        yield
    except _faults() as fault:
        lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
        raise DataError(f"{what}: {_line(lines) or type(fault).__name__}") from None


def _faults() -> tuple[type[BaseException], ...]:
    """What can go wrong in Spark and on the way to it; a client of Spark Connect may have no Java beside it."""
    known = [extra("pyspark.errors", _WHAT).PySparkException, OSError, pl.exceptions.PolarsError]
    if find_spec("py4j") is not None:
        known.append(import_module("py4j.protocol").Py4JError)
    return tuple(known)


def _line(lines: list[str]) -> str:
    """The line that says most: of a trace of Java, the last cause."""
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return next(iter([*causes[-1:], *lines[:1]]), "")[:400]


def _forget(session: Any, views: set[str]) -> None:
    """Drop what was lent; a session that is gone has no views."""
    with suppress(*_faults(), AttributeError):
        for name in views:
            session.catalog.dropTempView(name)


# What Spark reads for a plan: folders, files and patterns of Parquet, its tables, or a query.


ROWS = "sfumato_rows"
"""What statements call a data frame that has no name of its own."""


def spark_files(engine: SparkEngine, folder: Path, path: str) -> exp.Select:
    """The rows of Parquet files; an address such as ``s3a://bucket/folder`` is Spark's own."""
    place = path if "://" in path else _local(folder / path)
    return spark_frame(engine, engine.session.read.parquet(place))


def spark_frame(engine: SparkEngine, frame: Any) -> exp.Select:
    """The rows of a data frame of the engine's session."""
    engine.show(ROWS, frame)
    return named([ROWS])


def _local(path: Path) -> str:
    """A file or folder of this machine as it is called, or a pattern."""
    if path.exists():
        return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.absolute()))
    if not any(mark in path.name for mark in "*?[{"):
        raise DataError(f"{path}: there is no such file or folder; Spark reads Parquet")
    return str(path.absolute())
