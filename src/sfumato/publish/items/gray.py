"""The Gray order of records: neighbours have nearly the same items."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.group.transactions import Transactions
from sfumato.publish.items.item_space import Axis, ItemSpace

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

    >>> from sfumato.publish.items.item_space import Axis, ItemSpace
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
    found, count = [np.empty(0, np.int64)], 0
    for space in spaces:
        nodes = _at_most(space.axes[0], space.leaves[0].astype(np.int64), max(most // len(spaces), 1))
        names, number = np.unique(nodes, return_inverse=True)
        found.append(number.reshape(-1) + count)
        count += len(names)
    return np.concatenate(found), count


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
