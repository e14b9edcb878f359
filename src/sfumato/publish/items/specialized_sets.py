"""Top-down control of inferences: items begin at the top of their tree and are shown as fine as may be told."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.models.rho_uncertainty import RhoUncertainty
from sfumato.publish.items.guarded_cut import GuardedCut
from sfumato.publish.items.item_problem import Action, ItemProblem, ItemStep

MOST_PASSES = 5
"""What did not pay is tried again at most so often, as long as something else was done since."""
_EPS = 1e-9
_TRY = 10
"""Steps per entry of the records to try one node."""


class Specializing:
    """One search."""

    def __init__(
        self, problem: ItemProblem, models: Sequence[RhoUncertainty], sensitive: NDArray[np.bool_], *, spare: bool
    ) -> None:
        self.cut = GuardedCut(problem, models, sensitive)
        self.problem = problem
        self.may_go = self.cut.may_go if spare else ~self.cut.forest.closed
        self.steps: list[ItemStep] = []
        self.effort = {"tried": 0, "taken": 0}

    def begin(self) -> None:
        """Show every column at the top of its tree, and sensitive items as they are; leave out what that tells.

        The top of an open column costs nothing to leave out: it says no more than that a record is not empty. Closed
        columns stay, and where they, or sensitive items alone, tell a sensitive item, the sensitive one is left out.
        """
        cut = self.cut
        roots = cut.forest.roots
        rows = np.arange(cut.records.rows)
        shown_as = cut.with_nodes(roots)
        nodes = [*roots, *np.flatnonzero(cut.forest.secret).tolist()]
        rules = cut.inferred(rows, shown_as, nodes)
        gone = cut.hit(rules, np.where(cut.forest.secret, False, self.cut.may_go)) if rules.whole else None
        gone = gone if gone is not None else cut.hit(rules, ~cut.forest.closed) if rules.whole else None
        if gone is None:
            raise Infeasible(
                "the columns of the table tell a sensitive item too surely, or records have too many sensitive items "
                "to look at; ask for a larger rho, a smaller l, or leave a column out"
            )
        cut.take(rows, shown_as, gone)
        self._note("suppress", [node for node in gone if cut.forest.secret[node]], 0.0)

    def leaves(self) -> bool:
        """Show every item as it is and leave out what tells too much; whether that can be done."""
        cut = self.cut
        nodes = np.unique(cut.forest.leaf[~cut.forest.sensitive]).tolist()
        rows, shown_as = np.arange(cut.records.rows), cut.with_nodes(nodes)
        rules = cut.inferred(rows, shown_as, nodes)
        gone = cut.hit(rules, self.may_go) if rules.whole else None
        if gone is None:
            return False
        cut.left_out.clear()
        cut.take(rows, shown_as, gone)
        self._note("suppress", gone, 0.0)
        return True

    def run(self, work: Work) -> None:
        """Show finer what tells more that way, until nothing does, or the time is over."""
        waiting = self.cut.forest.roots
        for number in range(MOST_PASSES):
            taken = self.effort["taken"]
            waiting = self._pass(waiting, work, number)
            if self.effort["taken"] == taken or work.expired:
                return

    def _pass(self, nodes: list[int], work: Work, number: int) -> list[int]:
        """Try nodes, those first whose entries would gain most; what did not pay."""
        queue = [(-self._hope(node), node) for node in {*nodes, *self._gone()}]
        heapq.heapify(queue)
        failed: list[int] = []
        done = 0
        while queue and not work.expired:
            _, node = heapq.heappop(queue)
            done += 1
            work.advance(f"show finer, pass {number + 1}", done, done + len(queue) + 1)
            work.spend(_TRY * len(self.cut.records.codes))
            found = self._finer(node)
            if found is None:
                failed.append(node)
            for one in found or ():
                heapq.heappush(queue, (-self._hope(one), one))
        return failed

    def _gone(self) -> list[int]:
        return [node for node in self.cut.left_out if not self.cut.forest.secret[node]]

    def _hope(self, node: int) -> float:
        """What showing a node finer would gain if nothing had to be left out."""
        forest, below = self.cut.forest, self.cut.forest.children(node)
        if not below:
            return self._now(node)
        return self._now(node) - float(sum(forest.penalty[one] * forest.entries[one] for one in below))

    def _now(self, node: int) -> float:
        """What the entries below a node lose now."""
        share = 1.0 if node in self.cut.left_out else float(self.cut.forest.penalty[node])
        return share * float(self.cut.forest.entries[node])

    def _finer(self, node: int) -> list[int] | None:
        """Show a node's children in its place, or itself again where it was left out; what can be shown finer then."""
        out = node in self.cut.left_out
        if out and not self.cut.forest.closed[node] and self._taken(node, [node]):
            return [node]
        below = self.cut.forest.children(node)
        if not below or not self._taken(node, below):
            return None
        return [one for one in below if self.cut.forest.children(one)]

    def _taken(self, node: int, into: list[int]) -> bool:
        """Show nodes in place of one, if that gains more than what must be left out for it loses."""
        cut, forest = self.cut, self.cut.forest
        self.effort["tried"] += 1
        hope = self._now(node) - float(sum(forest.penalty[one] * forest.entries[one] for one in into))
        if hope <= _EPS:
            return False
        rows, shown_as = cut.rows_of(node), cut.with_nodes(into)
        rules = cut.inferred(rows, shown_as, into)
        gone = cut.hit(rules, self.may_go) if rules.whole else None
        if gone is None:
            return False
        gain = hope - sum(cut.price(one) for one in gone)
        if gain <= _EPS:
            return False
        cut.left_out.discard(node)
        cut.take(rows, shown_as, gone)
        self.effort["taken"] += 1
        self._note("specialize", [node], gain)
        self._note("suppress", gone, 0.0)
        return True

    def _note(self, action: Action, nodes: list[int], gain: float) -> None:
        self.steps += [ItemStep(action=action, label=self._named(node), loss=-gain) for node in nodes]

    def _named(self, node: int) -> str:
        place = int(np.searchsorted(self.cut.forest.base, node, side="right")) - 1
        inner = np.array([[node - self.cut.forest.base[place]]], np.int32)
        return self.cut.forest.spaces[place].named(inner)[0]
