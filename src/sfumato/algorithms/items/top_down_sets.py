"""rho-uncertainty by top-down generalization of items."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.guarded_cut import GuardedCut
from sfumato.algorithms.items.problem import (
    Action,
    ItemOutcome,
    ItemProblem,
    ItemSpace,
    ItemStep,
    refuse_untreed,
    shown_records,
)
from sfumato.algorithms.items.suppression import positive_support
from sfumato.core.arguments import one_of
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.models.item_models import RhoUncertainty

# Top-down control of inferences: items begin at the top of their tree and are shown as fine as may be told.


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
            finer = self._finer(node)
            if finer is None:
                failed.append(node)
            for child in finer or ():
                heapq.heappush(queue, (-self._hope(child), child))
        return failed

    def _gone(self) -> list[int]:
        return [node for node in self.cut.left_out if not self.cut.forest.secret[node]]

    def _hope(self, node: int) -> float:
        """What showing a node finer would gain if nothing had to be left out."""
        forest, below = self.cut.forest, self.cut.forest.children(node)
        if not below:
            return self._now(node)
        return self._now(node) - float(sum(forest.penalty[child] * forest.entries[child] for child in below))

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
        return [child for child in below if self.cut.forest.children(child)]

    def _taken(self, node: int, into: list[int]) -> bool:
        """Show nodes in place of one, if that gains more than what must be left out for it loses."""
        cut, forest = self.cut, self.cut.forest
        self.effort["tried"] += 1
        hope = self._now(node) - float(sum(forest.penalty[new_node] * forest.entries[new_node] for new_node in into))
        if hope <= _EPS:
            return False
        rows, shown_as = cut.rows_of(node), cut.with_nodes(into)
        rules = cut.inferred(rows, shown_as, into)
        gone = cut.hit(rules, self.may_go) if rules.whole else None
        if gone is None:
            return False
        gain = hope - sum(cut.price(lost_node) for lost_node in gone)
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


# rho-uncertainty by generalization, as a plan names it.


WAYS = ("keep", "price")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopDownSets:
    """Sets of items for rho-uncertainty: items begin at the top of their tree and are shown as fine as rho allows.

    Claim: of the records whose labels cover what somebody knows of a person (at most l original items, sensitive ones
        among them), at most a share rho shows another sensitive item. Every item is shown alike in all records, so a
        set of original items is a set of at most as many labels, and the release is judged on sets of labels. Sensitive
        items are never shown coarser, and no label but the top of the tree lies above one; the top stands for the
        others. An item that is left out tells nothing: who knows only such items is left with everybody.
    How: the node whose children would tell most is replaced by them, if that gains more (NCP) than the labels lose that
        must be left out to break every inference above rho. Only sets with a child are counted. A label that was left
        out may come back, itself or finer. What loses less is kept, this or the items as they are with the same labels
        left out: nothing is lost against suppression by the same choice.
    Cost: for every node that is tried, the sets of up to l labels of the records that have it and a sensitive item.
    Source: Cao, Karras, Raissi, Tan 2010 (TDControl). Keeping sensitive items is ours: leaving them all out is the
        trivial solution, as the authors say.
    """

    secrets: Literal["keep", "price"] = "keep"
    """Whether sensitive items stay unless nothing else breaks an inference, or go where they cost fewer entries."""
    support: float = 0.01
    """What is frequent in the report: a share of the records below 1, or a number of records."""

    def __post_init__(self) -> None:
        one_of("secrets", self.secrets, WAYS)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        models = _asked(problem)
        sensitive = _sensitive(problem, models)
        search, other = (Specializing(problem, models, sensitive, spare=self.secrets == "keep") for _ in range(2))
        for candidate in (search, other):
            candidate.begin()
        search.run(work)
        if other.leaves() and self._worse(search, other):
            search = other
        none = np.empty(0, np.int64)
        recoding, now = shown_records(problem, search.cut.cover(), none)
        return ItemOutcome(
            shown=recoding, transactions=now, stripped=none, steps=tuple(search.steps), effort=dict(search.effort)
        )

    def _worse(self, candidate: Specializing, other: Specializing) -> bool:
        """Whether one lost more than the other; where sensitive items are to stay, these first."""
        first, second = ((search.cut.secrets_lost, search.cut.lost) for search in (candidate, other))
        return first > second if self.secrets == "keep" else first[1] > second[1]


def _asked(problem: ItemProblem) -> list[RhoUncertainty]:
    """The requirements; models of another kind are refused."""
    models = []
    for model in problem.models:
        if not isinstance(model, RhoUncertainty):
            raise PlanError(
                f"algorithm.name: top-down-sets goes with rho_uncertainty only; for {model.name} use "
                "algorithm.name = 'sets'"
            )
        models.append(model)
    return models


def _sensitive(problem: ItemProblem, models: list[RhoUncertainty]) -> NDArray[np.bool_]:
    """Which items are sensitive; columns and trees that cannot guard them are refused."""
    named = {item for model in models for item in model.sensitive}
    sensitive = np.array([label in named for label in problem.transactions.labels], np.bool_)
    for space in problem.spaces:
        own = np.flatnonzero(sensitive[space.begin : space.begin + space.count])
        refuse_untreed(space, "top-down-sets")
        if len(own) and space.closed:
            label = problem.transactions.labels[space.begin + int(own[0])]
            raise PlanError(
                f"privacy.rho_uncertainty.sensitive: {label!r} is a value of a column, which cannot be left out; give "
                "the column the role 'sensitive' and ask for lkc"
            )
        _refuse_company(space, own, sensitive[space.begin : space.begin + space.count])
    return sensitive


def _refuse_company(space: ItemSpace, own: NDArray[np.int64], sensitive: NDArray[np.bool_]) -> None:
    """A label above a sensitive item and others would stand for it too."""
    axis = space.axes[0]
    tree = axis.tree
    if tree is None:
        return
    for item in own.tolist():
        node = int(tree.parent[space.leaves[0][item]])
        while node > 0:
            below = (space.leaves[0] >= node) & (space.leaves[0] <= axis.last[node])
            if (below & ~sensitive).any():
                raise PlanError(
                    f"columns.{space.name}.hierarchy: the sensitive item {axis.values[space.values[0][item]]!r} lies "
                    f"under {tree.labels[node]!r} with items that are not sensitive, and {tree.labels[node]!r} would "
                    "stand for it too; put it right below the top of the tree, or into a branch of sensitive items"
                )
            node = int(tree.parent[node])
