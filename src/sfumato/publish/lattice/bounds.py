"""What every feasible node must lose, known without looking at the lattice as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.publish.lattice.checker import Checker
from sfumato.publish.lattice.part import monotone_part
from sfumato.publish.lattice.reach import why_nothing_fits
from sfumato.publish.lattice.subset_walk import Columns, Mask, Subsets
from sfumato.publish.problem import Levels, Problem
from sfumato.utility.view import Reals

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


def _joined(subsets: Subsets, one: Block, other: Block) -> Block:
    """The feasible levels of the columns of two blocks together."""
    columns = one[0] + other[0]
    return columns, subsets.feasible(columns, np.logical_and.outer(one[1], other[1]))


def _paired(subsets: Subsets, blocks: list[Block], costs: list[Reals], work: Work) -> list[Block]:
    """Disjoint pairs of columns, from those on that must pay most beyond their single columns; the rest alone."""
    single = [_cheapest(block, costs) for block in blocks]
    pairs = []
    for one, other in combinations(blocks, 2):
        if work.expired:
            break
        pair = _joined(subsets, one, other)
        pairs.append((single[one[0][0]] + single[other[0][0]] - _cheapest(pair, costs), pair))
    taken: list[Block] = []
    free = {block[0][0] for block in blocks}
    for _, pair in sorted(pairs, key=lambda found: (found[0], found[1][0])):
        if free.issuperset(pair[0]):
            free -= set(pair[0])
            taken.append(pair)
    return taken + [block for block in blocks if block[0][0] in free]


def _blocks(subsets: Subsets, blocks: list[Block], work: Work) -> list[Block]:
    """Join the two blocks with the smallest lattices as long as the joint one is small."""
    while len(blocks) > 1 and not work.expired:
        one, other, *rest = sorted(blocks, key=lambda block: (block[1].size, block[0]))
        if one[1].size * other[1].size > _MOST_TOGETHER:
            break
        blocks = [*rest, _joined(subsets, one, other)]
    return blocks
