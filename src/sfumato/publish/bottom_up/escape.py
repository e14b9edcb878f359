"""Random walks out of a local optimum: some steps are taken back, others are drawn, and what is better is kept."""

from __future__ import annotations

import numpy as np

from sfumato.ground.chance import Chance
from sfumato.publish.bottom_up.climb import Climb, DeadEnd, State
from sfumato.publish.bottom_up.generalization_cost import DECIMALS
from sfumato.publish.bottom_up.retracing import Retracing, Trip, Way

STEPS_DRAWN = Chance(seed=2004)
"""For plans without a seed: a steward who makes a release again takes the same walks. No claim rests on the draws."""
_LEAST = 1e-9
"""What a step that costs nothing is taken to cost, so that such steps are drawn in any order."""


class Escape:
    """Walks at random from the labels that were found, and goes on from wherever less is lost, or as much.

    Claim: the result meets every model and never loses more than what it began with. The same seed takes the same
        walks; more walks begin with those of fewer, so they never lose more.
    How: a walk takes back each step with a chance that is drawn for the whole walk. Then it draws steps, each with
        a chance in inverse proportion to its cost, until the requirement holds, and takes back what is not needed.
    Source: Wang, Yu, Chakraborty 2004, section 7 (document 001), which names stochastic elements as the way out of a
        local optimum; Lourenço, Martin, Stützle 2003 (iterated local search).
    """

    def __init__(self, climb: Climb, start: State, walks: int) -> None:
        self.climb, self.walks = climb, walks
        self.retracing = Retracing(climb, start)
        chance = climb.work.chance
        self.draw = (STEPS_DRAWN if chance.seed is None else chance).generator()

    def run(self, way: Way) -> Way:
        """The best that was found before the walks, or the time, were over."""
        way = self.retracing.shortened(way)
        for walk in range(self.walks):
            self.climb.told = (walk, self.walks)
            found = self._walked(way)
            if found is None:
                break
            if round(found.loss, DECIMALS) <= round(way.loss, DECIMALS):
                way = found
            self.climb.effort["walks"] += 1
        self.climb.told = None
        return way

    def _walked(self, way: Way) -> Way | None:
        """Where a walk leads; None where the time is over."""
        share = self.draw.random()
        trip = self.retracing.trip(one for one in way.made if self.draw.random() >= share)
        while not self.climb.work.expired:
            try:
                if self.climb.over(trip.state):
                    return self.retracing.shortened(self.retracing.way(trip))
            except DeadEnd:
                return way
            self.climb.work.spend(sum(column.count() for column in trip.state.table.columns))
            self._step(trip)
        return None

    def _step(self, trip: Trip) -> None:
        """Of waiting times that are as long as steps cost on average, the shortest: cheap steps come first, mostly."""
        offers = [offer for column in trip.state.table.columns for offer in column.offers()]
        costs = np.maximum([offer.cost for offer in offers], _LEAST)
        self.retracing.step(trip, offers[int(np.argmin(costs * self.draw.exponential(size=len(costs))))])
