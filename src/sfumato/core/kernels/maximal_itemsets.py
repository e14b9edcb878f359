"""Maximal frequent sets of items, depth first: everything that begins with one item.

Rows lie in slots as in ``itemsets``. ``members`` has, for each item, a bit for every maximal set found so far that
holds it: sets that lie in a found one are noticed by taking the bits of their items together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.core.kernels.compiler import compiled, compiled_within

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]


@compiled_within
def _roomy(array: Codes, need: int) -> Codes:
    """The array, or a copy of at least twice the size where it is too small."""
    if need <= len(array):
        return array
    wider = np.empty(max(need, 2 * len(array)), np.int32)
    wider[: len(array)] = array
    return wider


@compiled_within
def _within(members: Bits, words: int, head: Codes, tail: Codes) -> bool:
    """Whether a found set holds all items of both."""
    for word in range(words):
        common = members[head[0], word]
        for item in head:
            common &= members[item, word]
        for item in tail:
            if common == 0:
                break
            common &= members[item, word]
        if common != 0:
            return True
    return False


@compiled_within
def _has(items: Codes, item: int) -> bool:
    """Whether an item is one of a few."""
    for candidate in items:  # noqa: SIM110  compiled
        if candidate == item:
            return True
    return False


@compiled_within
def _behind(rows: tuple[Codes, Codes, Codes], places: Codes, counts: Codes, touched: Codes) -> tuple[int, int]:
    """Count the items behind each place.

    Returned are how many different items there are, which stand in ``touched``, and how many rows the places stand for.
    """
    slots, stop, times = rows
    many, size = 0, 0
    for place in places:
        size += times[place]
        for slot in range(place + 1, stop[place]):
            item = slots[slot]
            if counts[item] == 0:
                touched[many] = item
                many += 1
            counts[item] += times[place]
    return many, size


@compiled_within
def _project(slots: Codes, stop: Codes, listed: Codes, begin: int, end: int, item: int) -> int:
    """Write behind the list the slots of an item that stand behind its places; where that ends."""
    filled = end
    for at in range(begin, end):
        for slot in range(listed[at] + 1, stop[listed[at]]):
            if slots[slot] >= item:
                if slots[slot] == item:
                    listed[filled] = slot
                    filled += 1
                break
    return filled


@compiled_within
def _opened(
    rows: tuple[Codes, Codes, Codes],
    places: Codes,
    support: int,
    counts: Codes,
    touched: Codes,
    head: Codes,
    size: int,
) -> tuple[int, int, int]:
    """Put items that all rows have into the head, and the other frequent ones, ascending, first into ``touched``.

    Returned are the new size of the head, how many others there are, and how many rows have the head.
    """
    (many, weight), tail = _behind(rows, places, counts, touched), 0
    for at in range(many):
        item = touched[at]
        if counts[item] == weight:
            if not _has(head[:size], item):
                head[size] = item
                size += 1
        elif counts[item] >= support:
            touched[tail] = item
            tail += 1
        counts[item] = 0
    for i in range(1, tail):
        item, j = touched[i], i
        while j > 0 and touched[j - 1] > item:
            touched[j] = touched[j - 1]
            j -= 1
        touched[j] = item
    return size, tail, weight


@compiled_within
def _noted(members: Bits, number: int, head: Codes) -> Bits:
    """Set the bit of a new maximal set for each of its items; wider where there is no bit left."""
    if number >= 64 * members.shape[1]:
        wider = np.zeros((members.shape[0], 2 * members.shape[1]), np.uint64)
        wider[:, : members.shape[1]] = members
        members = wider
    for item in head:
        members[item, number // 64] |= np.uint64(1) << np.uint64(number % 64)
    return members


@compiled("(UniTuple(int32[::1], 3), Tuple((int64, int32[::1])), int64, uint64[:, ::1], int64, int64)")
def maximal_from(
    rows: tuple[Codes, Codes, Codes], begin: tuple[int, Codes], support: int, members: Bits, number: int, most: int
) -> tuple[Bits, Codes, Codes, Codes, int]:
    """The maximal frequent sets that begin with an item, given its slots, after ``number`` found before.

    ``rows`` are slots, the slot behind each slot's row, and how often each slot's row occurs. Returned are the bits of
    all found sets, the items of the new ones in one row, their sizes and their rows, and how many slots were looked at.
    The search stops after ``most`` of these.
    """
    counts, touched = np.zeros(len(members), np.int32), np.empty(len(members), np.int32)
    head, tails = np.empty(len(members) + 1, np.int32), np.empty(1024, np.int32)
    listed = np.empty(4 * len(begin[1]) + 1024, np.int32)
    listed[: len(begin[1])] = begin[1]
    head[0] = begin[0]
    frames = np.empty((6, len(members) + 2), np.int64)  # list from, to; size of the head; tail from, to; rows
    out, sizes, heads = np.empty(1024, np.int32), np.empty(64, np.int32), np.empty(64, np.int32)
    filled, new, depth, looked = 0, 0, 0, len(begin[1])
    size, tail, weight = _opened(rows, begin[1], support, counts, touched, head, 1)
    tails = _roomy(tails, tail)
    tails[:tail] = touched[:tail]
    frames[:, 0] = (0, len(begin[1]), size, 0, tail, weight)
    fresh = True
    while depth >= 0 and looked <= most:
        a, b, size, low, high, weight = frames[:, depth]
        words = (number + new + 63) // 64
        if fresh and low == high and not _within(members, words, head[:size], head[:0]):
            members = _noted(members, number + new, head[:size])
            out, sizes, heads = _roomy(out, filled + size), _roomy(sizes, new + 1), _roomy(heads, new + 1)
            out[filled : filled + size], sizes[new], heads[new] = head[:size], size, weight
            filled, new = filled + size, new + 1
        if low == high or _within(members, words, head[:size], tails[low:high]):
            depth, fresh = depth - 1, False
            continue
        frames[3, depth] = low + 1
        head[size] = tails[low]
        listed = _roomy(listed, b + (b - a))
        end = _project(rows[0], rows[1], listed, a, b, tails[low])
        looked += b - a
        size, tail, weight = _opened(rows, listed[b:end], support, counts, touched, head, size + 1)
        tails = _roomy(tails, high + tail)
        tails[high : high + tail] = touched[:tail]
        depth, fresh = depth + 1, True
        frames[:, depth] = (b, end, size, high, high + tail, weight)
    return members, out[:filled].copy(), sizes[:new].copy(), heads[:new].copy(), looked
