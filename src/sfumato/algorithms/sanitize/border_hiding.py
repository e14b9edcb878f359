"""Hiding along the border: the largest sets that should stay frequent say which item leaves which record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.sanitize.problem import CodedPattern, Erasing, Flags, HidingProblem, Items, Sanitized
from sfumato.core.run_context import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class BorderHiding:
    """Max-min on the revised positive border: the border set that is nearest to being lost is spared as far as it goes.

    The revised positive border are the maximal frequent sets in which no sensitive set lies: while they are frequent,
    so is every set within them.
    Claim: every sensitive pattern is hidden, and ``lost`` is the number of frequent sets that are lost.
    How: one item of one record at a time. Of the pattern's items, the one whose weakest border set has the most records
        to spare (max-min); of the records, one without that border set if there is one, and then the one with the
        fewest other border sets that are near to being lost.
    Source: Sun, Yu 2005; Moustakides, Verykios 2008, algorithms max-min 1 and 2.
    """

    name: ClassVar[str] = "hide-border"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records without what was taken out."""
        state = Erasing(problem)
        border = maximal(problem.kept[0])
        while waiting := [(need, pattern) for pattern in problem.patterns if (need := state.need(pattern))]:
            waiting.sort(key=lambda each: (-each[0], each[1].whole, each[1].left))
            for place, (_, pattern) in enumerate(waiting):
                work.advance("hiding along the border", place, len(waiting))
                _hide(state, pattern, border)
        work.advance("hiding along the border", 1, 1)
        return state.result(self.name)


def maximal(sets: Iterable[Items]) -> list[int]:
    """The places of the sets that lie within no other of them.

    >>> maximal([(1,), (2,), (1, 3), (3,)])
    [1, 2]
    """
    placed = list(enumerate(sets))
    within: set[Items] = set()
    for _, items in placed:
        within.update(items[:at] + items[at + 1 :] for at in range(len(items)))
    return [place for place, items in placed if items not in within]


def _hide(state: Erasing, pattern: CodedPattern, border: list[int]) -> None:
    need = state.need(pattern)
    if not need:
        return
    rows = state.rows_with(pattern.whole)
    near = [place for place in border if not set(pattern.right).isdisjoint(state.sets[place])]
    known: dict[int, Flags] = {}
    held = np.array([state.holding(rows, state.sets[place], known) for place in near], np.bool_).reshape(
        len(near), len(rows)
    )
    weighed = _Weighed(pattern.right, held, state.slack[near], [state.sets[place] for place in near])
    taken: dict[int, list[int]] = {}
    for _ in range(need):
        item, row = weighed.next()
        taken.setdefault(item, []).append(row)
    for item, some in taken.items():
        state.erase(rows[np.sort(np.array(some))], item)


class _Weighed:
    """The records with a pattern, and how near the border sets in each of them are to being lost."""

    def __init__(self, items: Items, held: Flags, slack: NDArray[np.int64], sets: list[Items]) -> None:
        self.items, self.held, self.slack = items, held, slack.copy()
        self.having: dict[int, Flags] = {
            item: np.array([item in itemset for itemset in sets], np.bool_) for item in items
        }
        part = _part(self.slack)
        self.weights = {item: (part * mine) @ held for item, mine in self.having.items()}
        self.gone: Flags = np.zeros(held.shape[1], np.bool_)

    def next(self) -> tuple[int, int]:
        """The item to take out, and the record that loses it."""
        item = max(self.items, key=lambda candidate: (_weakest(self.slack, self.having[candidate]), -candidate))
        open_ = np.flatnonzero(self.having[item] & (self.slack >= 0))
        cost = self.weights[item].copy()
        if len(open_):
            cost += 1e6 * self.held[open_[np.argmin(self.slack[open_])]]
        cost[self.gone] = np.inf
        row = int(np.argmin(cost))
        self.gone[row] = True
        self._lose(np.flatnonzero(self.having[item] & self.held[:, row]))
        return item, row

    def _lose(self, places: NDArray[np.int64]) -> None:
        """Border sets that lose a record weigh more in the others, and nothing when they are lost."""
        before = _part(self.slack[places])
        self.slack[places] -= 1
        change = _part(self.slack[places]) - before
        for item, mine in self.having.items():
            self.weights[item] += (change * mine[places]) @ self.held[places]


def _part(slack: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a set weighs that can lose so many records."""
    return np.where(slack >= 0, 1.0 / (np.maximum(slack, 0) + 1.0), 0.0)


def _weakest(slack: NDArray[np.int64], mine: Flags) -> float:
    """The records that the weakest border set with an item can lose; sets that are lost have nothing to lose."""
    open_ = slack[mine & (slack >= 0)]
    return float(open_.min()) if len(open_) else float("inf")
