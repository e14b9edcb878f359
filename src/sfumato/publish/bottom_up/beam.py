"""Several trails at once, so that a step that looked best and led nowhere can be left behind."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from sfumato.publish.bottom_up.climb import Climb, DeadEnd, State
from sfumato.publish.bottom_up.column_labels import Offer
from sfumato.publish.bottom_up.generalization_cost import DECIMALS
from sfumato.publish.bottom_up.retracing import Retracing, Trip, Way, shown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Child:
    """A trail one step on."""

    parent: int
    """The trail from which it comes."""
    rank: int
    """Which of that trail's steps it takes: 0 for the best."""
    offer: Offer
    """The step."""
    shown: bytes
    """The labels to which it leads."""
    loss: float
    """What is lost in the end if the best step is taken each time from here on."""


class Beam:
    """Follows trails side by side and judges a step by where it leads, not by what it costs by itself.

    Claim: the result never loses more than the paper's trail, which is trail 1. Trail i takes the step that ends best
        of the i best steps of each of the trails 1 to i, and none that leads to the labels of an earlier trail.
    How: where a step ends is found by climbing on from it, and by taking back what was not needed (the pilot method:
        Duin, Voss 1999). Climbs that meet go on together: what is known of labels is kept. What can be taken back at
        the end depends on the steps of the climb that came first, so more trails may, rarely, lose more than fewer.
    """

    def __init__(self, climb: Climb, start: State, width: int) -> None:
        self.climb, self.width = climb, width
        self.retracing = Retracing(climb, start)
        self.known: dict[tuple[int, bytes], Way | DeadEnd] = {}

    def run(self) -> Way:
        """The best end of all that were looked at; what is known when the time is over."""
        self._end(self.retracing.trip())
        trails: list[Trip | None] = [self.retracing.trip()]
        while self.width > 1 and any(trails) and not self.climb.work.expired:
            children = [child for place, trail in enumerate(trails) for child in self._children(place, trail)]
            trails = [self._taken(trails, child) for child in self._chosen(children)]
        ways = [end for end in self.known.values() if isinstance(end, Way)]
        if not ways:
            raise next(end for end in self.known.values() if isinstance(end, DeadEnd))
        return min(ways, key=lambda way: (round(way.loss, DECIMALS), shown(way.columns)))

    def _children(self, place: int, trail: Trip | None) -> list[Child]:
        """The best steps of a trail, each followed to its end; none where the trail is over or the time is."""
        if trail is None or self._over(trail) is not None:
            return []
        found = []
        for rank, (offer, _) in enumerate(self.climb.ranked(trail.state, self.width)):
            after = trail.copied()
            self.retracing.step(after, offer)
            labels = shown(after.state.table.columns)
            end = self._end(after)
            if end is None:
                break
            loss = round(end.loss, DECIMALS) if isinstance(end, Way) else inf
            found.append(Child(parent=place, rank=rank, offer=offer, shown=labels, loss=loss))
        return found

    def _chosen(self, children: list[Child]) -> list[Child | None]:
        """For each trail its next step, or None; the first trail takes its own best step."""
        chosen: list[Child | None] = []
        taken: set[bytes] = set()
        for place in range(self.width):
            open_to = [one for one in children if max(one.parent, one.rank) <= place and one.shown not in taken]
            best = min(open_to, key=lambda one: (one.loss, one.parent, one.rank), default=None)
            chosen.append(best)
            taken |= {best.shown} if best is not None else set()
        return chosen

    def _taken(self, trails: list[Trip | None], child: Child | None) -> Trip | None:
        trail = None if child is None else trails[child.parent]
        if child is None or trail is None:
            return None
        after = trail.copied()
        self.retracing.step(after, child.offer)
        return after

    def _over(self, trip: Trip) -> Way | DeadEnd | None:
        """How a trip ended, if it did."""
        try:
            return self.retracing.way(trip) if self.climb.over(trip.state) else None
        except DeadEnd as error:
            return error

    def _end(self, trip: Trip) -> Way | DeadEnd | None:
        """Where the best steps lead from here, without those that are not needed; None where the time is over."""
        passed: list[tuple[int, bytes]] = []
        while (here := (len(trip.made), shown(trip.state.table.columns))) not in self.known:
            if self.known and self.climb.work.expired:
                return None
            passed.append(here)
            if (end := self._over(trip)) is not None:
                self.known[here] = self.retracing.shortened(end) if isinstance(end, Way) else end
                break
            ((offer, _),) = self.climb.ranked(trip.state, 1)
            self.retracing.step(trip, offer)
        for each in passed:
            self.known[each] = self.known[here]
        return self.known[here]
