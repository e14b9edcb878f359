"""Sensitive rules, depth first: sets of items of which too many rows have one more, sensitive item.

Rows lie one behind the other, each with ascending items; sensitive items have the highest numbers, so that they end a
row. A set's list holds, for every row that has the set, the slot of its last item.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.core.kernels.compiler import compiled, compiled_within

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
SLACK = 1e-9
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
def _has(items: Codes, many: int, item: int) -> bool:
    """Whether an item is one of the first ``many``."""
    for place in range(many):  # noqa: SIM110  compiled
        if items[place] == item:
            return True
    return False


@compiled_within
def _spread(
    rows: tuple[Codes, Codes], places: Codes, below: int, counts: Codes, frame: tuple[Codes, Codes, int], room: Codes
) -> tuple[int, Codes]:
    """Write the items behind each place, and their slots, behind what the frames hold; how many items, and the room.

    ``frame`` are the items, where the slots of each end, and from where on both are free; only items under ``below``
    are taken. The slots of the first item begin where the slots of the item before end.
    """
    (codes, stop), (items, ends, top) = rows, frame
    many = 0
    for place in places:
        for slot in range(place + 1, stop[place]):
            item = codes[slot]
            if item >= below:
                break
            if counts[item] == 0:
                items[top + many] = item
                many += 1
            counts[item] += 1
    _sort(items[top : top + many])
    begin = ends[top - 1]
    for at in range(top, top + many):
        many_slots = counts[items[at]]
        ends[at], counts[items[at]] = begin + many_slots, begin
        begin += many_slots
    room = _roomy(room, begin)
    for place in places:
        for slot in range(place + 1, stop[place]):
            item = codes[slot]
            if item >= below:
                break
            room[counts[item]] = slot
            counts[item] += 1
    for at in range(top, top + many):
        counts[items[at]] = 0
    return many, room


@compiled_within
def _beside(rows: tuple[Codes, Codes, Codes], places: Codes, tally: Codes, seen: Codes) -> int:
    """Count the sensitive items in the rows of the places; how many different ones, which stand in ``seen``."""
    codes, stop, secret = rows
    touched = 0
    for place in places:
        for slot in range(secret[place], stop[place]):
            if tally[codes[slot]] == 0:
                seen[touched] = codes[slot]
                touched += 1
            tally[codes[slot]] += 1
    return touched


@compiled_within
def _noted(out: Codes, ends: Codes, n_rules: int, path: Codes, item: int) -> tuple[Codes, Codes]:
    """A rule written behind the others."""
    filled = ends[n_rules - 1] if n_rules else 0
    out, ends = _roomy(out, filled + len(path) + 1), _roomy(ends, n_rules + 1)
    out[filled : filled + len(path)] = path
    out[filled + len(path)] = item
    ends[n_rules] = filled + len(path) + 1
    return out, ends


@compiled("(UniTuple(int32[::1], 4), int64, int64, int64, float64, int64)")
def sure_rules(
    rows: tuple[Codes, Codes, Codes, Codes], heads: int, count: int, l: int, rho: float, most: int
) -> tuple[Codes, Codes, bool]:
    """Every set of at most ``l`` items, the first of them under ``heads``, that tells a sensitive item above ``rho``.

    ``rows`` are slots (each row opened by -1, its ``count`` items behind it, ascending), the slot behind each slot's
    row, the first sensitive slot of each slot's row, and the opening slots. Returned are, rule by rule, the items of
    the set and then the sensitive one; where each rule ends; and whether all sets were looked at: after ``most`` it
    gives up. A set beside which no sensitive item stands is not extended: none stands beside a larger one.
    """
    (codes, stop, secret, opening), deepest = rows, min(l, 4096)
    counts, tally, seen = np.zeros(count, np.int32), np.zeros(count, np.int32), np.zeros(count, np.int32)
    items, ends, room = np.zeros(1 + count, np.int32), np.zeros(1 + count, np.int32), np.zeros(4096, np.int32)
    at, last, path = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest, np.int32)
    out, out_ends, n_rules, looked, depth = np.zeros(1024, np.int32), np.zeros(256, np.int32), 0, 0, 0
    many, room = _spread((codes, stop), opening, heads, counts, (items, ends, 1), room)
    at[0], last[0] = 1, 1 + many
    while depth >= 0 and looked <= most:
        if at[depth] == last[depth]:
            depth -= 1
            continue
        here, looked = at[depth], looked + 1
        at[depth] += 1
        path[depth] = items[here]
        places, more = room[ends[here - 1] : ends[here]], False
        for n in range(_beside((codes, stop, secret), places, tally, seen)):
            item, both = seen[n], tally[seen[n]]
            tally[item] = 0
            if not _has(path, depth + 1, item):
                more = True
                if both > (rho + SLACK) * len(places):
                    out, out_ends = _noted(out, out_ends, n_rules, path[: depth + 1], item)
                    n_rules += 1
        if more and depth + 1 < deepest:
            top = last[depth]
            items, ends = _roomy(items, top + count), _roomy(ends, top + count)
            many, room = _spread((codes, stop), places, count, counts, (items, ends, top), room)
            depth += 1
            at[depth], last[depth] = top, top + many
    filled = out_ends[n_rules - 1] if n_rules else 0
    return out[:filled].copy(), out_ends[:n_rules].copy(), depth < 0
