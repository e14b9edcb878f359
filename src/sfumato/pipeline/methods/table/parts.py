"""Released rows that stay in files: written part by part, judged by counts, and never all in memory."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundles.files import copy_parts, write_parts
from sfumato.bundles.part_counts import counted_files
from sfumato.bundles.recoding import Recoding
from sfumato.core.errors import BundleError, DataError, PlanError, listed
from sfumato.core.randomness import Chance
from sfumato.core.scratch import close, open_temporary
from sfumato.core.short_repr import Brief
from sfumato.pipeline.inputs import is_relation, is_spark
from sfumato.pipeline.methods.table.problem import Prepared
from sfumato.tables.table import plain_cells

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False, weakref_slot=True)
class ReleasedParts(Brief):
    """The rows of a release in a folder of their own, which is removed with this record."""

    folder: Path
    """The folder, for nobody else's eyes."""
    source: EngineSource
    """The rows, counted where they are."""

    @property
    def files(self) -> list[Path]:
        """The parts, in order."""
        return sorted(self.folder.glob("part-*.parquet"))

    def put_into(self, bundle: Path) -> dict[str, Any]:
        """Put the parts into a bundle; what its manifest states about them is returned."""
        return copy_parts(self.folder, bundle)

    def frame(self, like: object) -> object:
        """The rows as a lazy frame: a relation where one came in, else of polars."""
        if is_relation(like):
            import duckdb

            return duckdb.read_parquet([str(file) for file in self.files])
        if is_spark(like):
            return like.sparkSession.read.parquet(*map(str, self.files))  # type: ignore[attr-defined]
        return pl.scan_parquet(self.files, glob=False)


def refuse_whole(prepared: Prepared, recoding: Recoding) -> None:
    """Refuse what cannot be written part by part."""
    if recoding.buckets is not None or recoding.unit is not None:
        why = "groups that are published apart" if recoding.buckets is not None else "numbers for people (input.unit)"
        raise PlanError(f'output.format = "parts": {why} need all rows at once; use "parquet" or "csv"')
    names = [name for name in prepared.source.names if name in prepared.schema.roles]
    folded = [name.casefold() for name in names]
    alike = [name for name, fold in zip(names, folded, strict=True) if folded.count(fold) > 1]
    if alike:
        raise DataError(
            f"{prepared.source.source}: {listed(alike)} differ by case only, and DuckDB, which counts parts, does not "
            'tell them apart; rename one of them, or use output.format = "parquet"'
        )


def parted(prepared: Prepared, recoding: Recoding, chance: Chance) -> ReleasedParts:
    """Let the source write the recoded rows, and put them into parts in random order."""
    refuse_whole(prepared, recoding)
    kept = open_temporary("parts")
    folder = kept.new
    try:
        write_parts(_batches(prepared, recoding, folder, chance), folder, prepared.rows, chance)
        files = sorted(folder.glob("part-*.parquet"))
        parts = ReleasedParts(folder=folder, source=counted_files(files, prepared.source.missing))
    except (OSError, pl.exceptions.PolarsError) as error:
        close(kept)
        raise BundleError(f"{kept.folder.parent} cannot be written: {error}; nothing was written") from error
    except BaseException:
        close(kept)
        raise
    weakref.finalize(parts, close, kept)
    return parts


def _batches(prepared: Prepared, recoding: Recoding, folder: Path, chance: Chance) -> Iterator[pl.DataFrame]:
    """The released rows, some at a time."""
    source, other_columns, raw = prepared.source, recoding.beside(prepared.schema), folder / "rows"
    raw.mkdir()
    apart = getattr(source, "apply_in", None)
    mapped = (
        [source.apply(recoding.mapping, other_columns)]
        if apart is None
        else apart(raw, recoding.mapping, other_columns)
    )
    for batch in mapped:
        rows = recoding.released(batch, prepared.schema, chance)
        yield rows.select(map(plain_cells, rows.iter_columns()))
    shutil.rmtree(raw)
