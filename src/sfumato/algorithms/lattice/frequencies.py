"""Frequency sets of lattice nodes, rolled up from finer ones and kept within a memory limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.problem import Levels
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct_lifted, representatives, total, weighed
from sfumato.counts.tally import Tally
from sfumato.tables.hierarchy import Hierarchy

# Which frequency sets are remembered, within a number of bytes.


_BYTES = 2**26
"""What is remembered may hold so many bytes; what was not used for longest is forgotten first."""


class Memory:
    """Frequency sets by node; the base is never forgotten."""

    def __init__(self, base: Frequencies, room: int = _BYTES) -> None:
        """Only the base."""
        self.base = base
        self._room = room
        self._kept = [base]
        self._place = {base.levels: 0}
        self._levels = np.array([base.levels], np.int64).reshape(1, len(base.levels))
        self._counts = np.array([len(base.sizes)], np.int64)
        self._used = np.zeros(1, np.int64)
        self._weights = np.zeros(1, np.int64)
        self._now = 0

    def __contains__(self, levels: Levels) -> bool:
        """Whether a node is remembered."""
        return levels in self._place

    def __len__(self) -> int:
        """How many nodes are remembered."""
        return len(self._kept)

    def get(self, levels: Levels) -> Frequencies | None:
        """A node, if it is remembered."""
        place = self._place.get(levels)
        return None if place is None else self._touched(place)

    def smallest(self, levels: Levels, having: Sequence[str] = ()) -> Frequencies:
        """The remembered node with the fewest classes that is as fine as this one or finer, and has some histograms."""
        many = len(self._kept)
        fits = (self._levels[:many] <= np.array(levels, np.int64)).all(axis=1).nonzero()[0]
        for place in fits[np.argsort(self._counts[fits], kind="stable")].tolist():
            if all(name in self._kept[place].tallies for name in having):
                return self._touched(place)
        return self.base

    def add(self, frequencies: Frequencies) -> None:
        """Remember a node, unless it has nearly as many classes as the base."""
        if len(frequencies.sizes) * 4 > len(self.base.sizes) * 3 or frequencies.levels in self._place:
            return
        many = len(self._kept)
        if many == len(self._counts):
            self._levels = _doubled(self._levels)
            self._counts, self._used, self._weights = map(_doubled, (self._counts, self._used, self._weights))
        self._kept.append(frequencies)
        self._place[frequencies.levels] = many
        self._levels[many], self._counts[many], self._weights[many] = (
            frequencies.levels,
            len(frequencies.sizes),
            frequencies.weight,
        )
        self._touched(many)
        self._forget()

    def grown(self, frequencies: Frequencies) -> None:
        """A remembered node has more histograms than before."""
        place = self._place.get(frequencies.levels)
        if place:
            self._weights[place] = frequencies.weight
            self._forget()

    def _touched(self, place: int) -> Frequencies:
        self._now += 1
        self._used[place] = self._now
        return self._kept[place]

    def _forget(self) -> None:
        """Forget what was not used for longest until the rest fits; the last one takes its place."""
        while len(self._kept) > 2 and int(self._weights[: len(self._kept)].sum()) > self._room:
            last = len(self._kept) - 1
            place = 1 + int(np.argmin(self._used[1 : last + 1]))
            del self._place[self._kept[place].levels]
            moved = self._kept.pop()
            if place < last:
                self._kept[place] = moved
                self._place[moved.levels] = place
                for figures in (self._levels, self._counts, self._used, self._weights):
                    figures[place] = figures[last]


def _doubled(figures: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same figures with room for as many more."""
    return np.concatenate([figures, np.zeros_like(figures)])


# Frequency sets of lattice nodes, rolled up from the smallest finer one that is still remembered.


_ASKED = 2
"""A half-way node is counted when it would have helped so often."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frequencies:
    """The classes of one node: labels and sizes, and the histograms that were asked for."""

    levels: Levels
    """The node."""
    keys: NDArray[np.int32]
    """Columns x classes: label codes at the node's levels."""
    sizes: NDArray[np.int64]
    """Rows per class."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    """The histograms that were asked for so far."""

    @property
    def weight(self) -> int:
        """About how many bytes it holds."""
        return self.keys.nbytes + self.sizes.nbytes + 20 * sum(len(tally.codes) for tally in self.tallies.values())


class Rollup:
    """Makes frequency sets; the coarser the remembered ones, the cheaper the next.

    A search often comes from above, where nothing finer has been counted yet. So nodes half-way are counted too, once
    they would have helped twice: those that have the levels of a node in some columns, and the lowest in the others.
    Columns with many values come first, so that what is left to join is little.
    """

    def __init__(self, cells: Classes, hierarchies: tuple[Hierarchy, ...], *, counting: bool = False) -> None:
        """Start from the cells; ``counting`` says that histograms are asked for at most nodes."""
        self.cells = cells
        self.hierarchies = hierarchies
        base = Frequencies(
            levels=(0,) * len(hierarchies), keys=cells.keys, sizes=cells.sizes, tallies=dict(cells.tallies)
        )
        self._memory = Memory(base)
        self._lifts: dict[tuple[int, int, int], NDArray[np.int32]] = {}
        self._order = sorted(range(len(hierarchies)), key=lambda c: -len(hierarchies[c].levels[0].labels))
        self._asked: dict[Levels, int] = {}
        self._wilds: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self._counting = counting and cells.people is None
        self._last: tuple[Levels, Frequencies, Ids, int] | None = None
        self.rolled = 0

    def at(self, levels: Levels) -> Frequencies:
        """The frequency set of a node."""
        known = self._memory.get(levels)
        if known is not None:
            self.rolled += 1
            return known
        self._prepare(levels)
        source, ids, count = self._finer(levels)
        self.rolled += source is not self._memory.base
        frequencies = self._made(source, ids, count, levels)
        if not self._counting:
            self._memory.add(frequencies)
        return frequencies

    def ids(self, frequencies: Frequencies) -> Ids:
        """The class of each cell; classes are numbered by their labels, whatever they were rolled up from."""
        return self._joined(self._memory.base, frequencies.levels)[0]

    def tallies(self, frequencies: Frequencies, names: Iterable[str]) -> Mapping[str, Tally]:
        """Histograms of the node, joined from the smallest finer node that has them."""
        missing = [name for name in names if name not in frequencies.tallies]
        if missing:
            source, ids, count = self._finer(frequencies.levels)
            if any(name not in source.tallies for name in missing):
                source = self._memory.smallest(frequencies.levels, missing)
                ids, count = self._joined(source, frequencies.levels)
            frequencies.tallies.update({name: source.tallies[name].merged(ids, count) for name in missing})
            self._memory.grown(frequencies)
        return {name: frequencies.tallies[name] for name in names}

    def classes(self, frequencies: Frequencies, *, measured: bool = True) -> Classes:
        """The node's classes with all their histograms; and with all that metrics add up, unless only models ask."""
        cells = self.cells
        if cells.people is not None:
            merged = cells.merged(
                frequencies.keys, self._labels(frequencies.levels), self.ids(frequencies), len(frequencies.sizes)
            )
            return replace(merged, wild=self._wild(frequencies.levels), population=self._population(frequencies.levels))
        plain = self._plain(
            frequencies, np.ones(len(frequencies.sizes), np.bool_), self.tallies(frequencies, cells.tallies)
        )
        measures = self._measures(frequencies, list(cells.measures)) if measured else {}
        return replace(plain, measures=measures, population=self._population(frequencies.levels))

    def some(self, frequencies: Frequencies, judged: NDArray[np.bool_], gone: NDArray[np.bool_]) -> Classes:
        """Those classes of the node that are ``judged``; histograms know the whole table without what is ``gone``."""
        source, ids, _ = self._finer(frequencies.levels)
        self.tallies(source, self.cells.tallies)
        number = np.where(judged, np.cumsum(judged) - 1, -1)
        few = int(np.count_nonzero(judged))
        tallies = {}
        for name, tally in source.tallies.items():
            whole = self._whole[name] if not gone.any() else tally.take(~gone[ids]).overall
            tallies[name] = replace(tally.merged(number[ids], few), whole=whole)
        return self._plain(frequencies, judged, tallies)

    def _plain(self, frequencies: Frequencies, judged: NDArray[np.bool_], tallies: Mapping[str, Tally]) -> Classes:
        every = bool(judged.all())
        return Classes(
            quasi=self.cells.quasi,
            keys=frequencies.keys if every else frequencies.keys[:, judged],
            labels=self._labels(frequencies.levels),
            sizes=frequencies.sizes if every else frequencies.sizes[judged],
            tallies=tallies,
            wild=self._wild(frequencies.levels),
        )

    @cached_property
    def _whole(self) -> dict[str, NDArray[np.int64]]:
        return {name: tally.overall for name, tally in self.cells.tallies.items()}

    def light(self, frequencies: Frequencies, needs: tuple[str, ...], target: str | None) -> Classes:
        """The node's classes with only what metrics read: sizes, measures and the target's histogram."""
        cells = self.cells
        counted = {target: cells.tally(target)} if target is not None and "target" in needs else {}
        return Classes(
            quasi=cells.quasi,
            keys=frequencies.keys,
            labels=self._labels(frequencies.levels),
            sizes=frequencies.sizes,
            tallies=self.tallies(frequencies, counted),
            measures=self._measures(frequencies, [name for name in needs if name in cells.measures]),
        )

    def _measures(self, frequencies: Frequencies, names: list[str]) -> dict[str, NDArray[np.float64]]:
        if not names:
            return {}
        ids = self.ids(frequencies)
        return {name: weighed(ids, self.cells.measures[name], len(frequencies.sizes)) for name in names}

    def _labels(self, levels: Levels) -> tuple[tuple[str, ...], ...]:
        return tuple(h.levels[level].labels for h, level in zip(self.hierarchies, levels, strict=True))

    def _population(self, levels: Levels) -> Classes | None:
        if self.cells.population is None:
            return None
        lifts = [h.levels[level].parent for h, level in zip(self.hierarchies, levels, strict=True)]
        return self.cells.population.recoded(lifts, self._labels(levels))[0]

    def _prepare(self, levels: Levels) -> None:
        """Count the longest half-way node that has been asked for often enough."""
        half, left = list(levels), 1
        for column in reversed(self._order):
            left *= self.hierarchies[column].height + 1
            if not half[column]:
                continue
            half[column] = 0
            node = tuple(half)
            if left <= _ASKED or not any(half) or node in self._memory:
                continue
            self._asked[node] = self._asked.get(node, 0) + 1
            if self._asked[node] >= _ASKED:
                self._prepare(node)
                frequencies = self._made(*self._finer(node), node)
                if self._counting:
                    self.tallies(frequencies, self.cells.tallies)
                self._memory.add(frequencies)
                return

    def _joined(self, source: Frequencies, levels: Levels) -> tuple[Ids, int]:
        """Where each class of a finer node goes, and how many classes there are."""
        if source.levels == levels:
            return np.arange(len(source.sizes)), len(source.sizes)
        lifts = [self._lift(c, low, high) for c, (low, high) in enumerate(zip(source.levels, levels, strict=True))]
        radices = [len(h.levels[level].labels) for h, level in zip(self.hierarchies, levels, strict=True)]
        return distinct_lifted(source.keys, lifts, radices)

    def _finer(self, levels: Levels) -> tuple[Frequencies, Ids, int]:
        """The smallest finer node, where its classes go, and how many classes there are."""
        if self._last is None or self._last[0] != levels:
            source = self._memory.smallest(levels)
            self._last = levels, source, *self._joined(source, levels)
        return self._last[1:]

    def _made(self, source: Frequencies, ids: Ids, count: int, levels: Levels) -> Frequencies:
        place = representatives(ids, count)
        keys = source.keys[:, place]
        for column, (low, high) in enumerate(zip(source.levels, levels, strict=True)):
            if low != high:
                keys[column] = self._lift(column, low, high)[keys[column]]
        return Frequencies(levels=levels, keys=keys, sizes=total(ids, source.sizes, count))

    def _lift(self, column: int, low: int, high: int) -> NDArray[np.int32]:
        key = (column, low, high)
        if key not in self._lifts:
            self._lifts[key] = self.hierarchies[column].lift(low, high)
        return self._lifts[key]

    def _wild(self, levels: Levels) -> tuple[NDArray[np.bool_], ...]:
        """Which labels stand for an unknown value: the missing one, and the top."""
        return tuple(self._wild_at(column, level) for column, level in enumerate(levels))

    def _wild_at(self, column: int, number: int) -> NDArray[np.bool_]:
        if (column, number) not in self._wilds:
            hierarchy = self.hierarchies[column]
            level = hierarchy.levels[number]
            unknown = np.full(len(level.labels), number == hierarchy.height)
            if hierarchy.missing is not None:
                unknown[level.parent[hierarchy.missing]] = True
            self._wilds[column, number] = unknown
        return self._wilds[column, number]
