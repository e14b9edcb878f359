"""A greedy search for large lattices, with lower bounds on what every feasible node loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.algorithms.feasibility import refuse_unreachable, why_nothing_fits
from sfumato.algorithms.lattice.datafly import climb, why_no_way_fits
from sfumato.algorithms.lattice.nodes import Checker, Judged, below, finer, outcome_of
from sfumato.algorithms.lattice.subsets import Columns, Mask, Subsets, monotone_part
from sfumato.algorithms.problem import Levels, Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.metrics.metric import Reals

# What every feasible node must lose, known without looking at the lattice as a whole.


Block = tuple[Columns, Mask]
"""Some columns and which of their levels are feasible together."""
_MOST_TOGETHER = 1024
"""The most nodes of a block's lattice."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Needed:
    """For each column, the levels that it can have in a feasible node."""

    least: Levels
    """The lowest level of each column; no feasible node is lower in any."""
    masks: tuple[Mask, ...]
    """The levels of each column at which it is feasible alone."""
    subsets: Subsets | None
    """Judges more columns together; None where no model allows it."""


def needed(problem: Problem, work: Work) -> Needed:
    """The least level of each column, from the models by which a subset of the columns must be feasible by itself.

    Columns that the time does not reach may have any level: bounds then say less, and stay true.
    """
    part = monotone_part(problem)
    shapes = [h.height + 1 for h in problem.hierarchies]
    if part is None:
        return Needed(
            least=(0,) * len(shapes), masks=tuple(np.ones(levels, np.bool_) for levels in shapes), subsets=None
        )
    subsets = Subsets(part, work)
    every = [np.ones(levels, np.bool_) for levels in shapes]
    masks = tuple(mask if work.expired else subsets.feasible((c,), mask) for c, mask in enumerate(every))
    if not all(mask.any() for mask in masks):
        raise Infeasible(why_nothing_fits(problem))
    return Needed(least=tuple(int(np.argmax(mask)) for mask in masks), masks=masks, subsets=subsets)


def lower_bound(problem: Problem, wanted: Needed, work: Work) -> float:
    """No feasible node loses less than this.

    Claim: sound for every model and metric, as far as their laws and bounds are true. Often far from tight.
    How: where the metric adds up columns, the columns are put into blocks. Each block pays at least what its cheapest
        feasible levels cost, and suppression only adds to that. Pairs that must pay most beyond their single columns
        come first; blocks are then joined as long as their lattices stay small. Otherwise nothing coarser than the node
        of least levels loses less than that node's own bound.
    Cost: a small lattice for each pair of columns and each block; what the time does not reach is left apart.
    """
    costs = problem.floors()
    if costs is None:
        bottom = Checker(problem).judge(wanted.least).loss
        return min(bottom.coarser, bottom.value)
    blocks: list[Block] = [((c,), mask) for c, mask in enumerate(wanted.masks)]
    if wanted.subsets is None:
        return sum(_cheapest(block, costs) for block in blocks)
    blocks = _paired(wanted.subsets, blocks, costs, work)
    return sum(_cheapest(block, costs) for block in _blocks(wanted.subsets, blocks, work))


def _cheapest(block: Block, costs: list[Reals]) -> float:
    """What the columns of a block lose together at least; infinite where no levels are feasible."""
    columns, mask = block
    whole = np.zeros(mask.shape)
    for axis, column in enumerate(columns):
        whole += costs[column].reshape([-1 if a == axis else 1 for a in range(len(columns))])
    return float(whole[mask].min(initial=np.inf))


def _joined(subsets: Subsets, first: Block, other: Block) -> Block:
    """The feasible levels of the columns of two blocks together."""
    columns = first[0] + other[0]
    return columns, subsets.feasible(columns, np.logical_and.outer(first[1], other[1]))


def _paired(subsets: Subsets, blocks: list[Block], costs: list[Reals], work: Work) -> list[Block]:
    """Disjoint pairs of columns, from those on that must pay most beyond their single columns; the rest alone."""
    single = [_cheapest(block, costs) for block in blocks]
    pairs = []
    for first, other in combinations(blocks, 2):
        if work.expired:
            break
        pair = _joined(subsets, first, other)
        pairs.append((single[first[0][0]] + single[other[0][0]] - _cheapest(pair, costs), pair))
    taken: list[Block] = []
    free = {block[0][0] for block in blocks}
    for _, pair in sorted(pairs, key=lambda candidate: (candidate[0], candidate[1][0])):
        if free.issuperset(pair[0]):
            free -= set(pair[0])
            taken.append(pair)
    return taken + [block for block in blocks if block[0][0] in free]


def _blocks(subsets: Subsets, blocks: list[Block], work: Work) -> list[Block]:
    """Join the two blocks with the smallest lattices as long as the joint one is small."""
    while len(blocks) > 1 and not work.expired:
        first, other, *rest = sorted(blocks, key=lambda block: (block[1].size, block[0]))
        if first[1].size * other[1].size > _MOST_TOGETHER:
            break
        blocks = [*rest, _joined(subsets, first, other)]
    return blocks


# Going down from a node as long as that is feasible and loses less, without ever holding the lattice.


_REMEMBERED = 4096
_KNOWN = 2**18


class Descent:
    """Steepest descent in one lattice; remembers what is ruled out, in bounded memory."""

    def __init__(self, problem: Problem, work: Work, least: Levels) -> None:
        """``least`` is a level for each column below which nothing is feasible."""
        self.checker = Checker(problem)
        self.work = work
        self.least = least
        self.costs = self.checker.costs
        self.best: Judged | None = None
        self._losses: dict[Levels, float] = {}
        self._hopeless = np.full((1, len(least)), -1, np.int32)

    def floor(self, node: Levels) -> float:
        """The node cannot lose less than this."""
        return 0.0 if self.costs is None else sum(float(c[n]) for c, n in zip(self.costs, node, strict=True))

    def loss(self, node: Levels) -> float:
        """What a node loses, infinite where it is infeasible; a node is judged once as long as it is remembered."""
        if node in self._losses:
            return self._losses[node]
        if self._ruled_out(node):
            return np.inf
        self.work.spend(self.checker.steps)
        judged_node = self.checker.judge(node)
        self.work.advance("search", len(self.checker.seen), len(self.checker.seen) + 1)
        value = judged_node.loss.value if judged_node.feasible else np.inf
        if judged_node.feasible and (self.best is None or value < below(self.best.loss.value)):
            self.best = judged_node
        self._remember(judged_node, value)
        return value

    def run(self, node: Levels, value: float, *, held: int | None = None) -> tuple[Levels, float]:
        """Step to the finer neighbour that loses least until none loses less; the column ``held`` is not lowered first.

        A neighbour that loses just as much is taken too: nothing is hidden for nothing.
        """
        while not self.work.expired:
            step = self._steepest(node, value, held)
            if step is None:
                break
            node, value, held = step[0], step[1], None
        return node, value

    def _steepest(self, node: Levels, value: float, held: int | None) -> tuple[Levels, float] | None:
        best: tuple[Levels, float] | None = None
        for floor, child in sorted((self.floor(child), child) for child in self._children(node, held)):
            least = value if best is None else best[1]
            if floor > least or self.work.expired:
                break
            child_loss = self.loss(child)
            if np.isfinite(child_loss) and (child_loss <= least if best is None else child_loss < least):
                best = child, child_loss
        return best

    def _children(self, node: Levels, held: int | None) -> Sequence[Levels]:
        return [
            child
            for child in finer(node)
            if all(n >= low for n, low in zip(child, self.least, strict=True))
            and (held is None or child[held] == node[held])
        ]

    def _ruled_out(self, node: Levels) -> bool:
        return bool((self._hopeless >= np.array(node, np.int32)).all(axis=1).any())

    def _remember(self, judged_node: Judged, value: float) -> None:
        if len(self._losses) < _KNOWN:
            self._losses[judged_node.levels] = value
        if judged_node.hopeless:
            here = np.array([judged_node.levels], np.int32)
            kept = self._hopeless[~(self._hopeless <= here).all(axis=1)][-_REMEMBERED:]
            self._hopeless = np.concatenate([kept, here])


# A search for lattices that are too large to prove anything: it goes down, and looks around where it ends.


WIDTH = 16
"""How many of the best ends are looked around."""


def greedy(problem: Problem, work: Work) -> Outcome:
    """Find a node that meets the requirement and loses little, however large the lattice is.

    Claim: the result meets the requirement within the suppression limit, and loses at most ``gap`` more than the best
        node of the lattice: no feasible node loses less than ``lower_bound``.
    How: steepest descent from the top and from Datafly's node to ends where no column can be lowered. Around the best
        ends, each column in turn is raised by a level and the others are lowered. It stops when the best ends known
        have all been looked around, or when the time is over; it is as good as any answer when stopped.
    Cost: a few nodes per column and step. Nothing grows with the number of nodes.
    """
    refuse_unreachable(problem)
    search = _Search(problem, work)
    search.start()
    bound = lower_bound(problem, search.needed, work)
    search.explore()
    best = search.descent.best
    if best is None:
        monotone = search.descent.checker.monotone
        raise Infeasible(why_nothing_fits(problem) if monotone else why_no_way_fits(problem, "greedy"))
    bound = min(bound, best.loss.value)
    effort: dict[str, int | float | str] = {
        "nodes": problem.nodes,
        "checked": len(search.descent.checker.seen),
        "looked_around": len(search.expanded),
        "lower_bound": bound,
        "gap": best.loss.value - bound,
        "stopped": "local optimum",
    }
    return outcome_of(best, proven=False, effort=work.told(effort))


class _Search:
    """The ends of descents found so far, and which of them have been looked around."""

    def __init__(self, problem: Problem, work: Work) -> None:
        self.needed = needed(problem, work)
        self.descent = Descent(problem, work, self.needed.least)
        self.heights: Levels = tuple(h.height for h in problem.hierarchies)
        self.work = work
        self.ends: list[tuple[float, Levels]] = []
        self.expanded: set[Levels] = set()

    def start(self) -> None:
        """Go down from the top and from where Datafly stops."""
        self._down(self.heights)
        if self.work.expired and self.ends:
            return
        levels = next(
            (judged_node.levels for judged_node in climb(self.descent.checker, self.work) if judged_node.feasible), None
        )
        if levels is not None:
            self._down(levels)

    def explore(self) -> None:
        """Look around the best end that has not been looked around, until there is none."""
        while not self.work.expired:
            open_ends = [end for _, end in self.ends if end not in self.expanded]
            if not open_ends:
                return
            self.expanded.add(open_ends[0])
            self._around(open_ends[0])

    def _around(self, end: Levels) -> None:
        """Raise each column by a level, then go down by the others."""
        for column, level in enumerate(end):
            if level < self.heights[column] and not self.work.expired:
                higher = tuple(n + (c == column) for c, n in enumerate(end))
                self._keep(*self.descent.run(higher, np.inf, held=column))

    def _down(self, node: Levels) -> None:
        value = self.descent.loss(node)
        if np.isfinite(value):
            self._keep(*self.descent.run(node, value))

    def _keep(self, node: Levels, value: float) -> None:
        """Keep an end if it is among the best."""
        if np.isfinite(value) and (value, node) not in self.ends:
            self.ends = sorted([*self.ends, (value, node)])[:WIDTH]
