"""Several sources of cells as one: their counts are added, their rows stand one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np
import polars as pl

from sfumato.data.kinds import infer_kind
from sfumato.data.table import Kind
from sfumato.describe.domains import ObservedDomain, joined
from sfumato.ground.errors import DataError
from sfumato.group.cell_source import CellMapping, CellSource, MappedRows
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct, representatives
from sfumato.group.needs import Need


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
        return added([part.cells(quasi, counted) for part in self.parts])

    def singles(
        self, quasi: Sequence[ObservedDomain], counted: Sequence[ObservedDomain] = (), unit: str | None = None
    ) -> Classes:
        """Refused: rows are not numbered across parts."""
        raise DataError(f"{self.source}: single rows are not told apart")

    def apply(self, mapping: CellMapping, beside: Sequence[str] = ()) -> MappedRows:
        """The rows of all parts under a mapping."""
        mapped = [part.apply(mapping, beside) for part in self.parts]
        return MappedRows(
            frame=pl.concat([one.frame for one in mapped]),
            suppressed=np.concatenate([one.suppressed for one in mapped]),
        )

    def texts(self, names: Sequence[str], shown: CellMapping | None = None) -> pl.DataFrame:
        """Some columns of all parts, every cell as text; with a mapping, only the rows that it does not suppress."""
        return pl.concat([part.texts(names, shown) for part in self.parts])


def added(parts: Sequence[Classes]) -> Classes:
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
            owners=np.concatenate([one.owners + start for one, start in zip(every, starts, strict=False)]),
            codes=np.concatenate([one.codes for one in every]),
            counts=np.concatenate([one.counts for one in every]),
            classes=int(starts[-1]),
        )
    whole = replace(first, keys=keys, sizes=np.concatenate([part.sizes for part in parts]), tallies=tallies)
    merged = whole.merged(keys[:, representatives(ids, count)], first.labels, ids, count)
    return replace(merged, wild=first.wild)
