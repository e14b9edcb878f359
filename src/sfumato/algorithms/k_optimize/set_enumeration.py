"""K-Optimize: depth-first search of the set-enumeration tree from a good first set of cuts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from sfumato.algorithms.feasibility import described, refuse_models, refuse_unreachable, why_nothing_fits
from sfumato.algorithms.k_optimize.cuts import Best, Flags
from sfumato.algorithms.k_optimize.nodes import ClassPrice, IntervalPrice, Node, Nodes
from sfumato.algorithms.k_optimize.sweep import Swept, sweep
from sfumato.algorithms.labels import drawn_by_column, recoded_by_column
from sfumato.algorithms.lattice.nodes import TIE, below
from sfumato.algorithms.problem import Outcome, Problem, Recoded
from sfumato.core.arguments import one_of
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import BY_TIME, PACE, Work
from sfumato.counts.keys import Ids
from sfumato.metrics.metric import Reals
from sfumato.tables.hierarchy import TOP

# A good first set of cuts, and the last touch on the best one.


FEW = 20
"""Over so few cuts the tree is searched faster than pairs of cuts are tried."""


def start(nodes: Nodes, best: Best, work: Work) -> None:
    """Go down greedily from the table without cuts; then take back one cut of the best set, or two, and go down again.

    It ends when no such step finds anything better, or when the time is over.
    """
    root = nodes.at(nodes.none(), ~nodes.none())
    best.offer(root.head, nodes.loss(root))
    descend(nodes, root, best, work)
    widths = (1, 2) if nodes.cuts.count > FEW else (1,)
    while any(_around(nodes, best, work, taken) for width in widths for taken in _choices(best, width)):
        pass


def finest(nodes: Nodes, best: Best, work: Work) -> Flags:
    """The best set with every further cut that costs nothing: nothing is hidden for nothing.

    Cuts that part no group are made together. Others that cost nothing are tried one by one while there is time.
    """
    head, most = np.array(best.head), best.loss + TIE * max(1.0, abs(best.loss))
    while True:
        node = nodes.at(head, ~head)
        effects = sweep(nodes, node)
        possible = node.tail & (effects.lost <= nodes.requirement.most) & (effects.loss <= most)
        more = next(
            (
                cut
                for cut in _offers(possible, possible & (effects.splits == 0), work)
                if nodes.loss(nodes.at(head | cut, nodes.none())) <= most
            ),
            None,
        )
        if more is None:
            return head
        head = head | more


def _offers(possible: Flags, idle: Flags, work: Work) -> Iterator[Flags]:
    """All cuts that part nothing, then every possible cut by itself."""
    if idle.any():
        yield idle
    for cut in np.flatnonzero(possible):
        if work.expired:
            return
        yield np.arange(len(possible)) == cut


def _choices(best: Best, width: int) -> Iterator[list[int]]:
    """Each choice of so many cuts of the best set as it is now."""
    if best.head is not None:
        yield from map(list, combinations(np.flatnonzero(best.head).tolist(), width))


def _around(nodes: Nodes, best: Best, work: Work, taken: list[int]) -> bool:
    """Take back some cuts of the best set and go down from there; tells whether that finds something better."""
    if work.expired or best.head is None:
        return False
    known, head = best.loss, best.head.copy()
    head[taken] = False
    descend(nodes, nodes.at(head, ~head), best, work, held=taken[0])
    return best.loss < known


def descend(
    nodes: Nodes,
    node: Node,
    best: Best,
    work: Work,
    *,
    held: int | None = None,
    draws: np.random.Generator | None = None,
) -> Flags:
    """Make the cut that loses least as long as it loses less; tells the head that was reached.

    The cut ``held`` is not the first. With ``draws`` a cut counts for a random part of what it gains.
    """
    value = nodes.loss(node)
    while node.tail.any() and not work.expired:
        promised = _promised(nodes, node, work)
        node = nodes.without(node, ~np.isfinite(promised))
        if held is not None:
            promised[held], held = np.inf, None
        cut = int(np.argmin(promised if draws is None else _blurred(promised, value, draws)))
        if not promised[cut] < below(value):
            break
        child = nodes.added(node, cut)
        loss = nodes.loss(child)
        if loss < value or not np.isfinite(value):
            node, value = child, loss
            best.offer(node.head, value)
        else:
            node = replace(node, tail=node.tail & (np.arange(len(promised)) != cut))
    return node.head


def _blurred(promised: Reals, value: float, draws: np.random.Generator) -> Reals:
    """The losses as if each cut gained only a random part; those that gain nothing as they are."""
    part = 1.0 - 0.5 * draws.random(len(promised))
    gains = np.isfinite(promised) & (promised < value) & np.isfinite(value)
    blurred = promised.copy()
    blurred[gains] = value - (value - promised[gains]) * part[gains]
    return blurred


def _promised(nodes: Nodes, node: Node, work: Work) -> Reals:
    """What the head would lose with each cut of the tail; infinite where that is not feasible."""
    effects = sweep(nodes, node)
    possible = node.tail & (effects.lost <= nodes.requirement.most)
    if nodes.price is not None:
        return np.where(possible, effects.loss, np.inf)
    losses = np.full(len(possible), np.inf)
    for cut in np.flatnonzero(possible):
        if not work.expired:
            losses[cut] = nodes.loss(nodes.added(node, int(cut)))
    return losses


# Leaps from the best set of cuts to others that depth-first search would reach much later.


_PARTS = (0.15, 0.3, 0.6, 1.0)
"""How much of the best set is taken back, where not whole columns are."""
_WORSE = 0.003
"""A set that loses so much more is taken as the place of the next leap."""
_VAIN = 6
"""After so many leaps in vain the next is from the best set again."""
_ENOUGH = 200
"""After so many in vain no more are made."""


class Leaps:
    """Takes back a part of the best set, forbids some of it, goes down greedily, and once more with all cuts allowed.

    Depth-first search changes the last cuts first: it may take longer than anybody waits until the first are changed.
    Whatever a leap finds is weighed like any node; it rules out nothing, and only a better set is kept.
    Source: large neighbourhood search, Shaw 1998.
    """

    def __init__(self, nodes: Nodes, best: Best, work: Work) -> None:
        """Nothing is tried yet."""
        self._nodes, self._best, self._work = nodes, best, work
        self._draws = work.chance.generator()
        self._here: Flags | None = None
        self._vain = self._since = self.made = 0

    @property
    def worth_while(self) -> bool:
        """Whether the last leaps were not all in vain."""
        return self._since < _ENOUGH

    def leap(self) -> bool:
        """Try one; tells whether it found a better set."""
        if self._best.head is None:
            return False
        self.made += 1
        known = self._best.loss
        if self._here is None or self._vain >= _VAIN:
            self._here, self._vain = self._best.head, 0
        taken = self._taken(self._here)
        kept = self._here & ~taken
        tail = ~kept & ~(taken & (self._draws.random(len(kept)) < 0.5))
        near = descend(self._nodes, self._nodes.at(kept, tail), self._best, self._work, draws=self._draws)
        head = descend(self._nodes, self._nodes.at(near, ~near), self._best, self._work)
        better = self._best.loss < known
        self._vain, self._since = (0, 0) if better else (self._vain + 1, self._since + 1)
        loss = self._nodes.loss(self._nodes.at(head, self._nodes.none()))
        if loss <= known + _WORSE * abs(known):
            self._here = head
        return better

    def _taken(self, head: Flags) -> Flags:
        """The cuts of one or two columns, or some of all."""
        cuts, kind = self._nodes.cuts, int(self._draws.integers(2 + len(_PARTS)))
        if kind >= 2:
            return head & (self._draws.random(len(head)) < _PARTS[kind - 2])
        columns = self._draws.permutation(cuts.columns)[: kind + 1]
        taken = np.zeros_like(head)
        for column in columns.tolist():
            taken[cuts.starts[column] : cuts.starts[column + 1]] = True
        return head & taken


# Depth-first through the set-enumeration tree, past what bounds and laws rule out.


_BEFORE, _BETWEEN = 20, 4
"""So many nodes are visited before the first leap, and between two."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Open:
    """A node that has children left to visit."""

    node: Node
    """The node with the tail that is left."""
    bound: float
    """No set of cuts below it that is left to visit loses less."""


class Search:
    """The way from the root to where the search is, and what it did."""

    def __init__(self, nodes: Nodes, best: Best, work: Work) -> None:
        """Start at the root, which makes no cut and may make all."""
        self.nodes, self.best, self.work = nodes, best, work
        self.visited = self.pruned = self.dropped = 0
        requirement = nodes.requirement
        sure = requirement.plain and nodes.intervals.always_apart
        self._idle = sure and isinstance(nodes.price, ClassPrice)
        self._spoilt = self._idle and requirement.hereditary and not requirement.suppression.starred
        self._free = sure and isinstance(nodes.price, IntervalPrice)
        self.leaps = Leaps(nodes, best, work)
        self._leap_at: float = _BEFORE if nodes.cuts.count > FEW else np.inf
        self._way: list[_Open] = []
        root = nodes.at(nodes.none(), ~nodes.none())
        self._enter(root, nodes.bound(root), -np.inf)

    def run(self) -> None:
        """Visit every node that can still beat the best, or stop when the time is over.

        Where the tree is large, leaps are made between nodes: the tree alone finds better sets very late.
        """
        while self._way and not self.work.expired:
            if self.visited >= self._leap_at:
                self._leap()
            here = self._way[-1]
            choice = self._next(here)
            if choice is None:
                self._way.pop()
                continue
            cut, promised = choice
            child = self.nodes.added(here.node, cut)
            here.node = replace(here.node, tail=child.tail)
            self._enter(child, here.bound, promised)
            self.work.advance("search", self.visited, self.visited + 1)

    def _leap(self) -> None:
        """Leap once, unless many leaps were in vain."""
        self._leap_at = self.visited + _BETWEEN
        if self.leaps.worth_while and self.leaps.leap():
            self.best.after = self.visited

    @property
    def exhausted(self) -> bool:
        """Whether no node is left that could beat the best."""
        return not self._way

    @property
    def lower_bound(self) -> float:
        """No set of cuts loses less than this."""
        return min([self.best.loss, *(open_node.bound for open_node in self._way)])

    def _enter(self, node: Node, bound: float, promised: float) -> None:
        """Visit a node, which loses at least what is ``promised``."""
        self.visited += 1
        if promised < self.best.beaten:
            self._offer(node)
        if node.tail.any():
            self._way.append(_Open(node=node, bound=bound))

    def _offer(self, node: Node) -> None:
        self.best.offer(node.head, self.nodes.loss(node, below=self.best.beaten), self.visited)

    def _next(self, here: _Open) -> tuple[int, float] | None:
        """The next cut to make and what it promises, once the tail is pruned; None where nothing can beat the best."""
        while here.node.tail.any():
            here.node = self._tight(here.node)
            here.bound = max(here.bound, self.nodes.bound(here.node))
            if here.bound >= self.best.beaten:
                self.pruned += 1
                return None
            effects = sweep(self.nodes, here.node)
            drop, free = self._ruled(here.node, effects)
            if not drop.any() and not free.any():
                return _first(here.node, effects)
            self.dropped += int(drop.sum())
            here.node = replace(here.node, tail=here.node.tail & ~drop)
            if free.any():
                here.node = self.nodes.at(here.node.head | free, here.node.tail & ~free)
                self._offer(here.node)
        return None

    def _tight(self, node: Node) -> Node:
        """The node with a frame that is cut by its head and its tail only."""
        stale = node.frame.chosen & ~(node.head | node.tail)
        return self.nodes.without(node, stale) if stale.any() else node

    def _ruled(self, node: Node, effects: Swept) -> tuple[Flags, Flags]:
        """Which cuts of the tail need not be made, and which may be made at once.

        Not to be made: what cannot beat the best, what loses too many rows; and where the metric adds up classes, what
        parts no group, or spoils every group that it parts. Made at once: where the metric adds up cells, what parts
        no group, for it only makes intervals narrower.
        """
        drop = (effects.bound >= self.best.beaten) | (effects.lost > self.nodes.requirement.most)
        idle = effects.splits == 0
        if self._idle:
            drop |= idle
        if self._spoilt:
            drop |= effects.worth == 0
        free = node.tail & idle & ~drop if self._free else np.zeros_like(drop)
        return node.tail & drop, free


def _first(node: Node, effects: Swept) -> tuple[int, float]:
    """The cut of the tail that parts most groups, of several the one that promises the least loss."""
    tail = np.flatnonzero(node.tail)
    cut = int(tail[np.lexsort((effects.loss[tail], -effects.splits[tail]))[0]])
    return cut, float(effects.loss[cut])


# K-Optimize: the best recoding by cuts between ordered values, for k-anonymity and other models.


Shown = Literal["boxes", "hierarchy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KOptimize:
    """Cut each column's ordered values into intervals, the same for all rows, so that least is lost.

    Claim: every published class meets every model within the suppression limit. Where the result is proven, no other
        set of cuts loses less; else none loses less than ``lower_bound``. Sets are compared by their intervals over the
        whole table; boxes are then drawn in to the published rows, which loses no more.
    How: depth-first through the set-enumeration tree of cut points, from no cut on. A node is a head of cuts that are
        made and a tail of cuts that may be. What all of them together could gain, with what the head already loses for
        good, bounds every set below; a cut of the tail by which that cannot beat the best, or by which a model must
        fail, is dropped. The cut that parts most classes comes first. A greedy set of cuts is there from the start;
        where the tree is large, leaps from the best set to others are made between its nodes.
    Needs: models that judge classes one by one and that joining classes cannot break. Discernibility, classification
        and the metrics that add up cells have bounds of their own; others are right, but slower.
    Cost: a node takes time in the distinct cells times the columns. There are two to the number of cuts of nodes; how
        many are visited depends on the table. It can be stopped at any time.
    Source: Bayardo, Agrawal 2005. Document 004, section 6.1.3.
    """

    output: Shown = "boxes"
    """What an interval shows: its ends or its values, or the lowest hierarchy value that covers it."""

    def __post_init__(self) -> None:
        one_of("output", self.output, get_args(Shown))

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Find the best set of cuts, or the best so far when the limit is reached."""
        refuse_models(problem, "k-optimize")
        refuse_unreachable(problem)
        half = work.allowing(None if work.steps is None else (work.steps - work.spent) / PACE / 2)
        nodes, best = Nodes(problem, self.output, half), Best()
        start(nodes, best, half)
        nodes.work = work
        search = Search(nodes, best, work)
        search.run()
        if best.head is None:
            raise Infeasible(why_nothing_fits(problem) if search.exhausted else _too_slow(problem))
        return self._outcome(nodes, search, finest(nodes, best, work))

    def _outcome(self, nodes: Nodes, search: Search, head: Flags) -> Outcome:
        problem, cuts = nodes.problem, nodes.cuts
        groups = [cuts.intervals(head, column)[places].astype(np.int64) for column, places in enumerate(cuts.places)]
        counts = [int(cuts.part(head, column).sum()) + 1 for column in range(cuts.columns)]
        recoding = recoded_by_column(problem, groups, counts, self.output)
        suppressed = nodes.suppressed(head)
        if suppressed.any() and self.output == "boxes":
            recoding = _drawn_in(problem, recoding, groups, suppressed)
        outcome = Outcome.of(problem, recoding, suppressed, {}, proven=search.exhausted)
        return replace(outcome, effort=_effort(search, int(head.sum()), outcome.loss))


def _drawn_in(problem: Problem, recoding: Recoded, groups: Sequence[Ids], suppressed: Flags) -> Recoded:
    """The boxes over published rows only: an end that a suppressed row has would tell its value."""
    box_groups, counts = [], []
    for labels, keys, mine in zip(recoding.labels, recoding.keys, groups, strict=True):
        stars = np.array([label == TOP for label in labels], np.bool_)[keys]
        apart = np.where(suppressed & ~stars, mine.max() + 1, mine)
        values, ids = np.unique(apart, return_inverse=True)
        box_groups.append(ids.reshape(-1).astype(np.int64))
        counts.append(len(values))
    return drawn_by_column(problem, box_groups, counts, "boxes")


def _effort(search: Search, n_cuts: int, loss: float) -> dict[str, int | float | str]:
    """What the search did, and how far it may be from the best."""
    effort: dict[str, int | float | str] = {
        "cuts_made": n_cuts,
        "checked": search.visited,
        "pruned_by_cost": search.pruned,
        "pruned_values": search.dropped,
        "best_after": search.best.after,
        "leaps": search.leaps.made,
        "stopped": "search exhausted" if search.exhausted else BY_TIME,
    }
    bound = min(search.lower_bound, loss)
    if not search.exhausted and np.isfinite(bound):
        effort |= {"lower_bound": bound, "gap": loss - bound}
    return effort


def _too_slow(problem: Problem) -> str:
    goal = " and ".join(described(model) for model in problem.models)
    return (
        f"k-optimize found no set of cuts that meets {goal} within its limit, and ruled none out. Give it more with "
        "algorithm.seconds, allow more suppression with algorithm.max_suppressed, or use algorithm.name = 'optimal'"
    )
