"""Steps that are made again, and those that turn out not to be needed and are taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.publish.bottom_up.climb import Climb, State
from sfumato.publish.bottom_up.column_labels import Mark, Offer, Parts
from sfumato.publish.bottom_up.feasibility import Table
from sfumato.publish.bottom_up.generalization_cost import DECIMALS
from sfumato.publish.bottom_up.vids import PlainVids

Made = tuple[int, Mark]
"""A generalization by its column and its mark."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Way:
    """Generalizations in an order in which they can be made, and the labels to which they lead."""

    made: tuple[Made, ...]
    """The generalizations."""
    columns: tuple[Parts, ...]
    """The labels of every column afterwards."""
    loss: float
    """What the metric says about them."""


@dataclass(slots=True, kw_only=True, eq=False)
class Trip:
    """A state on its way up that knows which generalizations brought it there."""

    state: State
    """The labels now."""
    made: list[Made]
    """How they were reached."""

    def copied(self) -> Trip:
        """The same trip, to go another way from here."""
        return Trip(state=self.state.copied(), made=list(self.made))


class Retracing:
    """Goes over steps again, from one start. Columns do not depend on each other: each is made again by itself."""

    def __init__(self, climb: Climb, start: State) -> None:
        """The start is kept as it is."""
        self.climb, self.start = climb, start.copied()
        self.effort = climb.effort

    def trip(self, made: Iterable[Made] = ()) -> Trip:
        """A state with these generalizations, as far as they can be made."""
        trip = Trip(state=self.start.copied(), made=[])
        for column, mark in made:
            offer = trip.state.table.columns[column].offered(mark)
            if offer is not None:
                self.climb.take(trip.state, offer)
                trip.made.append((column, mark))
        return trip

    def told(self, way: Way) -> State:
        """The way gone once more from the start, with everything written down."""
        trip = self.trip()
        self.climb.noted(trip.state)
        for column, mark in way.made:
            offer = trip.state.table.columns[column].offered(mark)
            if offer is not None:
                self.climb.take(trip.state, offer)
                self.climb.noted(trip.state)
        return trip.state

    def step(self, trip: Trip, offer: Offer) -> None:
        """Make one generalization more."""
        trip.made.append((offer.column, trip.state.table.columns[offer.column].mark(offer)))
        self.climb.take(trip.state, offer)

    def way(self, trip: Trip) -> Way:
        """Where a trip has come to."""
        return Way(made=tuple(trip.made), columns=tuple(trip.state.table.columns), loss=trip.state.loss)

    def shortened(self, way: Way) -> Way:
        """The way without steps that are not needed: that which saves most is taken back first, as long as any can be.

        A step that cannot be missed once cannot be missed later: what is left by then is finer still, and coarser
        labels never break a model that joining keeps. So each is judged at most once.
        """
        needed: set[Made] = set()
        while len(way.made) > self.climb.least:
            tried = [(one, self._without(way, one)) for one in way.made if one not in needed]
            saving = [(one, less) for one, less in tried if _key(less.loss) < _key(way.loss)]
            saving = [(one, less) for one, less in saving if len(less.made) >= self.climb.least]
            found = None
            for one, less in sorted(saving, key=lambda each: (_key(each[1].loss), each[0][0], shown(each[1].columns))):
                if self.holds(less.columns):
                    found = less
                    break
                needed.add(one)
            if found is None:
                break
            self.effort["taken back"] += len(way.made) - len(found.made)
            way = found
        return way

    def holds(self, columns: Sequence[Parts]) -> bool:
        """Whether the labels meet the requirement."""
        self.climb.heard()
        cells, k = self.climb.requirement.problem.cells, self.climb.requirement.k
        keys = [column.now[codes] for column, codes in zip(columns, cells.keys, strict=True)]
        return self.climb.requirement.holds(Table(columns, PlainVids(columns, keys, cells.sizes, k).anonymity))

    def _without(self, way: Way, left_out: Made) -> Way:
        """The way without one generalization and those that need it."""
        place = left_out[0]
        column = self.start.table.columns[place].copied()
        kept = column.again([mark for other, mark in way.made if other == place and mark != left_out[1]])
        columns = (*way.columns[:place], column, *way.columns[place + 1 :])
        made = tuple(one for one in way.made if one[0] != place or one[1] in kept)
        return Way(made=made, columns=columns, loss=self.climb.requirement.loss(Table(columns, 0)))


def shown(columns: Iterable[Parts]) -> bytes:
    """The same bytes for the same labels, in whichever order they were made."""
    parts = []
    for column in columns:
        now = column.now
        _, first, places = np.unique(now, return_index=True, return_inverse=True)
        parts += [first[places.reshape(-1)].tobytes(), column.steps[now].tobytes()]
    return b"".join(parts)


def _key(loss: float) -> float:
    """Losses are compared after rounding."""
    return round(loss, DECIMALS)
