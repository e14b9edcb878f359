"""Nodes of the set-enumeration tree: cuts that are made, cuts that may still be made, what they make of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.ground.work import Work
from sfumato.group.classes import Classes
from sfumato.group.keys import Ids, distinct, distinct_lifted, representatives, total
from sfumato.group.tally import Counts
from sfumato.publish.k_optimize.cut_table import Frame
from sfumato.publish.k_optimize.cuts import Cuts, Flags
from sfumato.publish.k_optimize.failing_classes import Requirement
from sfumato.publish.k_optimize.intervals import Intervals
from sfumato.publish.k_optimize.prices import bounds, cell_cost, price_of
from sfumato.publish.labels import Output
from sfumato.publish.problem import Problem
from sfumato.utility.view import Reals, View


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A head, a tail, and the groups that the head makes."""

    head: Flags
    """The cuts that are made."""
    tail: Flags
    """The cuts that may still be made."""
    frame: Frame
    """The table cut by head and tail, or by still more."""
    least: Reals | None
    """What each class of the frame costs at least while it is published, where the metric adds up classes."""
    ids: Ids
    """The group of each class of the frame."""
    sizes: Counts
    """Rows per group."""
    dead: Flags
    """Which groups fail for good."""
    failing: Flags
    """Which groups fail at all."""

    @property
    def lost(self) -> int:
        """Rows that are suppressed here and below."""
        return int(self.sizes[self.dead].sum())


class Nodes:
    """Makes nodes of one problem, bounds and weighs them."""

    def __init__(self, problem: Problem, output: Output, work: Work | None = None) -> None:
        """Order the values and count the table once; ``work`` counts the steps."""
        self.problem, self.work = problem, work or Work()
        self.cuts = Cuts.of(problem)
        self.intervals = Intervals(problem, self.cuts, output, cell_cost(problem.metric))
        self.requirement = Requirement(problem, mixed=output == "hierarchy")
        least = self.requirement.suppression.least if self.requirement.plain else 1
        self.price = price_of(problem, self.cuts, self.intervals, least)
        self.whole = Frame.whole(problem, self.cuts)

    def none(self) -> Flags:
        """No cut at all."""
        return np.zeros(self.cuts.count, np.bool_)

    def at(self, head: Flags, tail: Flags) -> Node:
        """A node from scratch."""
        self.work.spend(self.whole.classes.count * self.cuts.columns)
        frame, _ = self.whole.coarser(head | tail)
        lifts = frame.lifts(head)
        ids, count = distinct_lifted(frame.classes.keys, lifts, [int(lift[-1]) + 1 for lift in lifts])
        return self._judged(head, tail, frame, self._least(frame), ids, count)

    def added(self, node: Node, cut: int) -> Node:
        """The child that makes one more cut of the tail."""
        self.work.spend(node.frame.classes.count)
        head, tail = node.head.copy(), node.tail.copy()
        head[cut], tail[cut] = True, False
        after = node.frame.after(cut).astype(np.int32)
        ids, count = distinct((node.ids.astype(np.int32), after), (len(node.sizes), 2), len(after))
        return self._judged(head, tail, node.frame, node.least, ids, count)

    def without(self, node: Node, dropped: Flags) -> Node:
        """The same head with fewer cuts in the tail, and in the frame."""
        self.work.spend(node.frame.classes.count * self.cuts.columns)
        tail = node.tail & ~dropped
        frame, moved = node.frame.coarser(node.head | tail)
        ids = node.ids[representatives(moved, frame.classes.count)]
        return replace(node, tail=tail, frame=frame, least=self._least(frame), ids=ids)

    def bound(self, node: Node) -> float:
        """No set of cuts with the head and some of the tail loses less than this."""
        dead, metric = node.dead[node.ids], self.problem.metric
        if self.price is not None and node.least is not None:
            return float(node.least[~dead].sum()) + self.price.rate * node.lost
        if bounds(metric):
            return metric.loss(self._view(node.frame.classes, node.frame.chosen, dead)).value
        return metric.low if metric.direction == "lower" else -np.inf

    def loss(self, node: Node, *, below: float = np.inf) -> float:
        """What the head loses; infinite where it is infeasible, reads badly, or does not lose less than ``below``."""
        self.work.spend(node.frame.classes.count * (1 if self.price else self.cuts.columns))
        feasible, hidden = self.hidden(node)
        if not feasible:
            return np.inf
        value = self._value(node, hidden)
        return value if value < below and self.intervals.apart(node.head) else np.inf

    def hidden(self, node: Node) -> tuple[bool, Flags]:
        """Whether the head is feasible, and which of its groups are suppressed."""
        suppression = self.requirement.suppression
        hidden = suppression.small(node.sizes)
        feasible = int(node.sizes[hidden].sum()) <= self.problem.limit
        if feasible and not suppression.by_size:
            feasible, hidden = suppression.hide(self._classes(node), hidden)
        return feasible and not bool(hidden.all()), hidden

    def suppressed(self, head: Flags) -> Flags:
        """Which cells are suppressed under a set of cuts."""
        node = self.at(head, self.none())
        _, moved = self.whole.coarser(head)
        return np.asarray(self.hidden(node)[1][node.ids[moved]])

    def _value(self, node: Node, hidden: Flags) -> float:
        if self.price is None:
            return self.problem.metric.loss(self._view(self._classes(node), node.head, hidden)).value
        published = self.price.published(node.frame, node.head, node.ids, node.sizes)
        return float(published[~hidden].sum()) + self.price.rate * int(node.sizes[hidden].sum())

    def _least(self, frame: Frame) -> Reals | None:
        return None if self.price is None else self.price.least(frame)

    def _judged(self, head: Flags, tail: Flags, frame: Frame, least: Reals | None, ids: Ids, count: int) -> Node:
        sizes = total(ids, frame.classes.sizes, count)
        tallies = {name: frame.classes.tally(name).merged(ids, count) for name in self.requirement.columns}
        dead, failing = self.requirement.failing(sizes, tallies)
        return Node(head=head, tail=tail, frame=frame, least=least, ids=ids, sizes=sizes, dead=dead, failing=failing)

    def _classes(self, node: Node) -> Classes:
        """The groups as classes with their intervals, and which of these show nothing."""
        place, frame = representatives(node.ids, len(node.sizes)), node.frame
        keys = [lift[codes[place]] for lift, codes in zip(frame.lifts(node.head), frame.classes.keys, strict=True)]
        words = [self.intervals.words(c, *self.cuts.limits(node.head, c)) for c in range(self.cuts.columns)]
        merged = frame.classes.merged(
            np.array(keys, np.int32).reshape(len(keys), len(node.sizes)),
            tuple(map(tuple, words)),
            node.ids,
            len(node.sizes),
        )
        return replace(merged, wild=tuple(self.intervals.unknown(c, mine) for c, mine in enumerate(words)))

    def _view(self, classes: Classes, chosen: Flags, hidden: Flags) -> View:
        """Classes by some cuts as metrics see them."""
        shown = [self.intervals.shown(chosen, c) for c in range(self.cuts.columns)]
        firsts = [self.cuts.limits(chosen, c)[0] for c in range(self.cuts.columns)]
        keys = [one.keys[0][first][codes] for one, first, codes in zip(shown, firsts, classes.keys, strict=True)]
        labelled = replace(
            classes,
            keys=np.array(keys, np.int32).reshape(classes.keys.shape),
            labels=tuple(one.labels[0] for one in shown),
        )
        rulers = tuple(one.rulers[0] for one in shown)
        return View(classes=labelled, suppressed=hidden, rulers=rulers, target=self.problem.target)
