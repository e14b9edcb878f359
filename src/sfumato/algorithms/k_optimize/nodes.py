"""Nodes of the set-enumeration tree, the classes that fail there, and bounds on the loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.feasibility import Suppression
from sfumato.algorithms.k_optimize.cuts import Cuts, Flags, Frame, Intervals
from sfumato.algorithms.labels import Output
from sfumato.algorithms.problem import Problem
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, distinct_lifted, representatives, total, weighed
from sfumato.counts.tally import Counts, Tally
from sfumato.metrics.information_loss import (
    NCP,
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    DiscernibilityRatio,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import Metric, Reals, Ruler, View
from sfumato.models.model import judge

# Which classes fail, and which of them can never be published however they are cut.


class Requirement:
    """The models of a problem, as far as their laws say something about parts of a class.

    Without suppression a class that fails rules out all finer cuts: a joined class passes if all its parts do. With
    suppression a class that fails a model which growth keeps has no part that passes: its rows are lost for good.
    Where unknown values make classes match others, nothing is known about parts.
    """

    def __init__(self, problem: Problem, *, mixed: bool) -> None:
        """Sort the models by their laws; ``mixed`` says that a column may show ``*`` beside other labels."""
        self.suppression = Suppression(problem, mixed=mixed)
        self.reading = problem.reading
        self.most = min(problem.limit, problem.cells.rows - 1)
        self.plain = self.suppression.plain
        self.models = self.suppression.others if self.plain else ()
        self._lasting = [problem.limit == 0 or (m.kept_by_growth and m.kept_by_removal) for m in self.models]
        self.columns = tuple(dict.fromkeys(column for model in self.models for column in model.columns))

    @property
    def hereditary(self) -> bool:
        """Whether whatever fails, fails for good."""
        return self.plain and all(self._lasting)

    def failing(self, sizes: Counts, tallies: Mapping[str, Tally]) -> tuple[Flags, Flags]:
        """Of classes that may overlap: which fail for good, and which fail at all.

        Without the histograms that the models read, only sizes are judged.
        """
        lasting = self.suppression.small(sizes)
        every = lasting.copy()
        if any(column not in tallies for column in self.columns):
            return lasting, every
        classes = Classes(quasi=(), keys=np.zeros((0, len(sizes)), np.int32), labels=(), sizes=sizes, tallies=tallies)
        for model, lasts in zip(self.models, self._lasting, strict=True):
            failing = judge(model, classes, self.reading).failing
            every[failing] = True
            if lasts:
                lasting[failing] = True
        return lasting, every


# What rows cost when they are published or suppressed, and what they cost at least.


_CELLS = (LossMetric, NCP, Precision)
_CLASSES = (Discernibility, DiscernibilityRatio, ClassificationMetric)
_OTHERS = (NonUniformEntropy, AverageClassSize)
"""Metrics that are no sum over classes, but lose no less by coarser classes or by more suppression."""


class ClassPrice:
    """Discernibility and the classification metric: a class costs what its size and its target's counts say."""

    def __init__(self, problem: Problem, k: int) -> None:
        """The metric's scale for this table, where no published class is smaller than ``k``."""
        self.rows = max(problem.cells.rows, 1)
        self.k = min(k, self.rows)
        self.target = problem.target if isinstance(problem.metric, ClassificationMetric) else None
        self._scale = 1.0 / self.rows**2 if isinstance(problem.metric, DiscernibilityRatio) else 1.0
        self.rate = 1.0 / self.rows if self.target is not None else self._scale * self.rows
        """What a suppressed row costs."""

    def of(self, sizes: Counts, histogram: Counts | None) -> Reals:
        """What published classes cost: rows beside the majority, or rows squared."""
        if histogram is not None:
            return np.asarray((sizes - histogram.max(axis=1, initial=0)) / self.rows)
        return np.asarray(self._scale * np.square(sizes, dtype=np.float64))

    def published(self, frame: Frame, head: Flags, ids: Ids, sizes: Counts) -> Reals:
        """What each group of a frame's classes costs when it is published."""
        if self.target is None:
            return self.of(sizes, None)
        return self.of(sizes, frame.classes.tally(self.target).merged(ids, len(sizes)).dense())

    def least(self, frame: Frame) -> Reals:
        """What each class of a frame costs at least under fewer cuts, as long as its rows are published.

        Rows beside the majority stay so in any larger class; and a row shares its class with k rows at least.
        """
        sizes = frame.classes.sizes
        if self.target is not None:
            return self.of(sizes, frame.classes.tally(self.target).dense())
        return np.asarray(self._scale * sizes.astype(np.float64) * np.maximum(sizes, self.k))

    def worthless(self, left: Counts, right: Counts) -> Flags:
        """Where cutting a group can gain nothing once one of its parts is suppressed, nor can it below."""
        if self.target is not None:
            return np.ones(len(left), np.bool_)
        return np.asarray(left + right + np.maximum(left, right) <= self.rows)


class IntervalPrice:
    """Metrics that add up cells: a cell costs what its interval says, a suppressed one all there is."""

    target: str | None = None

    def __init__(self, problem: Problem, cuts: Cuts, intervals: Intervals) -> None:
        """The metric's scale for this table."""
        self.cuts, self.intervals = cuts, intervals
        self.rate = 1.0 / max(problem.cells.rows, 1)
        """What a suppressed row costs."""
        self.share = self.rate / max(cuts.columns, 1)
        """What a cell of cost 1 adds to the loss."""

    def of(self, frame: Frame, chosen: Flags) -> Reals:
        """What each class of a frame costs when it is published under some of the frame's cuts."""
        per_row = np.zeros(frame.classes.count)
        for column, (lift, codes) in enumerate(zip(frame.lifts(chosen), frame.classes.keys, strict=True)):
            per_row += self.intervals.costs(column, *self.cuts.limits(chosen, column))[lift][codes]
        return np.asarray(self.share * frame.classes.sizes * per_row)

    def published(self, frame: Frame, head: Flags, ids: Ids, sizes: Counts) -> Reals:
        """What each group of a frame's classes costs when it is published."""
        return weighed(ids, self.of(frame, head), len(sizes))

    def least(self, frame: Frame) -> Reals:
        """What each class of a frame costs at least under fewer cuts: they make no interval narrower."""
        return self.of(frame, frame.chosen)

    def worthless(self, left: Counts, right: Counts) -> Flags:
        """Nowhere: a cut makes intervals of other groups narrower too."""
        return np.zeros(len(left), np.bool_)


Price = ClassPrice | IntervalPrice


def price_of(problem: Problem, cuts: Cuts, intervals: Intervals, k: int) -> Price | None:
    """The metric as a price of each class; None where it is no sum over classes."""
    if isinstance(problem.metric, _CLASSES):
        return ClassPrice(problem, k)
    return IntervalPrice(problem, cuts, intervals) if isinstance(problem.metric, _CELLS) else None


def bounds(metric: Metric) -> bool:
    """Whether coarser classes and more suppression never lose less by this metric, so that it can bound a search."""
    return isinstance(metric, (*_CELLS, *_CLASSES, *_OTHERS))


def cell_cost(metric: Metric) -> Callable[[Ruler], Reals] | None:
    """What each label costs by a metric that adds up cells."""
    return metric.cost if isinstance(metric, _CELLS) else None


# Nodes of the set-enumeration tree: cuts that are made, cuts that may still be made, what they make of the table.


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
        recodings = [self.intervals.shown(chosen, c) for c in range(self.cuts.columns)]
        firsts = [self.cuts.limits(chosen, c)[0] for c in range(self.cuts.columns)]
        keys = [
            recoding.keys[0][first][codes]
            for recoding, first, codes in zip(recodings, firsts, classes.keys, strict=True)
        ]
        labelled = replace(
            classes,
            keys=np.array(keys, np.int32).reshape(classes.keys.shape),
            labels=tuple(recoding.labels[0] for recoding in recodings),
        )
        rulers = tuple(recoding.rulers[0] for recoding in recodings)
        return View(classes=labelled, suppressed=hidden, rulers=rulers, target=self.problem.target)
