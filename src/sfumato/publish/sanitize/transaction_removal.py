"""Taking whole records out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.group.holders import Holders
from sfumato.group.transactions import Transactions, ragged
from sfumato.publish.sanitize.erasing import chosen
from sfumato.publish.sanitize.hiding_problem import CodedPattern, Flags, HidingProblem, Sanitized

_WATCHED = 500
"""At most so many sets that could be lost decide which records go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRemoval:
    """Take whole records out, those that have most sensitive patterns and fewest sets near to being lost first.

    Claim: every sensitive pattern is hidden among the records that are left; thresholds are shares of these.
    How: pattern by pattern as many records as it needs, in one go. Fewer records lower the number that a share stands
        for, so patterns are looked at again until all are hidden.
    Source: Verykios et al. 2004; the removal of transactions in Oliveira, Zaiane 2002.
    """

    name: ClassVar[str] = "hide-transactions"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records that are left."""
        state = _Leaving(problem)
        while waiting := [one for one in problem.patterns if state.need(one)]:
            for place, pattern in enumerate(waiting):
                work.advance("hiding", place, len(waiting))
                state.remove(pattern, waiting)
        work.advance("hiding", 1, 1)
        return state.result(self.name)


class _Leaving:
    """The records of a problem that have not been taken out."""

    def __init__(self, problem: HidingProblem) -> None:
        self.problem = problem
        self.holders = Holders(problem.transactions)
        self.left: Flags = np.ones(problem.transactions.rows, np.bool_)
        self.sets, supports = problem.kept
        self.supports = supports.copy()

    def rows(self, items: tuple[int, ...]) -> NDArray[np.int32]:
        every = self.holders.of_all(items)
        found: NDArray[np.int32] = every[self.left[every]]
        return found

    def need(self, pattern: CodedPattern) -> int:
        """The fewest records with the pattern whose removal hides it."""
        limits, rows = self.problem.thresholds, int(self.left.sum())
        whole = len(self.rows(pattern.whole))
        side = len(self.rows(pattern.left)) if pattern.left else None
        low, high = 0, whole

        def hidden(many: int) -> bool:
            return limits.hidden(whole - many, None if side is None else side - many, rows - many)

        while low < high:  # hidden once is hidden with more: the pattern loses a record for every one that all lose
            middle = (low + high) // 2
            low, high = (low, middle) if hidden(middle) else (middle + 1, high)
        return low

    def remove(self, pattern: CodedPattern, waiting: list[CodedPattern]) -> None:
        """Take out as many records as a pattern needs."""
        need = self.need(pattern)
        if not need:
            return
        rows = self.rows(pattern.whole)
        weights = self._weights(rows, need) - 1e6 * sum(
            np.isin(rows, self.holders.of_all(other.whole), assume_unique=True).astype(np.float64) for other in waiting
        )
        gone = rows[chosen(weights, need, np.diff(self.problem.transactions.starts)[rows])]
        self.left[gone] = False
        part = self._only(gone)
        mine = Holders(part)
        present = set(np.unique(part.codes).tolist())
        for place, items in enumerate(self.sets):
            if present.issuperset(items):
                self.supports[place] -= len(mine.of_all(items))

    def _weights(self, rows: NDArray[np.int32], need: int) -> NDArray[np.float64]:
        slack = self.supports - self.problem.thresholds.least(int(self.left.sum()))
        near = np.flatnonzero((slack < need) & (slack >= 0))
        near = near[np.argsort(slack[near], kind="stable")][:_WATCHED]
        part, weights = Holders(self._only(rows)), np.zeros(len(rows))
        for place in near.tolist():
            weights[part.of_all(self.sets[place])] += 1.0 / (float(slack[place]) + 1.0)
        return weights

    def _only(self, rows: NDArray[np.int32]) -> Transactions:
        whole = self.problem.transactions
        places = ragged(whole.starts, rows)
        sizes = np.diff(whole.starts)[rows]
        return replace(whole, starts=np.concatenate(([0], np.cumsum(sizes))), codes=whole.codes[places], secret=None)

    def result(self, method: str) -> Sanitized:
        rows = np.flatnonzero(self.left)
        if not len(rows):
            raise Infeasible(
                "no record would be left: every one has a sensitive pattern; take items out instead "
                '(algorithm.name = "hide-items")'
            )
        shown = self._only(rows.astype(np.int32))
        return Sanitized(
            shown=shown,
            rows=rows,
            erased=len(self.problem.transactions.codes) - len(shown.codes),
            lost=int((self.supports < self.problem.thresholds.least(len(rows))).sum()),
            method=method,
        )
