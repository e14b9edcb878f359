"""The greedy search: which item goes first, and whether it is left out or shown as something coarser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets
from sfumato.group.maximal import maximal_frequent
from sfumato.group.transactions import Transactions, ragged
from sfumato.publish.items.alternatives import Alternatives
from sfumato.publish.items.cover import Cover, Shown
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem, ItemStep, shown_records
from sfumato.publish.items.links import Links

Score = Literal["cheapest", "ratio", "gain", "loss"]
SCORES: tuple[Score, ...] = ("cheapest", "ratio", "gain", "loss")
_FREE = 1e12
"""Items that cost nothing come before all that cost something."""
MOST_ROUNDS = 20
"""After so many rounds of leaving items out of single records, they are left out of all."""


def scores(gain: NDArray[np.int64], loss: NDArray[np.float64], score: Score) -> NDArray[np.float64]:
    """What each violating item is worth; -1 for items of no violating set.

    ``ratio``, ``gain`` and ``loss`` are the thesis's Score1, Score2 and Score3. ``cheapest`` is ours: items that are in
    no frequent set first, then gain per loss, as the greedy way to cover sets at least cost has it.
    """
    if score == "ratio":
        found = gain / (loss + 1)
    elif score == "gain":
        found = gain.astype(np.float64)
    elif score == "loss":
        found = 1 / (loss + 1)
    else:
        found = np.where(loss > 0, gain / np.maximum(loss, 1e-9), _FREE + gain)
    return np.where(gain > 0, found, -1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy:
    """How the search goes."""

    score: Score
    """What makes an item the next one."""
    support: int
    """How many records a frequent set has."""
    generalize: bool
    """Whether an item may be shown as something coarser where that loses less."""
    local: bool
    """Whether items are left out only of the records that hold a violating set."""


def greedy(problem: ItemProblem, how: Greedy, work: Work) -> ItemOutcome:
    """Remove all violating sets, round by round.

    Claim: the records that are shown hold no violating set. Leaving items out of all records makes no new ones, so that
        one round does; other changes are counted again until nothing is found.
    Source: Mohammed 2012, algorithm 4.2.
    """
    cover, stripped = Cover(problem.spaces), np.empty(0, np.int64)
    steps: list[ItemStep] = []
    effort = {"violating sets": 0, "maximal frequent sets": 0, "rounds": 0}
    for number in count(1):
        shown, now = shown_records(problem, cover, stripped)
        local = how.local and number <= MOST_ROUNDS
        bad = problem.violating(now, work, listed=local)
        if not sum(one.count for one in bad):
            break
        frequent = maximal_frequent(now, how.support, work=work)
        if number == 1:
            effort |= {"violating sets": sum(one.count for one in bad), "maximal frequent sets": frequent.count}
        effort["rounds"] = number
        one_round = _Round(problem, how, cover, (shown, now), (bad, frequent))
        if local:
            stripped = np.union1d(stripped, one_round.strip(steps, stripped))
        elif one_round.clear(steps, work):
            if how.score == "cheapest":
                before = len(steps)
                steps = one_round.restore(steps)
                effort["restored"] = before - len(steps)
            break
    shown, now = shown_records(problem, cover, stripped)
    return ItemOutcome(shown=shown, transactions=now, stripped=stripped, steps=tuple(steps), effort=effort)


class _Round:
    """One round: violating and frequent sets of the records as they are shown now, until no violating set is left."""

    def __init__(
        self,
        problem: ItemProblem,
        how: Greedy,
        cover: Cover,
        now: tuple[Shown, Transactions],
        sets: tuple[list[Itemsets], Itemsets],
    ) -> None:
        self.problem, self.how, self.cover = problem, how, cover
        self.shown, self.now = now
        every = Itemsets.chained(sets[0])
        self.every = every
        self.bad, self.frequent = Links(every, self.now.count), Links(sets[1], self.now.count)
        self.left = every.count
        owner = np.repeat(np.arange(len(sets[0])), [one.count for one in sets[0]])
        self.ways = Alternatives(problem, cover, self.shown, self.now, self.bad, self.frequent, owner)

    def clear(self, steps: list[ItemStep], work: Work) -> bool:
        """Decide until no violating set is left; whether no new one can have come."""
        only_left_out, began = True, self.left
        while self.left:
            work.advance("remove violating sets", began - self.left, began)
            item, gain, loss = self._winner()
            way = self.ways.best(item, loss) if self._may_rise(item, loss) else None
            if way is None:
                self.cover.leave_out(int(self.shown.first[item]))
                members = np.array([item])
                step = ItemStep(action="suppress", label=self.shown.labels[item], gain=gain, loss=loss)
            else:
                only_left_out = False
                node = self.cover.raise_to(int(self.shown.first[item]), way.node)
                members, name = way.members, self.ways.named(item, node)
                step = ItemStep(action="generalize", label=self.shown.labels[item], to=name, gain=gain, loss=way.loss)
            self._gone(members)
            steps.append(replace(step, left=self.left))
        return only_left_out

    def restore(self, steps: list[ItemStep]) -> list[ItemStep]:
        """Show items again whose violating sets all lack another item too, those of most frequent sets first."""
        bad = Links(self.every, self.now.count)
        lacking = np.zeros(self.every.count, np.int64)
        out = [item for item in range(self.now.count) if self.cover.left_out[self.shown.first[item]]]
        for item in out:
            lacking[bad.holding(item)] += 1
        whole = Links(self.frequent.sets, self.now.count).counts
        again = set()
        for item in sorted(out, key=lambda one: (-whole[one], one)):
            held = bad.holding(item)
            if (lacking[held] > 1).all():
                lacking[held] -= 1
                self.cover.show_again(int(self.shown.first[item]))
                again.add(self.shown.labels[item])
        return [step for step in steps if step.label not in again]

    def strip(self, steps: list[ItemStep], stripped: NDArray[np.int64]) -> NDArray[np.int64]:
        """Leave the winning items out of the records that hold their violating sets; the places that are left out."""
        rows_of = np.concatenate(([0], np.cumsum(self.every.rows)))
        gone: list[NDArray[np.int64]] = []
        while self.left:
            item, gain, loss = self._winner()
            rows = np.unique(self.every.listed[ragged(rows_of, self.bad.holding(item))])
            gone.append(self._places(item, rows))
            self._gone(np.array([item]), frequent=False)
            step = ItemStep(action="strip", label=self.shown.labels[item], gain=gain, loss=loss)
            steps.append(replace(step, left=self.left))
        return np.concatenate(gone)

    def _places(self, item: int, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Where records have the original items that are shown as one."""
        records = self.problem.transactions
        places = ragged(records.starts, rows)
        found: NDArray[np.int64] = places[self.shown.to[records.codes[places]] == item]
        return found

    def _winner(self) -> tuple[int, int, float]:
        """The item of the highest score, the first of equals; its gain and its loss."""
        gain = np.where(self.ways.stuck, 0, self.bad.counts)
        loss = (self.frequent.counts + self.shown.closed) * self.ways.share
        worth = scores(gain, loss, self.how.score)
        item = int(np.argmax(worth))
        if worth[item] < 0:
            raise Infeasible(
                "columns that every record has a value in cannot be shown coarser, and still some value is too rare or "
                "tells too surely; ask for a smaller k or a larger c, or leave a column out"
            )
        return item, int(gain[item]), float(loss[item])

    def _may_rise(self, item: int, loss: float) -> bool:
        return bool(self.shown.closed[item]) or (self.how.generalize and loss > 0)

    def _gone(self, members: NDArray[np.int64], *, frequent: bool = True) -> None:
        """Let the sets of some items die."""
        for member in members.tolist():
            bad = self.bad.holding(member)
            self.left -= len(bad)
            self.bad.remove(bad)
            if frequent:
                self.frequent.remove(self.frequent.holding(member))
