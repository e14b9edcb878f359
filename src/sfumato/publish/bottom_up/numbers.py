"""A column of numbers without a hierarchy: neighbouring intervals become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from sfumato.describe.hierarchy import TOP
from sfumato.describe.rounding import roundest
from sfumato.group.keys import Ids
from sfumato.publish.bottom_up.column_labels import Mark, Offer, Parts
from sfumato.publish.bottom_up.generalization_cost import DECIMALS, Scale
from sfumato.publish.cut import ColumnCut, cut_of_intervals, ends_of
from sfumato.publish.problem import Problem
from sfumato.utility.view import Reals


def is_numeric(problem: Problem, column: int) -> bool:
    """Whether a column is one of at least two numbers with nothing between them and the top."""
    numbers = problem.number(column)
    if numbers is None or problem.hierarchies[column].height != 1:
        return False
    return len(np.unique(numbers[~np.isnan(numbers)])) > 1


class NumberParts(Parts):
    """Labels are intervals between round numbers, at first one around every number. The last two become ``*``."""

    def __init__(self, problem: Problem, column: int, scale: Scale) -> None:
        numbers = problem.number(column)
        self.numbers: Reals = np.zeros(0) if numbers is None else numbers
        known = np.unique(self.numbers[~np.isnan(self.numbers)])
        super().__init__(problem, column, scale, 2 * len(known) + 1)
        self.ends = ends_of(self.hierarchy, known)
        self.edges = np.array([roundest(low, high) for low, high in pairwise(known.tolist())])
        """The numbers at which an interval begins, but for the first."""
        self.order = np.arange(len(known))
        """The numbers of the labels in use, by size."""
        begun = cut_of_intervals(self.hierarchy, self.numbers, self.edges.tolist())
        self.first = begun.of_code
        self.used = len(begun.labels)
        self.labels[: self.used] = begun.labels
        self.sizes[: self.used], self.steps[: self.used] = begun.sizes, begun.steps
        self.prices[: self.used] = self.price(begun.sizes)
        np.add.at(self.counts, self.first, self.histogram(problem))
        self.begin()
        self.costs = self._costs(np.arange(len(self.edges)))
        self.rounded = np.round(self.costs, DECIMALS)

    def offers(self) -> Iterator[Offer]:
        """Every two neighbours."""
        return map(self._offer, range(len(self.edges)))

    def cheapest(self) -> Offer | None:
        """Of those that cost least the lowest."""
        return self._offer(int(np.argmin(self.rounded))) if len(self.edges) else None

    def holding(self, part: int) -> Iterator[Offer]:
        """A label with its neighbour on either side."""
        places = range(len(self.edges))
        if len(self.edges) > 1:
            there = int(np.flatnonzero(self.order == part)[0]) if part in self.order else -2
            places = range(max(there - 1, 0), min(there + 1, len(self.edges)))
        return map(self._offer, places)

    def count(self) -> int:
        """How many valid generalizations there are."""
        return len(self.edges)

    def take(self, offer: Offer) -> int:
        """Let an edge go."""
        place, new = offer.node, self.used
        self.used += 1
        whole = len(self.edges) == 1
        size = self.hierarchy.total if whole else float(self.sizes[list(offer.parts)].sum())
        self.named(new, offer.label, size, self._step(size))
        self.join(offer.parts, new)
        self.edges = np.delete(self.edges, place)
        self.order = np.delete(self.order, place)
        self.order[place] = new
        self.costs, self.rounded = np.delete(self.costs, place), np.delete(self.rounded, place)
        around = np.arange(max(place - 1, 0), min(place + 1, len(self.edges)))
        self.costs[around] = self._costs(around)
        self.rounded[around] = np.round(self.costs[around], DECIMALS)
        return new

    def mark(self, offer: Offer) -> Mark:
        """The edge that is let go."""
        return offer.kind, 0, self.edges[offer.node].tobytes()

    def offered(self, mark: Mark) -> Offer | None:
        """The neighbours of that edge."""
        edge = np.frombuffer(mark[2], np.float64)[0]
        place = int(np.searchsorted(self.edges, edge))
        return self._offer(place) if place < len(self.edges) and self.edges[place] == edge else None

    def again(self, marks: Sequence[Mark]) -> set[Mark]:
        """All at once: an edge can be let go whichever others are."""
        kept = np.setdiff1d(self.edges, np.frombuffer(b"".join(mark[2] for mark in marks), np.float64))
        ends = [0, *(np.searchsorted(self.edges, kept) + 1).tolist(), len(self.order)]
        parts = [self.order[low:high].tolist() for low, high in pairwise(ends)]
        if not len(kept):
            parts[0] += np.setdiff1d(np.flatnonzero(self.live), self.order).tolist()
        self.edges = kept
        self.order = np.array([self._one(place, some) for place, some in enumerate(parts)])
        self.costs = self._costs(np.arange(len(kept))) if len(kept) else np.zeros(0)
        self.rounded = np.round(self.costs, DECIMALS)
        return set(marks)

    def _one(self, place: int, parts: Sequence[int]) -> int:
        """The label of the interval at a place, made of these."""
        if len(parts) == 1:
            return parts[0]
        new, last = self.used, place == len(self.edges)
        label = TOP if not len(self.edges) else self.ends.named(self._bounds(place), first=not place, last=last)
        size = self.hierarchy.total if not len(self.edges) else float(self.sizes[list(parts)].sum())
        self.used += 1
        self.named(new, label, size, self._step(size))
        self.join(parts, new)
        return new

    def cut(self) -> ColumnCut:
        """The intervals between the edges that are left."""
        return cut_of_intervals(self.hierarchy, self.numbers, self.edges.tolist())

    def _step(self, size: float) -> float:
        """How high an interval lies, by its share of the domain."""
        leaf = 0.0 if self.hierarchy.continuous else 1.0
        share = (size - leaf) / max(self.hierarchy.total - leaf, 1e-300)
        return self.hierarchy.height * min(max(share, 0.0), 1.0)

    def _parts(self, place: int) -> tuple[int, ...]:
        """The labels on both sides of an edge; of the last edge all there are, with that of missing values."""
        if len(self.edges) > 1:
            return int(self.order[place]), int(self.order[place + 1])
        absent = np.setdiff1d(np.flatnonzero(self.live), self.order)
        return (*self.order.tolist(), *absent.tolist())

    def _bounds(self, place: int) -> tuple[float, float]:
        """From where to where an interval goes."""
        low = self.ends.low if place == 0 else float(self.edges[place - 1])
        return low, self.ends.high if place == len(self.edges) else float(self.edges[place])

    def _offer(self, place: int) -> Offer:
        low, high = self._bounds(place)[0], self._bounds(place + 1)[1]
        last = place + 1 == len(self.edges)
        label = TOP if len(self.edges) == 1 else self.ends.named((low, high), first=not place, last=last)
        return Offer(
            column=self.column,
            kind="interval",
            parts=self._parts(place),
            cost=float(self.costs[place]),
            label=label,
            order=(place,),
            node=place,
        )

    def _costs(self, places: Ids) -> Reals:
        """What it costs to let some edges go."""
        if len(self.edges) == 1:
            parts = list(self._parts(0))
            top = float(self.price(np.array([self.hierarchy.total]))[0])
            return np.array([self.scale.joined(self.counts[parts], self.prices[parts], top)])
        many = np.arange(len(places))
        both = np.concatenate([self.order[places], self.order[places + 1]])
        price = self.price(self.sizes[self.order[places]] + self.sizes[self.order[places + 1]])
        return self.scale.paired(self.counts[both], self.prices[both], many, many + len(places), price)
