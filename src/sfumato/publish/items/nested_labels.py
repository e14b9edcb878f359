"""Labels of several recodings side by side: one may stand for more than another does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Codes
from sfumato.publish.items.cover import Shown, joined_shown
from sfumato.publish.items.item_problem import ItemProblem
from sfumato.publish.items.item_space import Axis, ItemSpace


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
    found = [int(by_leaf[a:b].min()) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    return np.array(found, np.int64)


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
    found = np.where(nodes >= 0, place[nodes], -1).astype(np.int32)
    while (open_nodes := (found < 0) & (nodes >= 0)).any():
        nodes = np.where(open_nodes, _above(axis, nodes), nodes)
        found = np.where(open_nodes & (nodes >= 0), place[nodes], found).astype(np.int32)
    return found


def _above(axis: Axis, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The node above each; -1 for the root, and where there is no tree."""
    if axis.tree is None:
        return np.full(len(nodes), -1, np.int64)
    up: NDArray[np.int64] = axis.tree.parent.astype(np.int64)[nodes]
    return np.where(nodes < 0, -1, up)
