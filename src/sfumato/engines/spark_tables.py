"""What Spark reads for a plan: folders, files and patterns of Parquet, its tables, or a query."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sqlglot import exp

from sfumato.engines.spark_engine import SparkEngine
from sfumato.engines.statements import named
from sfumato.ground.errors import DataError

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
