"""Exact hiding as an integer program with the fewest side effects, and the choice of a method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.sanitize.border_hiding import BorderHiding, maximal
from sfumato.algorithms.sanitize.problem import CodedPattern, Erasing, HidingProblem, Items, Sanitized
from sfumato.algorithms.sanitize.removal import ItemRemoval
from sfumato.core.extras import extra
from sfumato.core.run_context import PACE, Work, run_in_thread
from sfumato.counts.transactions import Holders

# The constraint satisfaction problem of hiding, as an integer program on degree-reduced constraints.
#
# A variable says whether a record keeps an item. Whether it keeps several is their product; a product gets a variable
# of its own, bound to its factors by inequalities of degree one.


Terms = dict[int, float]
"""Variables with their factors."""


_NODE = 30
"""Steps that the solver takes at one node for each factor of the constraints."""


@dataclass(slots=True)
class Program:
    """Variables between 0 and 1, linear constraints, and what each variable costs."""

    costs: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    lines: list[tuple[Terms, float, float]] = field(default_factory=list)
    """Terms, and between what they must lie."""

    def variable(self, cost: float = 0.0, *, whole: bool = True) -> int:
        """A new variable; whole numbers only, unless the constraints see to that."""
        self.costs.append(cost)
        self.whole.append(whole)
        return len(self.costs) - 1

    def bound(self, terms: Terms, low: float = -np.inf, high: float = np.inf) -> None:
        """A new constraint."""
        self.lines.append((terms, low, high))

    def solved(self, steps: float) -> tuple[NDArray[np.float64] | None, float | None, int]:
        """The best values (None where there are none), the least cost that any can have, and the solver's status.

        The solver is stopped by its nodes, never by the clock: the same program always has the same answer.
        """
        optimize = extra("scipy.optimize", "exact hiding of rules")
        sparse = extra("scipy.sparse", "exact hiding of rules")
        many = len(self.costs)
        heights = [len(terms) for terms, _, _ in self.lines]
        at = np.repeat(np.arange(len(self.lines)), heights)
        columns = np.fromiter((variable for terms, _, _ in self.lines for variable in terms), np.int64, sum(heights))
        values = np.fromiter((x for terms, _, _ in self.lines for x in terms.values()), np.float64, sum(heights))
        matrix = sparse.csr_matrix((values, (at, columns)), shape=(len(self.lines), many))
        low, high = (np.array([line[side] for line in self.lines]) for side in (1, 2))
        options = {"mip_rel_gap": 0.0, "node_limit": max(int(steps / (_NODE * max(len(values), 1_000))), 1)}
        solution = run_in_thread(
            lambda: optimize.milp(
                np.array(self.costs),
                integrality=np.array(self.whole, np.int64),
                bounds=optimize.Bounds(0, 1),
                constraints=optimize.LinearConstraint(matrix, low, high),
                options=options,
            )
        )
        bound = getattr(solution, "mip_dual_bound", None)
        return solution.x, None if bound is None else float(bound), int(solution.status)


class Model:
    """The variables of one problem: which record keeps which item."""

    def __init__(self, problem: HidingProblem) -> None:
        self.problem, self.state, self.program = problem, Erasing(problem), Program()
        self.rows_of = {pattern: self.state.rows_with(pattern.whole).tolist() for pattern in problem.patterns}
        self.touch: dict[int, set[int]] = {}
        for pattern, rows in self.rows_of.items():
            for row in rows:
                self.touch.setdefault(row, set()).update(pattern.whole)
        self.keeps: dict[tuple[int, int], int] = {}
        for row in sorted(self.touch):
            for item in sorted(self.touch[row]):
                self.keeps[row, item] = self.program.variable(-1.0)
        self.products: dict[tuple[int, Items], int] = {}

    def product(self, row: int, items: Iterable[int]) -> int:
        """The variable that says whether a record keeps all of some items, which may all leave it."""
        some = tuple(items)
        if len(some) == 1:
            return self.keeps[row, some[0]]
        if (row, some) not in self.products:
            product = self.products[row, some] = self.program.variable(whole=False)
            factors = [self.keeps[row, item] for item in some]
            for factor in factors:
                self.program.bound({factor: 1.0, product: -1.0}, low=0.0)
            self.program.bound({**dict.fromkeys(factors, 1.0), product: -1.0}, high=len(some) - 1.0)
        return self.products[row, some]

    def count(self, items: Items, rows: Iterable[int]) -> tuple[Terms, int]:
        """How many of some records, which all have some items, keep them: terms, and how many do in any case."""
        terms: Terms = {}
        sure = 0
        for row in rows:
            loose = self.touch.get(row, set()).intersection(items)
            if loose:
                terms[self.product(row, sorted(loose))] = 1.0
            else:
                sure += 1
        return terms, sure

    def hide(self, pattern: CodedPattern) -> None:
        """The pattern is hidden by its support or, if it is a rule, by its confidence."""
        limits, rows = self.problem.thresholds, self.rows_of[pattern]
        whole, _ = self.count(pattern.whole, rows)
        most = limits.most_hidden(self.problem.transactions.rows)
        if not pattern.left:
            self.program.bound(whole, high=most)
            return
        by_support = self.program.variable()
        self.program.bound({**whole, by_support: float(len(rows))}, high=float(most + len(rows)))
        left, sure = self.count(pattern.left, self.state.rows_with(pattern.left).tolist())
        up, down = limits.sure.numerator, limits.sure.denominator
        terms = {variable: float(down) for variable in whole}
        for variable in left:
            terms[variable] = terms.get(variable, 0.0) - up
        room = float(down * len(rows) + 1)
        self.program.bound({**terms, by_support: -room}, high=float(up * sure - 1))

    def at_risk(self) -> list[int]:
        """The sets that should be kept and could be lost; those within one that cannot are left out."""
        slack = self.state.slack.tolist()
        touchable = np.array(sorted(self.touch), np.int32)
        known: dict[int, NDArray[np.bool_]] = {}
        risky, firm = [], set[Items]()
        loose = frozenset[int]().union(*self.touch.values())
        for place in range(len(self.state.sets) - 1, -1, -1):  # the large ones first
            items = self.state.sets[place]
            if items in firm or loose.isdisjoint(items):
                firm.update(_smaller(items))
                continue
            rows = touchable[self.state.holding(touchable, items, known)]
            if sum(not self.touch[row].isdisjoint(items) for row in rows.tolist()) > slack[place]:
                risky.append(place)
            else:
                firm.update(_smaller(items))
        return sorted(risky)

    def keep(self, place: int, lost: int | None) -> None:
        """A set stays frequent; ``lost`` is the variable that says that it does not, if it may be lost."""
        items = self.state.sets[place]
        terms, sure = self.count(items, self.state.rows_with(items).tolist())
        least = float(self.state.least - sure)
        self.program.bound(terms if lost is None else {**terms, lost: least}, low=least)

    def alike(self, sets: Iterable[int]) -> None:
        """Records that nothing tells apart are changed in one order only."""
        known: dict[int, NDArray[np.bool_]] = {}
        touchable = np.array(sorted(self.touch), np.int32)
        sides = [self.state.sets[place] for place in sets] + [
            pattern.left for pattern in self.problem.patterns if pattern.left
        ]
        held = np.array([self.state.holding(touchable, items, known) for items in sides], np.bool_)
        groups: dict[tuple[Items, bytes], int] = {}
        for at, row in enumerate(touchable.tolist()):
            items = tuple(sorted(self.touch[row]))
            key = items, np.packbits(held[:, at]).tobytes() if sides else b""
            before = groups.get(key)
            groups[key] = row
            if before is not None and len(items) <= 20:
                terms = {self.keeps[row, item]: 2.0**n for n, item in enumerate(items)}
                terms |= {self.keeps[before, item]: -(2.0**n) for n, item in enumerate(items)}
                self.program.bound(terms, low=0.0)


def _smaller(items: Items) -> Iterable[Items]:
    return (items[:at] + items[at + 1 :] for at in range(len(items)))


def posed(problem: HidingProblem, *, relaxed: bool) -> Model:
    """The program of a problem; relaxed, a set that should be kept may be lost at a price above that of all items."""
    model = Model(problem)
    for pattern in problem.patterns:
        model.hide(pattern)
    risky = model.at_risk()
    if relaxed:
        for place in risky:
            model.keep(place, model.program.variable(len(model.keeps) + 1.0))
    else:
        for at in maximal([model.state.sets[place] for place in risky]):
            model.keep(risky[at], None)
    model.alike(risky)
    return model


# Hiding with the fewest side effects, proven.


SECONDS = 120.0
"""How long each of the two programs may be searched, counted in steps, where the plan sets no limit."""
MAX_ENTRIES = 20_000
"""With more items in records that have a sensitive pattern no program is posed: a solver may never end its first node.
"""
_INFEASIBLE, _PROVEN = 2, 0
"""What the solver says: no values meet the constraints; none are better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactHiding:
    """The choice of items that loses the fewest frequent sets and, of those, takes the fewest items out.

    Claim: every sensitive pattern is hidden. ``proven``: no choice of items to take out loses fewer of the frequent
        sets in which no sensitive set lies, or as many with fewer items; else ``gap`` bounds how much better one is.
    How: first the constraint satisfaction problem with every set of the revised positive border kept; where that has no
        solution, the relaxation in which a set may be lost at a price above that of all items. Only items of sensitive
        patterns in records that have the pattern are worth taking out: putting any other back neither brings a pattern
        nor loses a set.
    Source: Gkoulalas-Divanis, Verykios 2006 and 2009; solved by HiGHS.
    """

    name: ClassVar[str] = "hide-exact"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """The records without what was taken out."""
        begun = BorderHiding()(problem, work)
        if not begun.erased:
            return replace(begun, method=self.name, proven=True)
        limit = SECONDS * PACE if work.steps is None else (work.steps - work.spent) / 2
        with work.stage("exact search"):
            model = posed(problem, relaxed=False)
            if len(model.keeps) > MAX_ENTRIES:
                return replace(begun, method=self.name, proven=False, gap=float(begun.lost))
            values, _, status = model.program.solved(limit)
            if status == _INFEASIBLE or (values is None and begun.lost):
                model = posed(problem, relaxed=True)
                values, bound, status = model.program.solved(limit)
                least = 0.0 if bound is None else bound / (len(model.keeps) + 1)  # every item kept counts one at most
                return self._better(model, values, begun, status, fewest_lost=max(ceil(least - 1e-6), 0))
            return self._better(model, values, begun, status, fewest_lost=0)

    def _better(
        self, model: Model, values: NDArray[np.float64] | None, begun: Sanitized, status: int, *, fewest_lost: int
    ) -> Sanitized:
        """What the solver found, or what the border gave where that is better."""
        solution = None if values is None else _taken(model, values)
        best = (
            begun
            if solution is None
            else min((begun, solution), key=lambda candidate: (candidate.lost, candidate.erased))
        )
        proven = status == _PROVEN and solution is not None
        gap = None if proven else float(max(best.lost - fewest_lost, 0))
        return replace(best, method=self.name, proven=proven, gap=gap)


def _taken(model: Model, values: NDArray[np.float64]) -> Sanitized | None:
    """The records without what the solver takes out; None where its rounding left a pattern."""
    gone: dict[int, list[int]] = {}
    for (row, item), variable in model.keeps.items():
        if values[variable] < 0.5:
            gone.setdefault(item, []).append(row)
    for item, rows in gone.items():
        model.state.erase(np.array(sorted(rows), np.int32), item)
    hidden = all(map(model.state.done, model.problem.patterns))
    return model.state.result(ExactHiding.name) if hidden else None


# Which method of hiding a problem is for.


EXACT_ENTRIES = 1_000
"""With more items in records that have a sensitive pattern, no exact search is begun."""
BORDER_CELLS = 20_000_000
"""With more frequent sets times records that have a sensitive pattern, no border is walked."""
WHY = {
    "hide-exact": "Chosen by auto: few enough items of sensitive patterns for an exact search.",
    "hide-border": "Chosen by auto: too many items of sensitive patterns for an exact search, and few enough frequent "
    "sets to walk the border.",
    "hide-items": "Chosen by auto: too many records and frequent sets for an exact search or the border.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoHiding:
    """The exact search for small problems, the border for larger ones, else items are removed greedily."""

    name: ClassVar[str] = "auto"

    def __call__(self, problem: HidingProblem, work: Work) -> Sanitized:
        """By the method that fits the size of the problem."""
        run = choice(problem)
        return replace(run(problem, work), why=WHY[run.name])


def choice(problem: HidingProblem) -> ExactHiding | BorderHiding | ItemRemoval:
    """The method by the items and records that sensitive patterns touch."""
    holders = Holders(problem.transactions)
    rows = [len(holders.of_all(pattern.whole)) for pattern in problem.patterns]
    entries = sum(many * len(pattern.whole) for many, pattern in zip(rows, problem.patterns, strict=True))
    if entries <= EXACT_ENTRIES:
        return ExactHiding()
    if sum(rows) * len(problem.kept[0]) <= BORDER_CELLS:
        return BorderHiding()
    return ItemRemoval()
