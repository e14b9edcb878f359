"""Rows of a bundle in many files, counted by DuckDB in bounded memory: nobody reads them all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.bundles.files import part_files
from sfumato.core.errors import BundleError
from sfumato.counts.engine_source import EngineSource
from sfumato.tables.engines import statements as sql
from sfumato.tables.engines.duckdb import DuckEngine, parquet_rows
from sfumato.tables.isolated_readers import try_reading

MEMORY = "1GB"
"""The most memory that DuckDB takes to count released rows; beyond it, it works on disk."""


def counted_parts(folder: Path, data: Mapping[str, Any]) -> EngineSource:
    """The rows of all parts that a manifest names; files that DuckDB cannot read are refused in another process."""
    files = part_files(folder, data)
    try:
        try_reading("parts", b"", MEMORY, *files, size=sum(path.stat().st_size for path in files))
    except ValueError as error:
        raise BundleError(f"{folder}: a part cannot be read: {error}") from None
    return counted_files(part_files(folder, data), tuple(map(str, data["missing"])))


def uneven_rows(mine: Sequence[Path], theirs: Sequence[Path], data: Mapping[str, Any]) -> int:
    """How many different rows two sets of files do not have equally often; columns of other names differ in all."""
    missing = tuple(map(str, data["missing"]))
    sources = [counted_files(files, missing) for files in (mine, theirs)]
    if sources[0].names != sources[1].names:
        return max(sources[0].rows, sources[1].rows, 1)
    names, mark = sources[0].names, next(iter(missing), "")
    query = sql.uneven(sources[0].base, sources[1].base, names, mark)
    return int(sources[0].engine.ask(query)["n"][0])


def counted_files(files: Sequence[Path], missing: tuple[str, ...]) -> EngineSource:
    """The rows of Parquet files, where they are."""
    engine = DuckEngine.opened(memory=MEMORY, what='a release in parts ([output] format = "parts")')
    return EngineSource.reading(engine, parquet_rows(files), missing=missing, source="the release")
