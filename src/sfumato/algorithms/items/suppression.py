"""Trajectories and sets: greedy suppression and Apriori-based anonymization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.alternatives import Alternatives, Links, Way
from sfumato.algorithms.items.problem import Cover, ItemOutcome, ItemProblem, ItemStep, Shown, shown_records
from sfumato.core.arguments import number, one_of, whole
from sfumato.core.errors import Infeasible, ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import Itemsets
from sfumato.counts.transactions import Transactions, ragged
from sfumato.metrics.item_utility import frequent_sets

# Apriori-based anonymization: known sets grow by one item at a time, and what is too rare is shown coarser.


_BLOCK = 512
"""So many violating sets are looked at together for items that have risen."""


def apriori(problem: ItemProblem, work: Work) -> ItemOutcome:
    """The records as ``mended`` shows them."""
    cover, steps, effort = mended(problem, work)
    none = np.empty(0, np.int64)
    recoding, now = shown_records(problem, cover, none)
    return ItemOutcome(shown=recoding, transactions=now, stripped=none, steps=tuple(steps), effort=effort)


def mended(problem: ItemProblem, work: Work) -> tuple[Cover, list[ItemStep], dict[str, int]]:
    """Show items coarser until no set of one item, then of two, ... is refused.

    Claim: the records that are shown hold no violating set.
    How: for every size in turn, and until none is found, the violating sets are taken from the rarest on; of each the
        one item rises whose rise blurs least, among those that mend it, or else among all. An item that cannot rise any
        more is left out. Sets of coarser items, which later sizes build on, are fewer.
    Source: Terrovitis, Mamoulis, Kalnis 2008, section 4.3 (apriori-based anonymization).
    """
    cover, none = Cover(problem.spaces), np.empty(0, np.int64)
    steps: list[ItemStep] = []
    effort = {"violating sets": 0, "passes": 0}
    longest = int(np.diff(problem.transactions.starts).max(initial=0))
    most = min(max((_size(model) for model in problem.models), default=1), max(longest, 1))
    for size in range(1, most + 1):
        while True:
            recoding, now = shown_records(problem, cover, none)
            bad = problem.violating(now, work, most=size)
            violating_sets = Itemsets.chained(bad)
            effort["violating sets"] += violating_sets.count
            if not violating_sets.count:
                break
            effort["passes"] += 1
            links = Links(violating_sets, now.count), Links(Itemsets.joined([]), now.count)
            owner = np.repeat(np.arange(len(bad)), [itemsets.count for itemsets in bad])
            ways = Alternatives(problem, cover, recoding, now, *links, owner)
            _Pass(ways, violating_sets, cover).run(steps, work)
    return cover, steps, effort


def _size(model: object) -> int:
    return int(getattr(model, "m", None) or getattr(model, "l", None) or 2**31)


class _Pass:
    """One pass over the violating sets; a set of which an item has risen in this pass waits for the next."""

    def __init__(self, ways: Alternatives, violating_sets: Itemsets, cover: Cover) -> None:
        self.ways, self.found, self.cover = ways, violating_sets, cover
        self.changed = np.zeros(ways.now.count, np.bool_)
        self.supports = ways.now.supports()

    def run(self, steps: list[ItemStep], work: Work) -> None:
        """Mend every set that no earlier step has touched, from the rarest on."""
        starts, codes = self.found.starts, self.found.codes
        order = np.argsort(self.found.rows, kind="stable")
        for done in range(0, len(order), _BLOCK):
            for index in self._untouched(order[done : done + _BLOCK]).tolist():
                work.advance("mend violating sets", done, self.found.count)
                items = codes[starts[index] : starts[index + 1]]
                step = None if self.changed[items].any() else self._mended(index, items)
                if step is not None:
                    steps.append(step)

    def _untouched(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sets of which no item has risen so far."""
        starts, codes = self.found.starts, self.found.codes
        of_set = np.repeat(np.arange(len(sets)), starts[sets + 1] - starts[sets])
        touched = np.bincount(of_set, weights=self.changed[codes[ragged(starts, sets)]], minlength=len(sets)) > 0
        return sets[~touched]

    def _mended(self, number: int, items: NDArray[np.int32]) -> ItemStep | None:
        label, first = self.ways.shown.labels, self.ways.shown.first
        every = [(item, way) for item in items.tolist() for way in self.ways.next_up(item)]
        if not every:
            return self._left_out(items)
        ups = [(item, way) for item, way in every if not self.changed[way.members].any()]
        if not ups:  # all of them would rise together with something that has just risen
            return None
        prices = [self._price(way) for _, way in ups]
        mending = [self.ways.mends(number, way) for _, way in ups]
        best = min(range(len(ups)), key=lambda place: (not mending[place], prices[place], place))
        item, way = ups[best]
        node = self.cover.raise_to(int(first[item]), way.node)
        self.changed[way.members] = True
        return ItemStep(
            action="generalize", label=label[item], to=self.ways.named(item, node), gain=1, loss=prices[best]
        )

    def _left_out(self, items: NDArray[np.int32]) -> ItemStep:
        """Leave out the rarest item: none can rise."""
        recoding = self.ways.shown
        open_items = [item for item in items.tolist() if not recoding.closed[item]]
        if not open_items:
            raise Infeasible(
                "columns that every record has a value in cannot be shown coarser, and still some value is too rare or "
                "tells too surely; ask for a smaller k or a larger c, or leave a column out"
            )
        item = min(open_items, key=lambda open_item: (self.supports[open_item], open_item))
        self.cover.leave_out(int(recoding.first[item]))
        self.changed[item] = True
        return ItemStep(action="suppress", label=recoding.labels[item], gain=1, loss=float(self.supports[item]))

    def _price(self, way: Way) -> float:
        """How much more is blurred: the entries that rise, each with the share of the column it gains."""
        members = way.members
        return float((self.supports[members] * (way.penalty - self.ways.shown.penalty[members])).sum())


# The greedy search: which item goes first, and whether it is left out or shown as something coarser.


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
        worth = gain / (loss + 1)
    elif score == "gain":
        worth = gain.astype(np.float64)
    elif score == "loss":
        worth = 1 / (loss + 1)
    else:
        worth = np.where(loss > 0, gain / np.maximum(loss, 1e-9), _FREE + gain)
    return np.where(gain > 0, worth, -1.0)


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
    for n_round in count(1):
        recoding, now = shown_records(problem, cover, stripped)
        local = how.local and n_round <= MOST_ROUNDS
        bad = problem.violating(now, work, listed=local)
        if not sum(itemsets.count for itemsets in bad):
            break
        frequent = maximal_frequent(now, how.support, work=work)
        if n_round == 1:
            effort |= {
                "violating sets": sum(itemsets.count for itemsets in bad),
                "maximal frequent sets": frequent.count,
            }
        effort["rounds"] = n_round
        one_round = _Round(problem, how, cover, (recoding, now), (bad, frequent))
        if local:
            stripped = np.union1d(stripped, one_round.strip(steps, stripped))
        elif one_round.clear(steps, work):
            if how.score == "cheapest":
                before = len(steps)
                steps = one_round.restore(steps)
                effort["restored"] = before - len(steps)
            break
    recoding, now = shown_records(problem, cover, stripped)
    return ItemOutcome(shown=recoding, transactions=now, stripped=stripped, steps=tuple(steps), effort=effort)


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
        owner = np.repeat(np.arange(len(sets[0])), [itemsets.count for itemsets in sets[0]])
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
        for item in sorted(out, key=lambda candidate: (-whole[candidate], candidate)):
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
        entries: NDArray[np.int64] = places[self.shown.to[records.codes[places]] == item]
        return entries

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


# The algorithms for paths and sets, as a plan names them.


SCOPES = ("global", "local")
WAYS = ("auto", "suppression", "generalization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Greedy suppression of items that keeps maximal frequent sequences, after finding all minimal violating ones.

    Claim: no set of known items violates the requirement; with ``scope = "global"`` and without trees, every sequence
        that is kept has its true support.
    How: each step takes the item that removes most violating sequences for the fewest frequent ones. Where trees are
        given, an item is shown as a coarser place or time instead, if that loses fewer frequent sequences; what loses
        fewer in the end is kept, with coarser items or without. With
        ``scope = "local"`` an item is left out only of the records that hold a violating sequence.
    Cost: counting the known sets once; every step is proportional to the sets that it removes.
    Source: Mohammed 2012, chapter 4.
    """

    score: Score = "cheapest"
    """What makes an item the next one: what costs nothing first, then gain per loss, and in the end what was left out
    needlessly is shown again (``cheapest``); or the thesis's Score1 (``ratio``), Score2 (``gain``), Score3 (``loss``).
    """
    support: float = 0.01
    """What is frequent: a share of the records below 1, or a n_round of records."""
    generalize: Literal["auto", "never"] = "auto"
    """Whether coarser places, times and items are taken where they lose less; they need a hierarchy."""
    scope: Literal["global", "local"] = "global"
    """Whether an item is left out everywhere or only where a violating sequence stands."""

    def __post_init__(self) -> None:
        one_of("score", self.score, SCORES)
        one_of("generalize", self.generalize, ("auto", "never"))
        one_of("scope", self.scope, SCOPES)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        can_rise = all(model.generalizes for model in problem.models)
        if self.scope == "local" and not can_rise:
            raise PlanError("algorithm.scope: rho-uncertainty is met by leaving items out of all records; use 'global'")
        if self.scope == "local" and any(space.closed for space in problem.spaces):
            raise PlanError(
                "algorithm.scope: columns of a table cannot be left out of single records; use 'global', or drop them"
            )
        how = Greedy(
            score=self.score,
            support=records(self.support, problem.transactions.rows),
            generalize=self.generalize == "auto" and can_rise,
            local=self.scope == "local",
        )
        outcome = greedy(problem, how, work)
        if any(step.action == "generalize" for step in outcome.steps) and not any(s.closed for s in problem.spaces):
            other = greedy(problem, replace(how, generalize=False), work)
            outcome = min(outcome, other, key=lambda candidate: _lost(problem, candidate, how.support))
        return outcome


def _lost(problem: ItemProblem, outcome: ItemOutcome, support: int) -> float:
    """How many maximal frequent sets are lost; one with coarser items counts as far as they are blurred."""
    kept = frequent_sets(outcome.view(problem.transactions), support)
    blur = np.zeros(kept.sets.count)
    of_set = np.repeat(np.arange(kept.sets.count), np.diff(kept.sets.starts))
    labels = outcome.shown.to[kept.sets.codes]
    np.maximum.at(blur, of_set[labels >= 0], outcome.shown.penalty[labels[labels >= 0]])
    return float(np.where(kept.kept, blur, 1.0).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """Sets of items by generalization along their tree, or by suppression.

    Claim: no set of known items violates the requirement.
    How: by generalization, known sets grow by one item at a time and what is too rare rises in the tree, as little as
        possible; by suppression, as ``trajectory`` does. ``auto`` generalizes where every column has a tree.
    Source: Terrovitis, Mamoulis, Kalnis 2008; Mohammed 2012, chapter 4.
    """

    by: Literal["auto", "suppression", "generalization"] = "auto"
    """How items are hidden."""
    score: Score = "cheapest"
    """For suppression: what makes an item the next one."""
    support: float = 0.01
    """What is frequent: a share of the records below 1, or a number of records."""
    scope: Literal["global", "local"] = "global"
    """For suppression: whether an item is left out everywhere or only where a violating set stands."""

    def __post_init__(self) -> None:
        one_of("by", self.by, WAYS)
        one_of("score", self.score, SCORES)
        one_of("scope", self.scope, SCOPES)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        treeless = [space.name for space in problem.spaces if all(axis.tree is None for axis in space.axes)]
        rigid = [model.name for model in problem.models if not model.generalizes]
        by = self.by
        if by == "auto":
            by = "suppression" if treeless or rigid or self.scope == "local" else "generalization"
        if by == "suppression":
            never = Trajectory(score=self.score, support=self.support, generalize="never", scope=self.scope)
            return never(problem, work)
        if treeless:
            raise PlanError(
                f"columns.{treeless[0]}.hierarchy is missing; without a tree use algorithm.by = 'suppression'"
            )
        if rigid or self.scope == "local":
            what = rigid[0] if rigid else "scope = 'local'"
            hint = "; algorithm.name = 'top-down-sets' shows items coarser for it" if rigid else ""
            raise PlanError(f"algorithm.by: {what} goes with 'suppression' only{hint}")
        return apriori(problem, work)


def positive_support(value: float) -> None:
    """A share in (0, 1), or a whole number of records from 1 on."""
    if number("support", value) >= 1:
        whole("support", int(value) if float(value).is_integer() else value)
    elif not value > 0:
        raise ParameterError(f"support must be a share above 0, or a number of records, not {value}")


def records(support: float, rows: int) -> int:
    """How many records a frequent set has at least.

    >>> records(0.005, 80_000), records(30, 80_000), records(0.01, 10)
    (400, 30, 1)
    """
    return int(support) if support >= 1 else max(1, ceil(support * rows - 1e-9))
