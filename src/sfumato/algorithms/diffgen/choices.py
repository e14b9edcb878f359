"""How DiffGen chooses a specialization: by value, by leaf partitions, or by noisy counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.diffgen.columns import Candidate, NumberColumn, SetColumn, TreeColumn
from sfumato.algorithms.diffgen.partitions import Partitions
from sfumato.algorithms.diffgen.specialization import Reals, Search, counted_column, impurity
from sfumato.algorithms.private_table import Attribute, Counts
from sfumato.counts.sources import Division, by_value
from sfumato.dp.events import Event, Parallel, Sequential
from sfumato.dp.noise import Noisy

# The leaf partitions that have records, with their impurity: now, and after any specialization.


BLOCK = 2**22
"""So many counts are looked at together."""


class Leaves:
    """The records by partition. A partition without a record has no impurity and never gets any."""

    def __init__(self, parts: Partitions) -> None:
        """Only the partitions that have records."""
        used = np.flatnonzero(parts.places >= 0)
        self.keys = parts.keys[:, used]
        """Columns x partitions: their values."""
        self.places = parts.places[used]
        """Their numbers in the walk."""
        self.walk, self.classes = parts.walk, parts.counts.shape[1]
        self.now = impurity(parts.counts[used])
        """The impurity of each partition."""

    def after_nodes(self, c: int, column: TreeColumn, candidates: list[Candidate]) -> dict[Candidate, Reals]:
        """For each of some values, all different, how much impurity its specialization takes away."""
        wide = max(column.width(candidate) for candidate in candidates)
        child = np.zeros(len(column.attribute.values), np.int32)
        for candidate in candidates:
            child += column.child_of(candidate)
        mine = np.isin(self.keys[c], [candidate.value for candidate in candidates])
        division = Division(column=c, parts=self.places[mine], child_of=child, children=wide)
        after = impurity(self.walk.histogram(division)).sum(axis=1)
        taken, keys = self.now[mine] - after, self.keys[c][mine]
        return {candidate: np.array([taken[keys == candidate.value].sum()]) for candidate in candidates}

    def after_points(self, c: int, column: NumberColumn, values: list[int]) -> dict[int, Reals]:
        """For each of some intervals and every point of the grid inside it, how much impurity a split takes away."""
        gains = {value: np.zeros(column.spans[value][1] - column.spans[value][0] - 1) for value in values}
        wanted = np.isin(self.keys[c], values)
        for first, last in self._blocks(column.cells):
            here = first + np.flatnonzero(wanted[first:last])
            up_to = self.walk.histogram(by_value(c, column.cells, self.places[here])).cumsum(axis=1)
            for value in values:
                low, high = column.spans[value]
                mine = self.keys[c][here] == value
                left = up_to[mine, low : high - 1]
                after = impurity(left) + impurity(up_to[mine, -1:] - left)
                gains[value] += (self.now[here][mine, None] - after).sum(axis=0)
        return gains

    def after_sets(self, c: int, column: SetColumn, node: int) -> Reals:
        """How much impurity a specialization of a node takes away."""
        has = column.having(self.keys[c], node)
        after = impurity(self.walk.refine(column.division(node, self.places[has])).occupied().counts)
        return np.array([self.now[has].sum() - after.sum()])

    def _blocks(self, cells: int) -> Iterator[tuple[int, int]]:
        """Some partitions at a time."""
        step = max(BLOCK // (cells * self.classes), 1)
        for first in range(0, len(self.places), step):
            yield first, min(first + step, len(self.places))


# Noisy counts of every attribute by the class, made to agree, each value with the variance of its noise.
#
# Reading them costs nothing: they follow from noisy counts that were paid for.


MOST_CELLS = 16
"""A number is counted in no more cells than these: the noise of all cells of an interval adds up."""
UNIT = 2**20
"""Variances are whole numbers of this part of 1."""
Blocks = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """One attribute as it was counted."""

    blocks: Blocks
    """For each declared value, the cell in which it was counted."""
    noisy: Noisy
    """Cells x classes."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.noisy.values)


def blocks_of(attribute: Attribute) -> Blocks:
    """In which cell each declared value is counted: by itself, of a long grid with its neighbours; public."""
    number = np.arange(len(attribute.values), dtype=np.int64)
    if attribute.kind != "number" or len(number) <= MOST_CELLS:
        return number
    return number * MOST_CELLS // len(number)


def in_blocks(counts: Counts, blocks: Blocks) -> Counts:
    """Values x classes as cells x classes."""
    cells = np.zeros((int(blocks.max(initial=-1)) + 1, counts.shape[1]), np.int64)
    np.add.at(cells, blocks, counts)
    return cells


def agreed(histograms: Sequence[Histogram]) -> list[Counts]:
    """For each attribute, values x classes and, last, the variance of the noise of one class.

    All attributes count the same records, so their totals are made equal: to the mean of all, each weighed by its
    noise. What that changes is spread evenly over the cells, and a cell evenly over its values.
    """
    weights = np.array([1 / (histogram.cells * max(histogram.noisy.variance, 1e-12)) for histogram in histograms])
    totals = np.stack([histogram.noisy.values.sum(axis=0) for histogram in histograms])
    total = weights @ totals / weights.sum()
    return [_spread(histogram, total) for histogram in histograms]


def _spread(histogram: Histogram, total: NDArray[np.float64]) -> Counts:
    counts = histogram.noisy.values + (total - histogram.noisy.values.sum(axis=0)) / histogram.cells
    noise = np.full((histogram.cells, 1), histogram.noisy.variance * UNIT)
    each = np.hstack([counts, noise])[histogram.blocks] / np.bincount(histogram.blocks)[histogram.blocks][:, None]
    return np.diff(np.rint(each.cumsum(axis=0)), axis=0, prepend=0.0).astype(np.int64)


# The thesis's search (algorithm 6.1): values are scored on all their records, split points are chosen beforehand.


@dataclass(slots=True, kw_only=True)
class ByValue(Search):
    """Two choices: the split point of every interval when it comes into the cut, then which value is specialized."""

    scores: dict[Candidate, float] = field(default_factory=dict)
    """The scores so far; other specializations do not change them."""

    def begin(self) -> None:
        """Choose where every number would be split (line 4)."""
        first = [event for c in range(len(self.columns)) for event in self._point(c, 0)]
        if first:
            self.purse.pay(Sequential(parts=tuple(first), what="first split of each number"))

    def choose(self, candidates: list[Candidate]) -> tuple[Candidate | None, list[Event]]:
        """By the scores of the values (line 7), less their prices; a single candidate is taken without looking."""
        if len(candidates) == 1:
            return candidates[0], []
        place, paid = self.which(candidates)
        return candidates[place], paid

    def which(self, candidates: list[Candidate]) -> tuple[int, list[Event]]:
        """The place of the candidate that is specialized, and what it cost."""
        scores = np.array([self._score(candidate) - self.price(candidate) for candidate in candidates])
        return self.pick(scores, "which value")

    def where(self, column: NumberColumn, value: int, what: str) -> tuple[int, list[Event]]:
        """The place, among the points inside an interval, of the one where it would be split, and what it cost."""
        return self.pick(self.worth(column.tables(value)), what)

    def worth(self, tables: NDArray[Any]) -> Reals:
        """What tables (… x parts x classes) are worth."""
        return self.score.of(tables)

    def pick(self, scores: Reals, what: str) -> tuple[int, list[Event]]:
        """The place of one of some scores, and what it cost."""
        cost = self.cost(what)
        return self.mechanisms.choose(self.score.on(scores), cost), [cost]

    def follow(self, column: int, values: tuple[int, ...]) -> list[Event]:
        """Choose where the new intervals would be split (line 9); no record is in two of them."""
        points = [event for value in values for event in self._point(column, value)]
        return [Parallel(parts=tuple(points), what="next split of each part")] if points else []

    def _score(self, at: Candidate) -> float:
        if at not in self.scores:
            self.scores[at] = float(self.worth(self.columns[at.column].table(at)))
        return self.scores[at]

    def _point(self, c: int, value: int) -> list[Event]:
        """Choose among the points of the grid inside an interval; nothing is paid where there is no choice."""
        column = self.columns[c]
        if not isinstance(column, NumberColumn) or not column.is_open(value):
            return []
        low, high = column.spans[value]
        if high - low == 2:
            column.take(value, 0)
            return []
        place, paid = self.where(column, value, f"{column.attribute.name}: where to split")
        column.take(value, place)
        return paid


# A search by what the partition as a whole becomes: one choice among all values and all points to split numbers at.


@dataclass(slots=True, kw_only=True)
class ByLeaves(Search):
    """One choice for each specialization: which value, and for a number also where; or to stop.

    A score is minus the impurity of all leaf partitions after the specialization, less the price of its new groups,
    which is public. One more record adds 0 to 2 to the impurity of the one partition that it falls into, whichever
    candidate is taken, and also where none is: all scores move down, none by more than 2.
    """

    def choose(self, candidates: list[Candidate]) -> tuple[Candidate | None, list[Event]]:
        """By the impurity that is left; a single candidate is taken without looking."""
        widths = [self._width(candidate) for candidate in candidates]
        place, paid, stops = 0, list[Event](), self.may_stop(candidates)
        if sum(widths) + stops > 1:
            scores = self.scores(candidates) - np.repeat([self.price(candidate) for candidate in candidates], widths)
            if stops:
                scores = np.append(scores, -impurity(self.parts.counts).sum())
            cost = self.cost("which value, and where")
            place = self.mechanisms.choose(self.score.on(scores), cost)
            paid.append(cost)
        if place == sum(widths):
            return None, paid
        number = int(np.searchsorted(np.cumsum(widths), place, side="right"))
        at = candidates[number]
        column = self.columns[at.column]
        if isinstance(column, NumberColumn):
            column.take(at.value, place - sum(widths[:number]))
        return at, paid

    def _width(self, at: Candidate) -> int:
        """How many choices a candidate stands for."""
        column = self.columns[at.column]
        if not isinstance(column, NumberColumn):
            return 1
        low, high = column.spans[at.value]
        return high - low - 1

    def scores(self, candidates: list[Candidate]) -> Reals:
        """Minus the impurity after each choice, candidate by candidate."""
        leaves = Leaves(self.parts)
        gains: dict[Candidate, Reals] = {}
        for (c, _), group in groupby(sorted(candidates, key=_way), key=_way):
            column, some = self.columns[c], list(group)
            if isinstance(column, SetColumn):
                gains |= {candidate: leaves.after_sets(c, column, candidate.value) for candidate in some}
            elif isinstance(column, NumberColumn):
                points = leaves.after_points(c, column, [candidate.value for candidate in some])
                gains |= {candidate: points[candidate.value] for candidate in some}
            else:
                gains |= leaves.after_nodes(c, column, some)
        return np.asarray(
            np.concatenate([np.zeros(0), *(gains[candidate] for candidate in candidates)]) - leaves.now.sum()
        )


def _way(at: Candidate) -> tuple[int, bool]:
    """Candidates that are counted together: of one column, each with a value of its own."""
    return at.column, at.halves


# A search by noisy counts: every attribute is counted by the class once, and all choices follow from these counts.
#
# Claim: the noisy counts cost what is paid for them, and nothing that is chosen by them costs more: it is computed
# from what could be published. Who needs it: several parties. Each adds its share of noise to its own counts, and only
# noisy sums are ever opened; a private choice by scores would need the counts of all parties, because scores do not
# add up. Against private choices: a choice does not cost, so there may be many; but all attributes are paid for, also
# those that are never specialized.


SURE = 3.0
"""A part counts as one with a class of its own only as far as that goes beyond so many deviations of its noise."""


@dataclass(slots=True, kw_only=True)
class ByCounts(ByValue):
    """The best by noisy counts: the split point of every interval, then the value that is specialized."""

    def begin(self) -> None:
        """Count every attribute by the class, then choose where every number would be split."""
        histograms, bought = [], list[Event]()
        for place, column in enumerate(self.columns):
            attribute = column.attribute
            cost, blocks = self.cost(f"counts of {attribute.name} by the class"), blocks_of(attribute)
            true = self.parts.walk.histogram(by_value(place, len(attribute.values)))[0]
            histograms.append(Histogram(blocks=blocks, noisy=self.mechanisms.count(in_blocks(true, blocks), cost)))
            bought.append(cost)
        self.purse.pay(Sequential(parts=tuple(bought), what="every attribute by the class"))
        columns = zip(self.columns, agreed(histograms), strict=True)
        self.columns = tuple(counted_column(column.attribute, counts) for column, counts in columns)
        ByValue.begin(self)

    def pick(self, scores: Reals, what: str) -> tuple[int, list[Event]]:
        """The highest score, the first of several; it follows from noisy counts and costs nothing."""
        return int(np.argmax(scores)), []

    def worth(self, tables: NDArray[Any]) -> Reals:
        """Max, less what noise adds to it: the last figure of every part is the variance of its noise.

        The records of the class that most records have; and for each part in which another class has more, how many
        more, less three times the deviation of that difference. Without a class: the records outside the largest part.
        """
        counts, noise = tables[..., :-1].astype(np.float64), np.sqrt(2.0 * tables[..., -1] / UNIT)
        if counts.shape[-1] == 1:
            return np.asarray(counts[..., 0].sum(axis=-1) - counts[..., 0].max(axis=-1))
        usual = counts.sum(axis=-2, keepdims=True).argmax(axis=-1)[..., None]
        base = np.take_along_axis(counts, usual, axis=-1)[..., 0]
        more = np.maximum(counts.max(axis=-1) - base - SURE * noise, 0.0)
        return np.asarray((base + more).sum(axis=-1))
