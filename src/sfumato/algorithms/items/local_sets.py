"""k^m-anonymity by local recoding of parts of similar records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.items.problem import (
    Axis,
    Cover,
    ItemOutcome,
    ItemProblem,
    ItemSpace,
    ItemStep,
    Shown,
    joined_shown,
    refuse_untreed,
)
from sfumato.algorithms.items.suppression import mended, positive_support
from sfumato.core.arguments import at_least
from sfumato.core.errors import PlanError
from sfumato.core.run_context import Work
from sfumato.counts.transactions import Transactions, ragged
from sfumato.models.item_models import KMAnonymity
from sfumato.tables.table import Codes

# The Gray order of records: neighbours have nearly the same items.


MOST_BITS = 64
"""Records are told apart by at most so many items, or else by the deepest level of their tree that has no more."""
_BLOCK = 8192
"""So many records are laid out as bits at a time."""


def gray_order(records: Transactions, spaces: tuple[ItemSpace, ...], most: int = MOST_BITS) -> NDArray[np.int64]:
    """The rows, sorted as bits in Gray order, one bit an item, the rarest item first.

    Claim: records that agree in the rarest item, in the two rarest, ... stand together, for every number of them.
    How: the number of a Gray code has at each place the parity of the ones up to there, so rows are sorted by their
        running parities. Where a column has too many items, the nodes above them on one level of the tree are taken.
    Source: Terrovitis, Mamoulis, Kalnis 2011 (local recoding sorts transactions in Gray order). The rarest item first
        is ours: records without rare items then make parts of their own, which need not be coarse.

    >>> from sfumato.algorithms.items.problem import Axis, ItemSpace
    >>> table = Transactions.of([["b"], ["a"], ["a", "b"], ["a", "b"], ["b"]])
    >>> axis = Axis(values=("a", "b"))
    >>> space = ItemSpace(name="x", begin=0, axes=(axis,), values=np.array([[0, 1]], np.int32))
    >>> gray_order(table, (space,)).tolist()  # as ab: 01, then 11, then 10
    [0, 4, 2, 3, 1]
    """
    coarse, count = _coarse(spaces, most)
    keys = np.unique(records.row_of.astype(np.int64) * count + coarse[records.codes])
    row, item = np.divmod(keys, max(count, 1))
    rank = np.empty(count, np.int64)
    rank[np.argsort(np.bincount(item, minlength=count), kind="stable")] = np.arange(count)
    words = np.empty((records.rows, -(-count // 64)), np.uint64)
    begins = np.searchsorted(row, np.arange(0, records.rows + _BLOCK, _BLOCK))
    for block, (a, b) in enumerate(pairwise(begins.tolist())):
        low = block * _BLOCK
        high = min(low + _BLOCK, records.rows)
        bits = np.zeros((high - low, words.shape[1] * 64), np.bool_)
        bits[row[a:b] - low, rank[item[a:b]]] = True
        parity = np.packbits(np.logical_xor.accumulate(bits, axis=1), axis=1)
        words[low:high] = parity.view(">u8").astype(np.uint64)
    return np.lexsort(words.T[::-1]) if words.shape[1] else np.arange(records.rows)


def _coarse(spaces: tuple[ItemSpace, ...], most: int) -> tuple[NDArray[np.int64], int]:
    """For each item of all columns the bit that stands for it, and how many bits there are."""
    bits, count = [np.empty(0, np.int64)], 0
    for space in spaces:
        nodes = _at_most(space.axes[0], space.leaves[0].astype(np.int64), max(most // len(spaces), 1))
        names, number = np.unique(nodes, return_inverse=True)
        bits.append(number.reshape(-1) + count)
        count += len(names)
    return np.concatenate(bits), count


def _at_most(axis: Axis, nodes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The nodes, or those above them on the deepest level that has few enough."""
    if axis.tree is None or len(np.unique(nodes)) <= most:
        return nodes
    parent = axis.tree.parent
    depth = np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    for level in range(int(depth.max()), 0, -1):
        while (deep := depth[nodes] > level).any():
            nodes = np.where(deep, parent[nodes], nodes)
        if len(np.unique(nodes)) <= most:
            break
    return nodes


# Labels of several recodings side by side: one may stand for more than another does.


def nested(problem: ItemProblem, nodes: NDArray[np.int64]) -> tuple[Shown, Codes]:
    """One numbering of all nodes that entries are shown as, and the label of each entry; -1 is not shown.

    The nodes of a column are some of its tree, so two of them are apart or one lies over the other. Labels stand in the
    order of their first original item, the wider before the narrower; both are never in one record.
    """
    placed, base = np.full(len(nodes), -1, np.int32), 0
    parts = []
    for space in problem.spaces:
        codes = problem.transactions.codes
        mine = np.flatnonzero((codes >= space.begin) & (codes < space.begin + space.count) & (nodes >= 0))
        used, number = np.unique(nodes[mine], return_inverse=True)
        first = _firsts(space, used)
        order = np.lexsort((-space.axes[0].spread[used], first))
        label = np.empty(len(used), np.int32)
        label[order] = np.arange(len(used), dtype=np.int32) + base
        placed[mine] = label[number.reshape(-1)]
        parts.append(_labels(space, used[order], first[order], base))
        base += len(used)
    return joined_shown(parts), placed


def _firsts(space: ItemSpace, used: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first original item under each node."""
    leaves, last = space.leaves[0], space.axes[0].last
    by_leaf = np.argsort(leaves, kind="stable")
    low = np.searchsorted(leaves[by_leaf], used)
    high = np.searchsorted(leaves[by_leaf], last[used], side="right")
    firsts = [int(by_leaf[a:b].min()) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return np.array(firsts, np.int64)


def _labels(space: ItemSpace, used: NDArray[np.int64], first: NDArray[np.int64], base: int) -> Shown:
    axis = space.axes[0]
    place = np.full(len(axis.spread), -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32) + base
    columns = used.astype(np.int32)[None]
    return Shown(
        to=_nearest(axis, place, space.leaves[0].astype(np.int64)),
        labels=tuple(space.named(columns)),
        penalty=space.penalty(columns),
        spread=space.spread(columns),
        first=(first + space.begin).astype(np.int32),
        closed=np.full(len(used), space.closed),
        over=_nearest(axis, place, _above(axis, used)),
    )


def _nearest(axis: Axis, place: Codes, nodes: NDArray[np.int64]) -> Codes:
    """The label of each node, or of the next node above that has one; -1 where none has."""
    labels = np.where(nodes >= 0, place[nodes], -1).astype(np.int32)
    while (open_nodes := (labels < 0) & (nodes >= 0)).any():
        nodes = np.where(open_nodes, _above(axis, nodes), nodes)
        labels = np.where(open_nodes & (nodes >= 0), place[nodes], labels).astype(np.int32)
    return labels


def _above(axis: Axis, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The node above each; -1 for the root, and where there is no tree."""
    if axis.tree is None:
        return np.full(len(nodes), -1, np.int64)
    up: NDArray[np.int64] = axis.tree.parent.astype(np.int64)[nodes]
    return np.where(nodes < 0, -1, up)


# Local recoding: records that look alike make a part, and every part shows its items as coarse as it alone needs.


_RECODE = 100
"""Steps per entry to recode a part."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recoded:
    """Some records with their own recoding."""

    rows: NDArray[np.int64]
    """The records, in Gray order."""
    cover: Cover
    """How their items are shown."""
    steps: tuple[ItemStep, ...]
    """The decisions."""
    lost: float
    """The sum over entries of the share of the column that each is blurred to."""


def locally(problem: ItemProblem, work: Work, *, parts: int, smallest: int) -> ItemOutcome:
    """Cut the records in Gray order into parts and show each part as the apriori-based algorithm does it alone.

    Claim: if every part is k^m-anonymous, so are all records together, also for an adversary who counts every record
        whose labels cover what is known. Proof: let q be at most m original items, and let some record r of the release
        cover it. The labels Y of r that cover items of q are at most m. r stands in a part P, where at least k records
        show all of Y, because P is k^m-anonymous. All of them cover q. So whoever knows q finds no record or at least
        k; and not none, unless an item of their target was left out.
    How: with ``parts`` given, so many parts of equal size. Otherwise the parts are halves, quarters, ... of the records
        down to ``smallest``; from the smallest on, two halves stay apart where they lose less apart than together. So
        what is lost is never more than with one part, which is global recoding.
    Source: Terrovitis, Mamoulis, Kalnis 2011, section 5 (LRA), which cuts parts of one size.
    """
    order = gray_order(problem.transactions, problem.spaces)
    if parts:
        cut = [_recoded(problem, rows, work) for rows in np.array_split(order, parts)]
    else:
        cut = list(_halved(problem, order, smallest, work))
    return _outcome(problem, cut)


def _halved(problem: ItemProblem, rows: NDArray[np.int64], smallest: int, work: Work) -> Iterator[Recoded]:
    """The parts of these rows that lose least: all together, or the best parts of both halves."""
    whole = _recoded(problem, rows, work)
    middle = len(rows) // 2
    if middle < smallest or not whole.lost or work.expired:
        yield whole
        return
    apart = [part for half in (rows[:middle], rows[middle:]) for part in _halved(problem, half, smallest, work)]
    yield from apart if sum(part.lost for part in apart) < whole.lost else [whole]


def _recoded(problem: ItemProblem, rows: NDArray[np.int64], work: Work) -> Recoded:
    records = some(problem.transactions, rows)
    work.spend(_RECODE * len(records.codes))
    cover, steps, _ = mended(replace(problem, transactions=records), work)
    recoding = cover.shown()
    to = recoding.to[records.codes]
    lost = float(np.where(to < 0, 1.0, recoding.penalty[to] if len(recoding.penalty) else 1.0).sum())
    return Recoded(rows=rows, cover=cover, steps=tuple(steps), lost=lost)


def some(records: Transactions, rows: NDArray[np.int64]) -> Transactions:
    """Some of the records."""
    sizes = records.starts[rows + 1] - records.starts[rows]
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    return replace(records, starts=starts, codes=records.codes[ragged(records.starts, rows)])


def _outcome(problem: ItemProblem, parts: Sequence[Recoded]) -> ItemOutcome:
    """The records of all parts, in the order of the original, with one numbering of labels."""
    records = problem.transactions
    nodes = np.full(len(records.codes), -1, np.int64)
    for part in parts:
        places = ragged(records.starts, part.rows)
        recoding = np.concatenate([own[0] for own in part.cover.nodes])
        nodes[places] = np.where(part.cover.left_out, -1, recoding)[records.codes[places]]
    recoding, placed = nested(problem, nodes)
    row_of, kept = records.row_of.astype(np.int64), placed >= 0
    many = max(len(recoding.labels), 1)
    row, codes = np.divmod(np.unique(row_of[kept] * many + placed[kept]), many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=records.rows), dtype=np.int64)))
    now = replace(records, starts=starts, codes=codes.astype(np.int32), labels=recoding.labels)
    return ItemOutcome(
        shown=recoding,
        transactions=now,
        stripped=np.flatnonzero((placed < 0) & (recoding.to[records.codes] >= 0)),
        steps=tuple(step for part in parts for step in part.steps),
        effort={"parts": len(parts), "smallest part": min(len(part.rows) for part in parts)},
        placed=placed,
    )


# k^m-anonymity by local recoding, as a plan names it.


PARTS = 32
"""Where the plan does not say how small a part may be, about so many parts are possible."""
TIMES_K = 4
"""And a part has at least so many times k records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSets:
    """Sets of items by local recoding: an item may be shown as itself in one record and coarser in another.

    Claim: whoever knows at most m items of a person finds at least k records whose labels cover them, or none where an
        item of theirs was left out; with ``parts = 0`` no more is lost than by ``sets`` with ``by = "generalization"``.
    How: records are sorted so that similar ones are neighbours, and cut into parts; each part is made k^m-anonymous on
        its own, by the apriori-based algorithm. Records of one part that do without rare items stay as they are,
        though others must show theirs coarser.
    Cost: one run of the apriori-based algorithm over all records for every size of parts that is tried.
    Source: Terrovitis, Mamoulis, Kalnis 2011 (LRA).
    """

    parts: int = 0
    """How many parts of equal size; 0 halves the records as often as it pays."""
    smallest: int = 0
    """With ``parts = 0``, how many records a part has at least; 0 means 4 k, and a 32nd of the records."""
    support: float = 0.01
    """What is frequent in the report: a share of the records below 1, or a number of records."""

    def __post_init__(self) -> None:
        at_least("parts", self.parts, 0)
        at_least("smallest", self.smallest, 0)
        positive_support(self.support)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        """Search."""
        for space in problem.spaces:
            refuse_untreed(space, "local-sets")
        k, rows = _largest_k(problem), problem.transactions.rows
        if k > rows:
            raise PlanError(f"privacy.km.k: {k} records are asked for, and there are {rows}; at most {rows} would do")
        if self.parts * k > rows:
            raise PlanError(
                f"algorithm.parts: {self.parts} parts of {rows} records have fewer than k = {k} each; at most "
                f"{rows // k} would do"
            )
        smallest = max(self.smallest, k) if self.smallest else max(TIMES_K * k, -(-rows // PARTS))
        return locally(problem, work, parts=self.parts, smallest=smallest)


def _largest_k(problem: ItemProblem) -> int:
    """The largest k that is asked for; other models are refused."""
    k_values = []
    for model in problem.models:
        if not isinstance(model, KMAnonymity):
            raise PlanError(
                f"algorithm.name: local-sets goes with km only; {model.name} needs one recoding for all records, as "
                "algorithm.name = 'sets' gives it"
            )
        k_values.append(model.k)
    return max(k_values, default=1)
