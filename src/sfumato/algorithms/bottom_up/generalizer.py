"""Bottom-up generalization and its options: beam search, escapes and retracing of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.algorithms.bottom_up.climb import Climb, DeadEnd, Requirement, State, Table
from sfumato.algorithms.bottom_up.column_labels import DECIMALS, Mark, Offer, Parts, Scale, Score
from sfumato.algorithms.bottom_up.columns import NumberParts, TreeParts, is_numeric
from sfumato.algorithms.bottom_up.virtual_identifiers import PlainVids, TeaIndex
from sfumato.algorithms.feasibility import described, refuse_guarded_models, refuse_unreachable
from sfumato.algorithms.problem import Grain, Outcome, Problem, Recoded, Trail
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.models.monotone import MENDED

# Steps that are made again, and those that turn out not to be needed and are taken back.


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

    def trip(self, generalizations: Iterable[Made] = ()) -> Trip:
        """A state with these generalizations, as far as they can be made."""
        trip = Trip(state=self.start.copied(), made=[])
        for column, mark in generalizations:
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
            tried = [(step, self._without(way, step)) for step in way.made if step not in needed]
            saving = [(step, less) for step, less in tried if _key(less.loss) < _key(way.loss)]
            saving = [(step, less) for step, less in saving if len(less.made) >= self.climb.least]
            shorter = None
            for step, less in sorted(
                saving, key=lambda each: (_key(each[1].loss), each[0][0], labels_key(each[1].columns))
            ):
                if self.holds(less.columns):
                    shorter = less
                    break
                needed.add(step)
            if shorter is None:
                break
            self.effort["taken back"] += len(way.made) - len(shorter.made)
            way = shorter
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
        generalizations = tuple(step for step in way.made if step[0] != place or step[1] in kept)
        return Way(made=generalizations, columns=columns, loss=self.climb.requirement.loss(Table(columns, 0)))


def labels_key(columns: Iterable[Parts]) -> bytes:
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


# Several trails at once, so that a step that looked best and led nowhere can be left behind.


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
        return min(ways, key=lambda way: (round(way.loss, DECIMALS), labels_key(way.columns)))

    def _children(self, place: int, trail: Trip | None) -> list[Child]:
        """The best steps of a trail, each followed to its end; none where the trail is over or the time is."""
        if trail is None or self._over(trail) is not None:
            return []
        children = []
        for rank, (offer, _) in enumerate(self.climb.ranked(trail.state, self.width)):
            after = trail.copied()
            self.retracing.step(after, offer)
            labels = labels_key(after.state.table.columns)
            end = self._end(after)
            if end is None:
                break
            loss = round(end.loss, DECIMALS) if isinstance(end, Way) else inf
            children.append(Child(parent=place, rank=rank, offer=offer, shown=labels, loss=loss))
        return children

    def _chosen(self, children: list[Child]) -> list[Child | None]:
        """For each trail its next step, or None; the first trail takes its own best step."""
        chosen: list[Child | None] = []
        taken: set[bytes] = set()
        for place in range(self.width):
            open_to = [
                child for child in children if max(child.parent, child.rank) <= place and child.shown not in taken
            ]
            best = min(open_to, key=lambda child: (child.loss, child.parent, child.rank), default=None)
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
        while (here := (len(trip.made), labels_key(trip.state.table.columns))) not in self.known:
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


# Random walks out of a local optimum: some steps are taken back, others are drawn, and what is better is kept.


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
            candidate = self._walked(way)
            if candidate is None:
                break
            if round(candidate.loss, DECIMALS) <= round(way.loss, DECIMALS):
                way = candidate
            self.climb.effort["walks"] += 1
        self.climb.told = None
        return way

    def _walked(self, way: Way) -> Way | None:
        """Where a walk leads; None where the time is over."""
        share = self.draw.random()
        trip = self.retracing.trip(step for step in way.made if self.draw.random() >= share)
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


# Bottom-up generalization and its options.


Mode = Literal["plain", "index", "pruning"]
Asked = Literal["auto", "information-privacy", "information", "loss-privacy", "loss"]
MOST_TRAILS = 64
"""No more trails are followed at once: each keeps an index of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BottomUp:
    """Join labels of a column under their parent, one parent at a time, until every model holds.

    Claim: every class meets every model, nothing is suppressed, and equal values read alike in all rows. Each step is
        the best by its score at that point; no claim is made about the least loss. The modes differ in cost only.
    How: a step makes all children of a node read as that node. It is scored by what it loses about the class divided
        by the rows that the smallest class gains; where no step gains any, by the loss alone. An index knows which
        combinations of labels (vids) have a value and which become one. Only steps by which every smallest vid becomes
        one with another are counted out: no other step can raise the anonymity.
    Needs: models that joining classes cannot break; (e, m)-anonymity and personalized privacy are judged after every
        step, and the first table that meets them is taken. A target for the scores that weigh information.
    Cost: a step costs time in the vids that it generalizes, and in the smallest vids; at most one step per column is
        counted out (two for numbers). There are at most as many steps as inner nodes.
    Source: Wang, Yu, Chakraborty 2004 (document 001); sets, values put out and numbers from its section 7.
    """

    grain: ClassVar[Grain] = "cells"

    score: Asked = "auto"
    """What makes a step better; ``auto`` weighs information where there is a target, else the loss metric."""
    mode: Mode = "pruning"
    """How the anonymity after a step is found: by regrouping everything, by the index, or only where it can rise."""
    partial: bool = False
    """Whether two siblings may be joined before their parent is made."""
    suppress: bool = False
    """Whether single values may be put out, to ``*``."""
    beam: int = 1
    """How many trails are followed at once, at most 64; with several, steps that were not needed are taken back."""
    escapes: int = 0
    """How many random walks are taken from the labels that were found, to leave a local optimum."""
    steps: int | None = None
    """How many steps are taken at least, beyond what the models need."""

    def __post_init__(self) -> None:
        one_of("score", self.score, get_args(Asked))
        one_of("mode", self.mode, get_args(Mode))
        for name in ("partial", "suppress"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be true or false, not {getattr(self, name)!r}")
        at_least("beam", self.beam, 1)
        if self.beam > MOST_TRAILS:
            raise ParameterError(f"beam must be at most {MOST_TRAILS}, not {self.beam}")
        at_least("escapes", self.escapes, 0)
        if self.steps is not None:
            at_least("steps", self.steps, 0)

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """The labels where the steps ended, and the steps."""
        _refuse(problem, self.steps or 0)
        scale = Scale(score=self._score(problem), rows=problem.cells.rows)
        requirement = Requirement(problem, mixed=self.suppress)
        start = self._start(problem, requirement, scale)
        effort: Counter[str] = Counter()
        anonymity, loss, vids = start.vids.anonymity, start.loss, start.vids.count
        climb = Climb(requirement, scale, work, self.steps or 0, effort)
        state = self._found(climb, start)
        trail = Trail(
            direction="up",
            score=scale.score,
            anonymity=anonymity,
            loss=loss,
            steps=tuple(state.steps),
            enough=state.enough,
        )
        return _outcome(problem, state, trail, self._effort(effort, vids, state, work))

    def _found(self, climb: Climb, start: State) -> State:
        """The paper's trail; or the best of several and of random walks, which is then gone over once more."""
        if self.beam == 1 and not self.escapes:
            return climb.run(start)
        way = Beam(climb, start, self.beam).run()
        if self.escapes:
            way = Escape(climb, start, self.escapes).run(way)
        return Retracing(climb, start).told(way)

    def start(self, problem: Problem) -> State:
        """The table as it is, with every value under its own label."""
        scale = Scale(score=self._score(problem), rows=problem.cells.rows)
        return self._start(problem, Requirement(problem, mixed=self.suppress), scale)

    def _start(self, problem: Problem, requirement: Requirement, scale: Scale) -> State:
        columns = [self._column(problem, place, scale) for place in range(len(problem.hierarchies))]
        keys = [column.now[codes] for column, codes in zip(columns, problem.cells.keys, strict=True)]
        sizes = problem.cells.sizes
        vids: PlainVids | TeaIndex
        if self.mode == "plain":
            vids = PlainVids(columns, keys, sizes, requirement.k)
        else:
            vids = TeaIndex(columns, keys, sizes, requirement.k, pruning=self.mode == "pruning")
        table = Table(columns, vids.anonymity)
        return State(table=table, vids=vids, loss=requirement.loss(table))

    def _column(self, problem: Problem, column: int, scale: Scale) -> Parts:
        if is_numeric(problem, column):
            return NumberParts(problem, column, scale)
        return TreeParts(problem, column, scale, partial=self.partial, suppress=self.suppress)

    def _score(self, problem: Problem) -> Score:
        if self.score == "auto":
            return "loss-privacy" if problem.target is None else "information-privacy"
        if self.score.startswith("information") and problem.target is None:
            raise PlanError(
                f"algorithm.score: {self.score} needs a column with role = 'target'; loss-privacy and loss need none"
            )
        return self.score

    def _effort(self, done: Counter[str], vids: int, state: State, work: Work) -> dict[str, int | float | str]:
        effort: dict[str, int | float | str] = {
            "mode": self.mode,
            "vids": vids,
            "vids_left": state.vids.count,
            "generalizations": done["generalizations"],
            "candidates": done["candidates"],
            "passed": done["passed"],
            "counted": done["counted"],
            "critical": done["critical"],
            "pruned": done["candidates"] - done["counted"],
        }
        if self.beam > 1 or self.escapes:
            effort |= {"walks": done["walks"], "taken_back": done["taken back"]}
        return work.told(effort)


def _refuse(problem: Problem, steps: int) -> None:
    refuse_guarded_models(problem, "bottom-up")
    for model in problem.models:
        if not model.kept_by_merging and not isinstance(model, MENDED):
            raise PlanError(
                f"algorithm.name: bottom-up joins classes, which {described(model)} does not allow; use optimal"
            )
        if not model.kept_by_merging and steps:
            raise PlanError(
                f"algorithm.steps: steps beyond what is needed join classes, which can break {described(model)}; "
                "leave steps out, or use optimal"
            )
    refuse_unreachable(replace(problem, limit=0))


def _outcome(problem: Problem, state: State, trail: Trail, effort: dict[str, int | float | str]) -> Outcome:
    cut = tuple(column.cut() for column in state.table.columns)
    recoding = Recoded.under(problem, cut)
    nothing = np.zeros(problem.cells.count, np.bool_)
    return replace(Outcome.of(problem, recoding, nothing, effort), cut=cut, trail=trail)
