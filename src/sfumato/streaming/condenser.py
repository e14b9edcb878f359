"""Records come in block by block; drawn records go out batch by batch, each from a group that was never shown before.

A record is published once, through the moments of a group of at least k records none of which was published before. If
a group's running moments were shown at every batch, the difference of two batches would be the moments of those who
came between them, and of one person alone where one came (``tests/streaming/test_differences.py`` reads it off).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.algorithms.condensation import Condense, CondenseProblem, Moments, Points, drawn_rows, standardized_numbers
from sfumato.core.errors import DataError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import Ids
from sfumato.streaming.groups import GroupPool, WaitingWords

MOST_CLASSES = 100
"""How many classes are condensed apart at most: memory has to stay bounded."""
_TURNS = 8
"""Draws of a block or batch come from generators of their own: so many numbers are kept apart for each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Records(Brief):
    """Some records, read."""

    numbers: Points
    """A column for every condensed column, in its own unit."""
    words: Mapping[str, pl.Series]
    """Every other published column."""
    classes: pl.Series | None = None
    """The class of each, where classes are condensed apart."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DrawnBatch(Brief):
    """What is published of one batch, one group after the other; whoever writes it puts the rows into random order."""

    numbers: Points
    """The drawn records, in the columns' own units."""
    words: Mapping[str, pl.Series]
    """The dealt words."""
    sizes: tuple[tuple[int, int], ...]
    """The sizes of groups, with how many groups have each."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Kept(Brief):
    """The groups of one class, and the words that wait in them."""

    pool: GroupPool
    """Moments."""
    words: dict[str, WaitingWords]
    """Words, by column."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class StreamCondenser(Brief):
    """All that is kept of a stream. It has no record, only moments and words by group."""

    condense: Condense
    """The options: k, variance, copies, per_class, bounds, and how the first records are grouped."""
    columns: Sequence[str]
    """The condensed columns."""
    worded: Sequence[str]
    """The columns of words."""
    most: int
    """How many groups of a class stay when they are empty."""
    seed: int | None = None
    """For studies; the same stream then gives the same batches, however often it was stopped and begun again."""
    shift: Points | None = None
    """What is taken from every column before distances are measured; from the first block, or from declared bounds."""
    scale: Points | None = None
    """What every column is then divided by."""
    kept: dict[str, Kept] = field(default_factory=dict)
    """By class; one without a name where classes are not condensed apart."""
    published: Moments | None = None
    """The moments of all groups that were taken out, together: with those that wait, they are those of all records."""
    blocks: int = 0
    """How many blocks came in."""
    harvests: int = 0
    """How many batches went out."""

    @property
    def waiting(self) -> int:
        """How many records wait."""
        return sum(class_state.pool.waiting for class_state in self.kept.values())

    @property
    def waiting_groups(self) -> int:
        """In how many groups they wait."""
        return sum(int((class_state.pool.moments.count > 0).sum()) for class_state in self.kept.values())

    @property
    def moments(self) -> Moments:
        """The moments of all records that ever came in, in standardized columns."""
        width = len(self.columns)
        whole = Moments(count=np.array(0), sums=np.zeros(width), products=np.zeros((width, width)))
        parts = [_total(class_state.pool.moments) for class_state in self.kept.values()]
        for part in (*parts, *(() if self.published is None else (self.published,))):
            whole += part
        return whole

    def take(self, records: Records) -> None:
        """One block: each record joins the nearest group of its class, then groups of 2k and more are split."""
        self.blocks += 1
        if not len(records.numbers):
            return
        points = self._points(records.numbers)
        draw = self._chance(0, self.blocks).generator()
        for label, rows in self._classes(records):
            if label not in self.kept:
                self._begin(label, points if rows is None else points[rows], records, rows)
                continue
            class_state = self.kept[label]
            self._place(
                class_state, class_state.pool.feed(points if rows is None else points[rows], self.blocks), records, rows
            )
            class_state.pool.split(_divider(class_state, draw))

    def harvest(self) -> DrawnBatch:
        """Draw from every group with k records and more, and empty it; the others wait for a later batch."""
        return self._drawn(self.most)

    def finish(self) -> DrawnBatch:
        """The last batch: groups with fewer than k are joined with the nearest; what cannot have k is forgotten."""
        draw = self._chance(1, self.harvests).generator()
        for class_state in self.kept.values():
            self._renumber(class_state, class_state.pool.retire(0))

            def joined(least: int, into: int, words: dict[str, WaitingWords] = class_state.words) -> None:
                for column in words.values():
                    column.move(least, into)

            class_state.pool.join_small(_divider(class_state, draw), joined)
        return self._drawn(0)

    def forget(self) -> int:
        """Drop whatever waits, which nobody may ever see; how many records that were."""
        lost = self.waiting
        self.kept.clear()
        return lost

    def order(self) -> Chance:
        """What the rows of the batch that was drawn last are put into order by."""
        return self._chance(3, self.harvests)

    def settle(self) -> None:
        """Bring what waits into an order that tells nothing of the order of arrival."""
        for class_state in self.kept.values():
            for column in class_state.words.values():
                column.settle()

    def _drawn(self, most: int) -> DrawnBatch:
        self.harvests += 1
        draw = self._chance(2, self.harvests).generator()
        numbers, sizes = [], Counter[int]()
        words: dict[str, list[pl.Series]] = {name: [] for name in self.worded}
        for class_state in self.kept.values():
            groups, moments = class_state.pool.take_out()
            each = np.asarray(moments.count, np.int64) * self.condense.copies
            if len(groups):
                numbers.append(drawn_rows(moments, each, self.condense.variance, draw))
                self._publish(moments)
            sizes.update(moments.count.tolist())
            for name, column in class_state.words.items():
                words[name].append(column.take_out(groups, self.condense.copies, draw))
            self._renumber(class_state, class_state.pool.retire(most))
        points = np.concatenate([np.zeros((0, len(self.columns))), *numbers])
        if self.scale is not None and self.shift is not None:
            points = points * self.scale + self.shift
        cells = {name: pl.concat([pl.Series(name, [], dtype=pl.String), *parts]) for name, parts in words.items()}
        return DrawnBatch(numbers=points, words=cells, sizes=tuple(sorted(sizes.items())))

    def _publish(self, moments: Moments) -> None:
        whole = _total(moments)
        self.published = whole if self.published is None else self.published + whole

    def _renumber(self, class_state: Kept, stay: Ids) -> None:
        for column in class_state.words.values():
            column.renumber(stay)

    def _begin(self, label: str, points: Points, records: Records, rows: Ids | None) -> None:
        """The first records of a class, grouped as a table is; fewer than k are one group that waits."""
        class_state = Kept(
            pool=GroupPool.empty(self.condense.k, points.shape[1]),
            words={name: WaitingWords.empty(name) for name in self.worded},
        )
        if len(self.kept) == MOST_CLASSES:
            raise DataError(
                f"the target has more than {MOST_CLASSES} different classes, and each is condensed by itself; set "
                "algorithm.per_class = false"
            )
        groups, many = np.zeros(len(points), np.int64), 1
        if len(points) >= self.condense.k:
            problem = CondenseProblem(numbers=points, classes=np.zeros(len(points), np.int64), labels=("",))
            groups, many = self.condense.grouped(points, problem, Work())
        class_state.pool.begin(points, groups, many, self.blocks)
        self.kept[label] = class_state
        self._place(class_state, groups, records, rows)

    def _place(self, class_state: Kept, groups: Ids, records: Records, rows: Ids | None) -> None:
        for name, column in class_state.words.items():
            words = records.words[name]
            column.add(groups, words if rows is None else words.gather(rows))

    def _points(self, numbers: Points) -> Points:
        """Standardized columns; the first block says how, or declared bounds do."""
        if self.scale is None or self.shift is None:
            _, self.shift, self.scale = standardized_numbers(numbers)
            for place, name in enumerate(self.columns):
                if name in self.condense.bounds:
                    low, high = self.condense.bounds[name]
                    self.shift[place], self.scale[place] = (low + high) / 2, (high - low) / np.sqrt(12)
        with np.errstate(over="ignore", invalid="ignore"):
            points: NDArray[np.float64] = (numbers - self.shift) / self.scale
        if not bool((np.abs(points) < 1e100).all()):
            raise DataError("a column of numbers has values too large to be multiplied with each other; scale it down")
        return points

    def _classes(self, records: Records) -> list[tuple[str, Ids | None]]:
        if records.classes is None:
            return [("", None)]
        labels = records.classes.unique().sort().to_list()
        return [(label, (records.classes == label).arg_true().to_numpy().astype(np.int64)) for label in labels]

    def _chance(self, what: int, turn: int) -> Chance:
        """A source of its own for every block and batch, so that a stream that is begun again draws the same."""
        return Chance(seed=None if self.seed is None else (self.seed << 64) + turn * _TURNS + what)


def _total(moments: Moments) -> Moments:
    return Moments(
        count=np.asarray(moments.count.sum()), sums=moments.sums.sum(axis=0), products=moments.products.sum(axis=0)
    )


def _divider(class_state: Kept, draw: np.random.Generator) -> Callable[[Ids, Ids, Ids], None]:
    def divide(parents: Ids, first: Ids, fresh: Ids) -> None:
        for column in class_state.words.values():
            column.divide(parents, first, fresh, draw)

    return divide
