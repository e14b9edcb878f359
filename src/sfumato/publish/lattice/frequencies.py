"""Frequency sets of lattice nodes, rolled up from the smallest finer one that is still remembered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct_lifted, representatives, total
from sfumato.publish.problem import Levels

_REMEMBERED = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frequencies:
    """The classes of one node: labels and sizes, and where each cell went."""

    levels: Levels
    """The node."""
    keys: NDArray[np.int32]
    """Columns x classes: label codes at the node's levels."""
    sizes: NDArray[np.int64]
    """Rows per class."""
    ids: Ids
    """The class of each cell."""


class Rollup:
    """Makes frequency sets; the coarser the remembered ones, the cheaper the next."""

    def __init__(self, cells: Classes, hierarchies: tuple[Hierarchy, ...]) -> None:
        """Start from the cells."""
        self.cells = cells
        self.hierarchies = hierarchies
        base = Frequencies(
            levels=(0,) * len(hierarchies), keys=cells.keys, sizes=cells.sizes, ids=np.arange(cells.count)
        )
        self._kept = [base]
        self._levels = np.zeros((1, len(hierarchies)), np.int64)
        self._counts = np.array([cells.count])
        self._lifts: dict[tuple[int, int, int], NDArray[np.int32]] = {}
        self.rolled = 0

    def at(self, levels: Levels) -> Frequencies:
        """The frequency set of a node."""
        finer = np.flatnonzero((self._levels <= np.array(levels, np.int64)).all(axis=1))
        source = self._kept[finer[np.argmin(self._counts[finer])]]
        self.rolled += source is not self._kept[0]
        lifts = [self._lift(c, source.levels[c], level) for c, level in enumerate(levels)]
        radices = [len(h.levels[level].labels) for h, level in zip(self.hierarchies, levels, strict=True)]
        ids, count = distinct_lifted(source.keys, lifts, radices)
        place = representatives(ids, count)
        made = Frequencies(
            levels=levels,
            keys=np.array([lift[codes[place]] for lift, codes in zip(lifts, source.keys, strict=True)], np.int32),
            sizes=total(ids, source.sizes, count),
            ids=ids[source.ids],
        )
        self._remember(made)
        return made

    def classes(self, made: Frequencies) -> Classes:
        """The node's classes with all their histograms, counted from the cells."""
        labels = tuple(h.levels[level].labels for h, level in zip(self.hierarchies, made.levels, strict=True))
        lifts = [h.levels[level].parent for h, level in zip(self.hierarchies, made.levels, strict=True)]
        merged = self.cells.merged(made.keys, labels, made.ids, len(made.sizes))
        population = None if self.cells.population is None else self.cells.population.recoded(lifts, labels)[0]
        return replace(merged, wild=self._wild(made.levels), population=population)

    def _lift(self, column: int, low: int, high: int) -> NDArray[np.int32]:
        key = (column, low, high)
        if key not in self._lifts:
            self._lifts[key] = self.hierarchies[column].lift(low, high)
        return self._lifts[key]

    def _wild(self, levels: Levels) -> tuple[NDArray[np.bool_], ...]:
        """Which labels stand for an unknown value: the missing one, and the top."""
        found = []
        for hierarchy, number in zip(self.hierarchies, levels, strict=True):
            level = hierarchy.levels[number]
            unknown = np.full(len(level.labels), number == hierarchy.height)
            if hierarchy.missing is not None:
                unknown[level.parent[hierarchy.missing]] = True
            found.append(unknown)
        return tuple(found)

    def _remember(self, made: Frequencies) -> None:
        if len(made.sizes) * 4 > len(self._kept[0].sizes) * 3:
            return
        if len(self._kept) >= _REMEMBERED:
            largest = 1 + int(np.argmax(self._counts[1:]))
            del self._kept[largest]
            self._levels = np.delete(self._levels, largest, axis=0)
            self._counts = np.delete(self._counts, largest)
        self._kept.append(made)
        self._levels = np.vstack([self._levels, np.array(made.levels, np.int64)])
        self._counts = np.append(self._counts, len(made.sizes))
