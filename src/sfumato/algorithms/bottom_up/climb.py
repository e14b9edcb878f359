"""Generalize step by step until the requirement holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.algorithms.bottom_up.column_labels import DECIMALS, Offer, Parts, Scale
from sfumato.algorithms.bottom_up.virtual_identifiers import Vids
from sfumato.algorithms.feasibility import Suppression, described, why_nothing_fits
from sfumato.algorithms.problem import Problem, Step
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.metrics.metric import View
from sfumato.models.model import judge

# Whether the labels that are reached meet the requirement, and what the metric says about them.


class Requirement:
    """Judges and weighs tables of one problem. Classes are made only where sizes and labels do not tell enough."""

    def __init__(self, problem: Problem, *, mixed: bool) -> None:
        """``mixed`` says that a column may show ``*`` beside other labels."""
        self.problem = problem
        alone = Suppression(replace(problem, limit=0), mixed=mixed)
        self.k = alone.least
        self.by_size, self.plain = alone.by_size, alone.plain
        self.others = alone.others if alone.plain else problem.models
        self.cost: Any = getattr(problem.metric, "cost", None)

    def holds(self, table: Table) -> bool:
        """Whether all models hold."""
        if self.plain and table.anonymity < self.k:
            return False
        if self.by_size:
            return True
        classes = table.classes(self.problem, full=True)
        return all(judge(model, classes, self.problem.reading).holds for model in self.others)

    def loss(self, table: Table) -> float:
        """What the metric says: from the labels where it adds up cells, else from the classes."""
        columns = table.columns
        if self.cost is not None:
            return sum(column.spent for column in columns) / max(len(columns), 1) / max(self.problem.cells.rows, 1)
        classes = table.classes(self.problem, full=not self.by_size)
        hidden = np.zeros(classes.count, np.bool_)
        rulers = tuple(column.ruler() for column in columns)
        view = View(classes=classes, suppressed=hidden, rulers=rulers, target=self.problem.target)
        return self.problem.metric.loss(view).value


class Table:
    """The labels of all columns, and the classes that they make, brought up to date when somebody asks."""

    def __init__(self, columns: Sequence[Parts], anonymity: int) -> None:
        self.columns, self.anonymity = list(columns), anonymity
        self._made: Classes | None = None
        self._fresh = False

    def copied(self) -> Table:
        """The same table, to be changed apart from this one."""
        other = Table([column.copied() for column in self.columns], self.anonymity)
        other._made, other._fresh = self._made, self._fresh
        return other

    def changed(self, anonymity: int) -> None:
        """Some column has a new label."""
        self.anonymity, self._fresh = anonymity, False

    def classes(self, problem: Problem, *, full: bool) -> Classes:
        """The classes under the labels in use: with everything that is counted, or only what the metric reads."""
        if self._made is None or not self._fresh:
            before = _light(problem, full=full) if self._made is None else self._made
            lifts = [c.now if self._made is None else c.current for c in self.columns]
            classes, _ = before.recoded(lifts, [tuple(column.labels) for column in self.columns])
            self._made, self._fresh = replace(classes, wild=tuple(c.unknown for c in self.columns)), True
        return self._made


def _light(problem: Problem, *, full: bool) -> Classes:
    """The cells with what is needed of them."""
    cells, needs = problem.cells, problem.metric.needs
    if full:
        return cells
    return replace(
        cells,
        tallies={problem.target: cells.tally(problem.target)} if problem.target and "target" in needs else {},
        measures={name: cells.measures[name] for name in needs if name in cells.measures},
        population=None,
    )


# Generalizing step by step until the requirement holds.


Ranked = list[tuple[Offer, float]]
"""Generalizations with their scores, the best first."""


@dataclass(slots=True, kw_only=True, eq=False)
class State:
    """A table on its way up."""

    table: Table
    """The labels."""
    vids: Vids
    """The sizes of their combinations."""
    steps: list[Step] = field(default_factory=list)
    """How it was reached."""
    loss: float
    """What the metric says."""
    enough: int | None = None
    """After how many steps the requirement was met."""

    def copied(self) -> State:
        """The same state, to be changed apart from this one."""
        return State(
            table=self.table.copied(),
            vids=self.vids.copied(),
            steps=list(self.steps),
            loss=self.loss,
            enough=self.enough,
        )


class DeadEnd(Infeasible):
    """A trail came to the top without meeting the requirement."""


class Climb:
    """Takes steps up, the best at each point."""

    def __init__(self, requirement: Requirement, scale: Scale, work: Work, least: int, effort: Counter[str]) -> None:
        """At least so many steps are taken, if there are so many."""
        self.requirement, self.scale, self.work, self.least, self.effort = requirement, scale, work, least, effort
        self.names = requirement.problem.cells.quasi
        self.told: tuple[int, int] | None = None
        """How far the work is, where that is not told by the anonymity reached."""

    def run(self, state: State) -> State:
        """Step after step until the requirement holds and no step is owed."""
        while not self.over(state):
            ((offer, _),) = self.ranked(state, 1)
            self.take(state, offer)
        return state

    def over(self, state: State) -> bool:
        """Whether a state is final; ``Infeasible`` where it is not and no step or no time is left."""
        self.noted(state)
        ended = not any(column.count() for column in state.table.columns)
        if state.enough is not None:
            return ended or len(state.steps) >= self.least or self.work.expired
        if ended:
            raise DeadEnd(self._nothing_fits())
        if self.work.expired:
            raise Infeasible(self._too_slow(len(state.steps)))
        return False

    def noted(self, state: State) -> None:
        """Write down after how many steps the requirement is met."""
        if state.enough is None and self.requirement.holds(state.table):
            state.enough = len(state.steps)

    def ranked(self, state: State, most: int) -> Ranked:
        """The best generalizations: those that raise the anonymity by cost per row gained, then the others by cost.

        At least one; the others are ranked only where more are asked for than raise the anonymity.
        """
        candidates = sum(column.count() for column in state.table.columns)
        self.work.spend(candidates * most)
        self.effort["candidates"] += candidates
        ranking = self._raising(state) if self.scale.private and state.table.anonymity < self.requirement.k else []
        if len(ranking) < most:
            taken = {(offer.column, offer.kind, offer.parts) for offer, _ in ranking}
            others = (offer for offer in _cheapest(state, most) if (offer.column, offer.kind, offer.parts) not in taken)
            ranking += _sorted((offer, offer.cost) for offer in others)
        return ranking[:most]

    def _raising(self, state: State) -> Ranked:
        had = state.table.anonymity
        tried, passed, counted = state.vids.critical(state.table.columns)
        raising = [(offer, offer.cost / (after - had)) for offer, after in tried if after > had]
        self.effort["passed"] += passed
        self.effort["counted"] += counted
        self.effort["critical"] += len(raising)
        return _sorted(raising)

    def take(self, state: State, offer: Offer) -> None:
        """Make a generalization and write it down."""
        self.work.spend(self.requirement.problem.cells.count)
        column, had = state.table.columns[offer.column], state.vids.anonymity
        fine = tuple(column.labels[part] for part in offer.parts)
        state.vids.take(offer, column.take(offer))
        state.table.changed(state.vids.anonymity)
        state.loss = self.requirement.loss(state.table)
        step = Step(
            column=self.names[offer.column],
            coarse=offer.label,
            fine=fine,
            score=self._score(offer, had, state.vids.anonymity),
            anonymity=state.vids.anonymity,
            loss=state.loss,
        )
        state.steps.append(step)
        self.effort["generalizations"] += 1
        self.heard(state.vids.anonymity)

    def heard(self, anonymity: int = 0) -> None:
        """Tell how far the work is, and stop if somebody wants it."""
        k = self.requirement.k
        self.work.advance("search", *(self.told or (min(anonymity, k - 1), k)))

    def _score(self, offer: Offer, had: int, has: int) -> float:
        """The cost, per row that the smallest class gains where that counts."""
        gained = min(has, self.requirement.k) - had
        return offer.cost / gained if self.scale.private and gained > 0 else offer.cost

    def _nothing_fits(self) -> str:
        problem = self.requirement.problem
        broken = [described(model) for model in problem.models if not model.kept_by_merging]
        if not broken:
            return why_nothing_fits(problem)
        return (
            f"bottom-up joined all labels and met {' and '.join(map(described, problem.models))} nowhere on its way; "
            f"other tables may, since joining classes can break {broken[0]}. Try algorithm.beam or "
            "algorithm.name = 'optimal'"
        )

    def _too_slow(self, steps: int) -> str:
        goal = " and ".join(described(model) for model in self.requirement.problem.models)
        return (
            f"bottom-up took {steps} steps in the time it had, and the table does not meet {goal} yet. Give it more "
            "with algorithm.seconds, or use algorithm.name = 'mondrian', which can be stopped at any time"
        )


def _sorted(offers: Iterator[tuple[Offer, float]] | Sequence[tuple[Offer, float]]) -> Ranked:
    return sorted(offers, key=lambda pair: (round(pair[1], DECIMALS), pair[0].column, pair[0].order))


def _cheapest(state: State, most: int) -> Iterator[Offer]:
    """The cheapest generalizations of each column: one, or all where several are asked for."""
    for column in state.table.columns:
        if most > 1:
            yield from column.offers()
        elif (offer := column.cheapest()) is not None:
            yield offer
