"""The constraint satisfaction problem of hiding, as an integer program on degree-reduced constraints.

A variable says whether a record keeps an item. Whether it keeps several is their product; a product gets a variable of
its own, bound to its factors by inequalities of degree one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.beside import beside
from sfumato.ground.extras import extra
from sfumato.publish.sanitize.border_hiding import maximal
from sfumato.publish.sanitize.erasing import Erasing
from sfumato.publish.sanitize.hiding_problem import CodedPattern, HidingProblem, Items

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
        columns = np.fromiter((one for terms, _, _ in self.lines for one in terms), np.int64, sum(heights))
        values = np.fromiter((x for terms, _, _ in self.lines for x in terms.values()), np.float64, sum(heights))
        matrix = sparse.csr_matrix((values, (at, columns)), shape=(len(self.lines), many))
        low, high = (np.array([line[side] for line in self.lines]) for side in (1, 2))
        options = {"mip_rel_gap": 0.0, "node_limit": max(int(steps / (_NODE * max(len(values), 1_000))), 1)}
        found = beside(
            lambda: optimize.milp(
                np.array(self.costs),
                integrality=np.array(self.whole, np.int64),
                bounds=optimize.Bounds(0, 1),
                constraints=optimize.LinearConstraint(matrix, low, high),
                options=options,
            )
        )
        bound = getattr(found, "mip_dual_bound", None)
        return found.x, None if bound is None else float(bound), int(found.status)


class Model:
    """The variables of one problem: which record keeps which item."""

    def __init__(self, problem: HidingProblem) -> None:
        self.problem, self.state, self.program = problem, Erasing(problem), Program()
        self.rows_of = {one: self.state.rows_with(one.whole).tolist() for one in problem.patterns}
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
            made = self.products[row, some] = self.program.variable(whole=False)
            factors = [self.keeps[row, item] for item in some]
            for one in factors:
                self.program.bound({one: 1.0, made: -1.0}, low=0.0)
            self.program.bound({**dict.fromkeys(factors, 1.0), made: -1.0}, high=len(some) - 1.0)
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
        terms = {one: float(down) for one in whole}
        for one in left:
            terms[one] = terms.get(one, 0.0) - up
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
        sides = [self.state.sets[place] for place in sets] + [one.left for one in self.problem.patterns if one.left]
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
