"""Apriori-based anonymization: known sets grow by one item at a time, and what is too rare is shown coarser."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets
from sfumato.group.transactions import ragged
from sfumato.publish.items.alternatives import Alternatives, Way
from sfumato.publish.items.cover import Cover
from sfumato.publish.items.item_problem import ItemOutcome, ItemProblem, ItemStep, shown_records
from sfumato.publish.items.links import Links

_BLOCK = 512
"""So many violating sets are looked at together for items that have risen."""


def apriori(problem: ItemProblem, work: Work) -> ItemOutcome:
    """The records as ``mended`` shows them."""
    cover, steps, effort = mended(problem, work)
    none = np.empty(0, np.int64)
    shown, now = shown_records(problem, cover, none)
    return ItemOutcome(shown=shown, transactions=now, stripped=none, steps=tuple(steps), effort=effort)


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
            shown, now = shown_records(problem, cover, none)
            bad = problem.violating(now, work, most=size)
            found = Itemsets.chained(bad)
            effort["violating sets"] += found.count
            if not found.count:
                break
            effort["passes"] += 1
            links = Links(found, now.count), Links(Itemsets.joined([]), now.count)
            owner = np.repeat(np.arange(len(bad)), [one.count for one in bad])
            ways = Alternatives(problem, cover, shown, now, *links, owner)
            _Pass(ways, found, cover).run(steps, work)
    return cover, steps, effort


def _size(model: object) -> int:
    return int(getattr(model, "m", None) or getattr(model, "l", None) or 2**31)


class _Pass:
    """One pass over the violating sets; a set of which an item has risen in this pass waits for the next."""

    def __init__(self, ways: Alternatives, found: Itemsets, cover: Cover) -> None:
        self.ways, self.found, self.cover = ways, found, cover
        self.changed = np.zeros(ways.now.count, np.bool_)
        self.supports = ways.now.supports()

    def run(self, steps: list[ItemStep], work: Work) -> None:
        """Mend every set that no earlier step has touched, from the rarest on."""
        starts, codes = self.found.starts, self.found.codes
        order = np.argsort(self.found.rows, kind="stable")
        for done in range(0, len(order), _BLOCK):
            for number in self._untouched(order[done : done + _BLOCK]).tolist():
                work.advance("mend violating sets", done, self.found.count)
                items = codes[starts[number] : starts[number + 1]]
                step = None if self.changed[items].any() else self._mended(number, items)
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
        shown = self.ways.shown
        open_items = [item for item in items.tolist() if not shown.closed[item]]
        if not open_items:
            raise Infeasible(
                "columns that every record has a value in cannot be shown coarser, and still some value is too rare or "
                "tells too surely; ask for a smaller k or a larger c, or leave a column out"
            )
        item = min(open_items, key=lambda one: (self.supports[one], one))
        self.cover.leave_out(int(shown.first[item]))
        self.changed[item] = True
        return ItemStep(action="suppress", label=shown.labels[item], gain=1, loss=float(self.supports[item]))

    def _price(self, way: Way) -> float:
        """How much more is blurred: the entries that rise, each with the share of the column it gains."""
        members = way.members
        return float((self.supports[members] * (way.penalty - self.ways.shown.penalty[members])).sum())
