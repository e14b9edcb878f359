"""The best split of every node of a level at once: gains of categories and of thresholds, from counts.

Rows are the records of the level's nodes, sorted by node. ``bits[n]`` is n log2 n, looked up instead of computed; the
information of counts is bits of their sum less the sum of their bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
Passing = Callable[[Whole], Flags]
"""Which counts (parts x classes) may be a leaf of their own."""
_BLOCK = 2**23
"""So many counts are made at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """The nodes whose splits are looked for."""

    counts: Whole
    """Nodes x classes."""
    bits: Reals
    """n log2 n for every n up to the records of the table."""
    least: int
    """How many records a part must have; of a category, two of its parts."""
    passing: Passing | None = None
    """What every part must meet."""

    @property
    def sizes(self) -> Whole:
        """Records per node."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def information(self) -> Reals:
        """Bits per node: records times entropy."""
        return np.asarray(self.bits[self.sizes] - self.bits[self.counts].sum(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gains:
    """What one attribute gains in each node, in bits per record; minus infinity where it cannot split."""

    gain: Reals
    """The information gain."""
    parted: Reals
    """The information of the parts themselves, by which the gain is divided."""
    cut: Whole
    """Of numbers, the last rank of the lower part; of one value against the others, that value."""
    above: Whole
    """Of numbers, the first rank of the upper part that a record has."""


def _tables(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Iterator[tuple[slice, Whole]]:
    """Counts of nodes x values x classes, some nodes at a time."""
    nodes, classes = level.counts.shape
    step = max(_BLOCK // (width * classes), 1)
    for first in range(0, nodes, step):
        last = min(first + step, nodes)
        low, high = np.searchsorted(node, (first, last))
        keys = ((node[low:high] - first) * width + value[low:high]) * classes + kind[low:high]
        yield (
            slice(first, last),
            np.bincount(keys, minlength=(last - first) * width * classes).reshape(-1, width, classes),
        )


def value_gains(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Gains:
    """Binary splits: the best value of each node against all others."""
    nodes, classes = level.counts.shape
    gain, parted, cut = np.full(nodes, -np.inf), np.zeros(nodes), np.full(nodes, -1, np.int64)
    for some, table in _tables(level, node, value, kind, width):
        sizes, information = level.sizes[some][:, None], level.information[some][:, None]
        rest = level.counts[some][:, None, :] - table
        part = table.sum(axis=2)
        other = sizes - part
        good = (part >= level.least) & (other >= level.least)
        if level.passing is not None:
            held = [level.passing(one.reshape(-1, classes)).reshape(part.shape) for one in (table, rest)]
            good &= held[0] & held[1]
        inside = level.bits[part] + level.bits[other] - level.bits[table].sum(axis=2) - level.bits[rest].sum(axis=2)
        gained = np.where(good, (information - inside) / np.maximum(sizes, 1), -np.inf)
        best = gained.argmax(axis=1)
        rows = np.arange(len(best))
        gain[some], cut[some] = gained[rows, best], best
        apart = level.bits[sizes[:, 0]] - level.bits[part[rows, best]] - level.bits[other[rows, best]]
        parted[some] = apart / np.maximum(sizes[:, 0], 1)
    return Gains(gain=gain, parted=parted, cut=cut, above=cut)


def category_gains(level: Level, node: Whole, value: Whole, kind: Whole, width: int) -> Gains:
    """Multi-way splits: one part for each value that occurs."""
    nodes, classes = level.counts.shape
    gain, parted = np.full(nodes, -np.inf), np.zeros(nodes)
    for some, table in _tables(level, node, value, kind, width):
        information, sizes = level.information[some], level.sizes[some]
        part = table.sum(axis=2)
        good = (part >= level.least).sum(axis=1) >= 2
        if level.passing is not None:
            held = level.passing(table.reshape(-1, classes)).reshape(part.shape)
            good &= (held | (part == 0)).all(axis=1)
        here = level.bits[part]
        inside = here.sum(axis=1) - level.bits[table].sum(axis=(1, 2))
        gain[some] = np.where(good, (information - inside) / np.maximum(sizes, 1), -np.inf)
        parted[some] = (level.bits[sizes] - here.sum(axis=1)) / np.maximum(sizes, 1)
    none = np.full(nodes, -1, np.int64)
    return Gains(gain=gain, parted=parted, cut=none, above=none)


def number_gains(level: Level, node: Whole, rank: Whole, kind: Whole, *, penalty: bool = True) -> Gains:
    """Binary splits: the best threshold of each node; rows are sorted by node, then by rank.

    With ``penalty`` a gain is lowered by log2 of the thresholds tried over the records (C4.5, release 8), and a part
    needs a tenth of the average class, up to 25 records.
    """
    nodes, classes = level.counts.shape
    gain, parted = np.full(nodes, -np.inf), np.zeros(nodes)
    cut, above = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    places = np.flatnonzero((node[1:] == node[:-1]) & (rank[1:] != rank[:-1]))
    if not len(places):
        return Gains(gain=gain, parted=parted, cut=cut, above=above)
    sizes, information = level.sizes, level.information
    ends = np.cumsum(sizes)
    left_size = places + 1 - (ends - sizes)[node[places]]
    least = np.full(nodes, level.least)
    if penalty:
        least = np.maximum(level.least, np.minimum(sizes // (10 * classes), 25))
    fits = (left_size >= least[node[places]]) & (sizes[node[places]] - left_size >= least[node[places]])
    places, left_size = places[fits], left_size[fits]
    gained = _threshold_gains(level, node, kind, places, left_size)
    good = np.isfinite(gained)
    places, left_size, gained = places[good], left_size[good], gained[good]
    owners = node[places]
    if not len(places):
        return Gains(gain=gain, parted=parted, cut=cut, above=above)
    starts = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    best = np.maximum.reduceat(gained, starts)
    tries = np.diff(np.append(starts, len(owners)))
    who = owners[starts]
    top = np.flatnonzero(gained == np.repeat(best, tries))
    first = top[np.searchsorted(top, starts)]
    size, left = sizes[who], left_size[first]
    charge = np.log2(tries) / size if penalty else 0.0
    gain[who] = (information[who] + best) / size - charge
    parted[who] = (level.bits[size] - level.bits[left] - level.bits[size - left]) / size
    cut[who], above[who] = rank[places[first]], rank[places[first] + 1]
    return Gains(gain=gain, parted=parted, cut=cut, above=above)


def _threshold_gains(level: Level, node: Whole, kind: Whole, places: Whole, left_size: Whole) -> Reals:
    """Minus the information inside both parts, for each threshold; minus infinity where a part is not allowed."""
    classes = level.counts.shape[1]
    found = np.empty(len(places))
    before = np.cumsum(level.counts, axis=0) - level.counts
    running = np.zeros(classes, np.int64)
    step, done = max(_BLOCK // (2 * classes), 1), 0
    for first in range(0, len(node), step):
        some = kind[first : first + step]
        sums = np.zeros((len(some), classes), np.int32)
        sums[np.arange(len(some)), some] = 1
        np.cumsum(sums, axis=0, out=sums)
        upto = int(np.searchsorted(places, first + len(some)))
        here = places[done:upto]
        left = sums[here - first] + running - before[node[here]]
        whole = level.counts[node[here]]
        right, mine = whole - left, left_size[done:upto]
        inside = level.bits[mine] + level.bits[whole.sum(axis=1) - mine]
        inside -= level.bits[left].sum(axis=1) + level.bits[right].sum(axis=1)
        found[done:upto] = -inside
        if level.passing is not None and len(here):
            found[done:upto][~(level.passing(left) & level.passing(right))] = -np.inf
        running += sums[-1]
        done = upto
    return found
