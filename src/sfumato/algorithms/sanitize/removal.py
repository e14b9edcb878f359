"""Hide by removing or blocking single items, or by removing records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.sanitize.problem import CodedPattern, Erasing, Flags, HidingProblem, Rows, Sanitized, chosen
from sfumato.core.arguments import between, one_of
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.transactions import Holders, Transactions, ragged

# Taking single items out of records, or blocking them with unknowns, fewest side effects first.


_MAX_SETS_PER_ITEM = 200
"""At most so many sets that an item's removal could lose decide which records lose it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """One item and the records that would lose it."""

    item: int
    rows: Rows
    lost: int
    """How many of the watched sets would be lost."""
    weight: float
    """How near the others would come to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRemoval:
    """Take items out of as few records as it needs: by support from either side, by confidence from the right one.

    Claim: every sensitive pattern is hidden.
    How: pattern by pattern, the one with most records to change first. Of its items, the one whose removal loses the
        fewest frequent sets; of the records that have the pattern, those with the fewest sets that are near to being
        lost, short ones first. Patterns that later removals brought back are hidden again.
    Source: Verykios et al. 2004, algorithms 1.b (confidence), 2.a and 2.b (support).
    """

    name: ClassVar[str] = "hide-items"

    by: Literal["support", "confidence"] = "confidence"
    """Whether a rule is hidden by its support only, or by whichever of support and confidence needs fewer records."""

    def __post_init__(self) -> None:
        """Refuse other ways."""
        one_of("by", self.by, ("support", "confidence"))

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records without what was taken out."""
        return _erased(problem, work, by_support=self.by == "support").result(self.name)


def _erased(problem: HidingProblem, work: Work, *, by_support: bool) -> Erasing:
    state = Erasing(problem)
    while waiting := [
        (need, pattern) for pattern in problem.patterns if (need := state.need(pattern, by_support=by_support))
    ]:
        waiting.sort(key=lambda each: (-each[0], each[1].whole, each[1].left))
        for place, (_, pattern) in enumerate(waiting):
            work.advance("hiding", place, len(waiting))
            need = state.need(pattern, by_support=by_support)
            if need:
                best = _best(state, pattern, need, by_support=by_support)
                state.erase(best.rows, best.item)
    work.advance("hiding", 1, 1)
    return state


def _best(state: Erasing, pattern: CodedPattern, need: int, *, by_support: bool) -> _Choice:
    rows = state.rows_with(pattern.whole)
    known: dict[int, Flags] = {}
    sizes = np.diff(state.transactions.starts)[rows]
    victims = pattern.whole if by_support else pattern.right
    choices = [_choice(state, rows, item, need, sizes, known) for item in victims]
    return min(choices, key=lambda choice: (choice.lost, choice.weight, choice.item))


def _choice(
    state: Erasing, rows: Rows, item: int, need: int, sizes: NDArray[np.int64], known: dict[int, Flags]
) -> _Choice:
    """The records that lose an item with the fewest side effects."""
    slack = state.slack
    places = np.array(state.of_item.get(item, ()), np.int64)
    near = places[(slack[places] < need) & (slack[places] >= 0)]
    near = near[np.argsort(slack[near], kind="stable")][:_MAX_SETS_PER_ITEM]
    weights, members = np.zeros(len(rows)), []
    for place in near.tolist():
        has = state.holding(rows, state.sets[place], known)
        members.append(has)
        weights += has / (float(slack[place]) + 1.0)
    some = chosen(weights, need, sizes)
    lost = sum(int(has[some].sum()) > slack[place] for has, place in zip(members, near.tolist(), strict=True))
    return _Choice(item=item, rows=rows[some], lost=lost, weight=float(weights[some].sum()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocking:
    """Show items as unknown instead of taking them out, and others that records never had too.

    Claim: a pattern is hidden among what records surely have: its least support or its least confidence is below the
        thresholds. Read with every unknown as had, it may be there; ``decoys`` decide how much that reading is worth.
    How: the items that ``ItemRemoval`` would take out become unknown. For each, ``decoys`` records that do not have the
        item show it as unknown too, records that have the rest of a pattern first; which of them is drawn by chance.
    Source: Saygin, Verykios, Clifton 2001, whose algorithm also puts unknowns in place of zeros for this reason.
    """

    name: ClassVar[str] = "hide-unknowns"

    decoys: float = 1.0
    """How many records that lack an item show it as unknown, for every one that has it and does."""

    def __post_init__(self) -> None:
        """Refuse what hides nothing."""
        between("decoys", self.decoys, 0, 100)

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records with what they surely have, and what is unknown."""
        state = _erased(problem, work, by_support=False)
        result = state.result(self.name)
        drawn = work.chance.generator()
        extra: list[tuple[NDArray[np.int64], int]] = []
        blocked = state.transactions.codes[~state.kept]
        for item in sorted(set(blocked.tolist())):
            many = round(self.decoys * int((blocked == item).sum()))
            extra.append((self._decoys(state, item, many, drawn), item))
        return replace(result, unknown=_unknown(state, extra))

    def _decoys(self, state: Erasing, item: int, many: int, drawn: np.random.Generator) -> NDArray[np.int64]:
        """Records that never had an item; those that have the rest of a pattern with it come first."""
        lacks = np.ones(state.transactions.rows, np.bool_)
        lacks[state.holders.of(item)] = False
        likely = np.zeros(state.transactions.rows, np.bool_)
        for pattern in state.problem.patterns:
            if item in pattern.whole:
                likely[state.rows_with([other for other in pattern.whole if other != item])] = True
        order = drawn.permutation(np.flatnonzero(lacks))
        first = likely[order]
        decoys: NDArray[np.int64] = np.concatenate((order[first], order[~first]))[:many]
        return decoys


def _unknown(state: Erasing, extra: list[tuple[NDArray[np.int64], int]]) -> Transactions:
    """What each record may have or not: what was blocked in it, and its decoys."""
    whole, many = state.transactions, np.int64(max(state.transactions.count, 1))
    hidden = ~state.kept
    own = whole.row_of[hidden].astype(np.int64) * many + whole.codes[hidden]
    keys = np.sort(np.concatenate([own, *(rows * many + item for rows, item in extra)]))
    owner, codes = np.divmod(keys, many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=whole.rows), dtype=np.int64)))
    return Transactions(starts=starts, codes=codes.astype(np.int32), labels=whole.labels)


# Taking whole records out.


_MAX_SETS_PER_RECORD = 500
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
        while waiting := [pattern for pattern in problem.patterns if state.need(pattern)]:
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
        rows: NDArray[np.int32] = every[self.left[every]]
        return rows

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
        near = near[np.argsort(slack[near], kind="stable")][:_MAX_SETS_PER_RECORD]
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
        transactions = self._only(rows.astype(np.int32))
        return Sanitized(
            shown=transactions,
            rows=rows,
            erased=len(self.problem.transactions.codes) - len(transactions.codes),
            lost=int((self.supports < self.problem.thresholds.least(len(rows))).sum()),
            method=method,
        )
