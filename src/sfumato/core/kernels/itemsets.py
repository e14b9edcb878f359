"""Sets of items that rows have, level by level: each set is extended by the items behind its last one.

Rows lie one behind the other in ``slots``: a slot of -1 that opens the row, then its items, ascending. A set's list
holds, for every row that has the set, the slot of its last item; the empty set's list holds the opening slots.
Sets that were kept are nodes of a tree: a node's children extend it by one item, and lie together, ascending.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.core.kernels.compiler import compiled, compiled_within

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
SLACK = 1e-12
"""Room for rounding when a share is compared with its limit."""


@compiled_within
def _roomy(array: Codes, need: int) -> Codes:
    """The array, or a copy of at least twice the size where it is too small."""
    if need <= len(array):
        return array
    wider = np.empty(max(need, 2 * len(array)), np.int32)
    wider[: len(array)] = array
    return wider


@compiled_within
def _child(item_of: Codes, first: Ints, last: Ints, node: int, item: int) -> int:
    """The child of a node by its item, or -1."""
    low, high = first[node], last[node]
    while low < high:
        middle = (low + high) // 2
        if item_of[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < last[node] and item_of[low] == item else -1


@compiled_within
def _all_kept(item_of: Codes, parent_of: Codes, first: Ints, last: Ints, node: int, item: int, path: Codes) -> bool:
    """Whether every set of one item fewer than node + item is a node; those without the last two items are known."""
    depth, above = 0, parent_of[node]
    path[0] = item_of[node]
    while above >= 0:
        depth += 1
        left_out = above
        above = parent_of[above]
        if above < 0:
            break
        current = above
        for step in range(depth - 1, -1, -1):
            current = _child(item_of, first, last, current, path[step])
            if current < 0:
                return False
        if _child(item_of, first, last, current, item) < 0:
            return False
        path[depth] = item_of[left_out]
    return True


@compiled_within
def _counted(slots: Codes, stop: Codes, places: Codes, marks: Codes, mark: int, counts: Codes, touched: Codes) -> int:
    """Count the marked items behind each place; how many different items there are, which stand in ``touched``."""
    many = 0
    for place in places:
        for slot in range(place + 1, stop[place]):
            item = slots[slot]
            if marks[item] == mark:
                if counts[item] == 0:
                    touched[many] = item
                    many += 1
                counts[item] += 1
    return many


@compiled_within
def _gathered(slots: Codes, stop: Codes, places: Codes, marks: Codes, mark: int, ends: Codes, room: Codes) -> None:
    """Write the slots of the marked items behind each place into the room, item by item; ``ends`` moves on."""
    for place in places:
        for slot in range(place + 1, stop[place]):
            item = slots[slot]
            if marks[item] == mark:
                room[ends[item]] = slot
                ends[item] += 1


@compiled_within
def _sizes(
    row_of: Codes, times: Codes, places: Codes, watched: tuple[Ints, Codes, Codes], tally: Codes
) -> tuple[int, int]:
    """How many rows the places stand for, and the most that share a watched value; ``tally`` is zero, also after."""
    secret_starts, secrets, often = watched
    size, top = 0, 0
    for place in places:
        row = row_of[place]
        size += times[row]
        for at in range(secret_starts[row], secret_starts[row + 1]):
            tally[secrets[at]] += often[at]
            top = max(top, tally[secrets[at]])
    if top:
        for place in places:
            row = row_of[place]
            for at in range(secret_starts[row], secret_starts[row + 1]):
                tally[secrets[at]] = 0
    return size, top


@compiled_within
def _sort(items: Codes) -> None:
    """Sort a few numbers where they stand (Shell's way: quick to compile)."""
    gap = 1
    while 3 * gap + 1 < len(items):
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(items)):
            item, j = items[i], i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


@compiled_within
def _wider(table: Codes, need: int) -> Codes:
    """The table, or a copy with at least twice the columns where it has too few."""
    if need <= table.shape[1]:
        return table
    wider = np.empty((table.shape[0], max(need, 2 * table.shape[1])), np.int32)
    wider[:, : table.shape[1]] = table
    return wider


@compiled_within
def _marked(marks: Codes, tree: tuple[Codes, Codes, Ints, Ints], above: int) -> None:
    """Mark the items by which a node's siblings extend their parent; every item where there is no parent."""
    item_of, _, first, last = tree
    if above < 0:
        marks[:] = above
    else:
        for sibling in range(first[above], last[above]):
            marks[item_of[sibling]] = above


@compiled(
    "(UniTuple(int32[::1], 4), Tuple((int64[::1], int32[::1], int32[::1])), "
    "Tuple((int32[::1], int32[::1], int64[::1], int64[::1])), Tuple((int64, int64[::1], int32[::1])), "
    "Tuple((int64, float64, boolean, boolean)), int64, int64)"
)
def extended(
    rows: tuple[Codes, Codes, Codes, Codes],
    watched: tuple[Ints, Codes, Codes],
    tree: tuple[Codes, Codes, Ints, Ints],
    lists: tuple[int, Ints, Codes],
    limits: tuple[int, float, bool, bool],
    count: int,
    most_values: int,
) -> tuple[Codes, Codes]:
    """Extend nodes by one of ``count`` items; sets of which a smaller set is no node are left out.

    ``rows`` are slots, the row of each slot, the slot behind each slot's row, and how often each row occurs;
    ``watched`` are the watched values of rows (fewer than ``most_values``) and how often each occurs; ``tree`` has the
    item, the parent and the children of every node; ``lists`` are the first node to extend and the lists of it and
    those behind it; ``limits`` are the rows that a set must have, the largest share of a watched value, and whether
    the lists of sets within and beyond the limits are wanted. Returned are parent, item, rows, top, whether it is
    within the limits and the length of its list, for every set, and the lists, one behind the other.
    """
    (slots, row_of, stop, times), (begin, list_starts, listed), (k, c, keep_good, keep_bad) = rows, lists, limits
    counts, ends, touched = np.zeros(count, np.int32), np.zeros(count, np.int32), np.empty(count, np.int32)
    marks, path, tally = np.full(count, -1, np.int32), np.empty(4096, np.int32), np.zeros(most_values, np.int32)
    room, out, extensions = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty((6, 1024), np.int32)
    many, filled, group = 0, 0, -2
    for node in range(begin, begin + len(list_starts) - 1):
        if tree[1][node] != group:
            group = tree[1][node]
            _marked(marks, tree, group)
        places = listed[list_starts[node - begin] : list_starts[node - begin + 1]]
        some = touched[: _counted(slots, stop, places, marks, group, counts, touched)]
        _sort(some)
        need = 0
        for item in some:
            ends[item] = need
            need += counts[item]
        room, extensions = _roomy(room, need), _wider(extensions, many + len(some))
        _gathered(slots, stop, places, marks, group, ends, room)
        for item in some:
            many_places, counts[item] = counts[item], 0
            if group >= 0 and not _all_kept(tree[0], tree[1], tree[2], tree[3], node, item, path):
                continue
            mine = room[ends[item] - many_places : ends[item]]
            size, top = _sizes(row_of, times, mine, watched, tally)
            good = size >= k and top <= (c + SLACK) * size
            extensions[0, many], extensions[1, many], extensions[2, many], extensions[3, many] = node, item, size, top
            extensions[4, many], extensions[5, many] = good, many_places
            many += 1
            if (keep_good and good) or (keep_bad and not good):
                out = _roomy(out, filled + many_places)
                out[filled : filled + many_places] = mine
                filled += many_places
    return extensions[:, :many].copy(), out[:filled].copy()
