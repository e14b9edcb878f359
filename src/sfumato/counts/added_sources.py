"""Several sources as one: their counts are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np
import polars as pl

from sfumato.core.errors import DataError, ParameterError
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, representatives
from sfumato.counts.sources import (
    CellMapping,
    CellSource,
    CutCounts,
    CutSource,
    Divided,
    Division,
    Figure,
    Groups,
    MappedRows,
    Need,
    Numbers,
)
from sfumato.tables.schema import ObservedDomain, joined
from sfumato.tables.table import Kind, infer_kind

# Several sources of cells as one: their counts are added, their rows stand one after the other.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AddedCells:
    """Parts of one table that lie apart; single rows are not told apart."""

    parts: tuple[CellSource, ...]
    """The sources, all with the same columns."""

    @property
    def source(self) -> str:
        """What messages call it."""
        return f"{self.parts[0].source} and {len(self.parts) - 1} more parts"

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return self.parts[0].names

    @property
    def rows(self) -> int:
        """How many rows the parts have together."""
        return sum(part.rows for part in self.parts)

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that mean a missing value."""
        return self.parts[0].missing

    @property
    def gives(self) -> frozenset[Need]:
        """What every part gives, but no single rows: these would have to be numbered across the parts."""
        return frozenset.intersection(*(part.gives for part in self.parts)) - {"rows"}

    def dtype(self, name: str) -> pl.DataType:
        """The type of a column's cells."""
        return self.parts[0].dtype(name)

    def domain(self, name: str, kind: Kind | None = None) -> ObservedDomain:
        """The values of all parts; the kind is inferred from all of them together."""
        if kind is None:
            texts = sorted({value for part in self.parts for value in part.domain(name, "text").values})
            kind = infer_kind(texts, self.dtype(name))
        return reduce(joined, [part.domain(name, kind) for part in self.parts])

    def complete(self, names: Sequence[str]) -> Self:
        """The rows that have a value in each of these columns."""
        return replace(self, parts=tuple(part.complete(names) for part in self.parts))

    def coarser(self, labels: Mapping[str, Mapping[str, str]]) -> Self:
        """Every part with labels in place of values."""
        return replace(self, parts=tuple(part.coarser(labels) for part in self.parts))

    def cells(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """The cells of all parts, equal ones added; whose rows they are is not known across parts."""
        return add_cells([part.cells(quasi, counted) for part in self.parts])

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """Refused: rows are not numbered across parts."""
        raise DataError(f"{self.source}: single rows are not told apart")

    def apply(self, mapping: CellMapping, other_columns: Sequence[str] = ()) -> MappedRows:
        """The rows of all parts under a mapping."""
        mapped = [part.apply(mapping, other_columns) for part in self.parts]
        return MappedRows(
            frame=pl.concat([part.frame for part in mapped]),
            suppressed=np.concatenate([part.suppressed for part in mapped]),
        )

    def texts(self, names: Sequence[str], mapping: CellMapping | None = None) -> pl.DataFrame:
        """Some columns of all parts, every cell as text; with a mapping, only the rows that it does not suppress."""
        return pl.concat([part.texts(names, mapping) for part in self.parts])


def add_cells(parts: Sequence[Classes]) -> Classes:
    """Cells by the same domains, added up: sizes and tallies of equal cells."""
    first = parts[0]
    keys = np.concatenate([part.keys for part in parts], axis=1)
    starts = np.cumsum([0, *(part.count for part in parts)])
    ids, count = distinct(list(keys), [len(names) for names in first.labels], keys.shape[1])
    if not len(first.quasi):
        ids, count = np.zeros(keys.shape[1], np.int64), min(keys.shape[1], 1)
    tallies = {}
    for name, tally in first.tallies.items():
        every = [part.tallies[name] for part in parts]
        tallies[name] = replace(
            tally,
            owners=np.concatenate([tally.owners + start for tally, start in zip(every, starts, strict=False)]),
            codes=np.concatenate([tally.codes for tally in every]),
            counts=np.concatenate([tally.counts for tally in every]),
            classes=int(starts[-1]),
        )
    whole = replace(first, keys=keys, sizes=np.concatenate([part.sizes for part in parts]), tallies=tallies)
    merged = whole.merged(keys[:, representatives(ids, count)], first.labels, ids, count)
    return replace(merged, wild=first.wild)


# Several sources as one: what each of them counts is added up.


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSources:
    """Sources of different records over the same public domains."""

    sources: tuple[CutSource, ...]
    """At least one."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise ParameterError("sources must be at least one")

    @property
    def gives(self) -> frozenset[Need]:
        """Whole numbers where all of them give such; cells and rows stay with each."""
        whole: frozenset[Need] = frozenset({"integers"})
        return whole.intersection(*(source.gives for source in self.sources))

    def root(self, figures: Sequence[Figure]) -> AddedCuts:
        """A walk of all of them together."""
        return AddedCuts([source.root(figures) for source in self.sources])


class AddedCuts:
    """Walks that take the same steps."""

    def __init__(self, walks: Sequence[CutCounts]) -> None:
        """All at the root."""
        self.walks = tuple(walks)

    def total(self) -> Numbers:
        """The figures of all records."""
        return np.asarray(sum(walk.total() for walk in self.walks))

    def histogram(self, division: Division, groups: Groups | None = None) -> Numbers:
        """Partitions (or groups of them) x children x figures."""
        return np.asarray(sum(walk.histogram(division, groups) for walk in self.walks))

    def refine(self, division: Division) -> Divided:
        """The pairs that any of them has, with the sums of their counts."""
        return add_cuts([walk.refine(division) for walk in self.walks])

    def apply(self, divided: Divided, places: Ids) -> None:
        """Each divides its own records."""
        for walk in self.walks:
            walk.apply(divided, places)


def add_cuts(parts: Sequence[Divided]) -> Divided:
    """The sum of counts of the same division."""
    division = parts[0].division
    keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    counts = np.concatenate([part.counts for part in parts])
    summed = np.zeros((len(keys), counts.shape[1]), counts.dtype)
    np.add.at(summed, place.reshape(-1), counts)
    return Divided(division=division, owner=keys // division.children, child=keys % division.children, counts=summed)
