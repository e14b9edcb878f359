"""Dividing leaf partitions: the cells of each, counted by the child that they get, and put in their new order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled, compiled_within

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Numbers = NDArray[Any]
_FEW = 24
"""So many children are sorted by insertion; where there are more, all possible ones are gone through."""


@compiled_within
def _ascending(child: Ints, first: int, last: int, tally: Ints) -> None:
    """Put the children of one part into ascending order; ``tally`` is above 0 at each of them, and 0 elsewhere."""
    if last - first > _FEW:
        at = first
        for c in range(len(tally)):
            if tally[c]:
                child[at] = c
                at += 1
        return
    for j in range(first + 1, last):
        c, at = child[j], j
        while at > first and child[at - 1] > c:
            child[at] = child[at - 1]
            at -= 1
        child[at] = c


@compiled
def count_children(
    order: Codes, starts: Ints, lengths: Ints, parts: Ints, codes: Codes, child_of: Codes, weights: Numbers,
    tally: Ints, sums: Numbers, group: Codes, owner: Ints, child: Ints, held: Ints, counts: Numbers,
) -> int:  # fmt: skip
    """Count the cells of each of ``parts`` by child; tells how many (part, child) pairs there are, children ascending.

    ``group`` gets the pair of each cell, one part after the other; ``owner``, ``child``, ``held`` and ``counts`` the
    part's place in ``parts``, the child, the cells and the summed weights of each pair. ``tally`` (children) and
    ``sums`` (children x figures) are zero before and after.
    """
    found = place = 0
    for t in range(len(parts)):
        first, begin = found, place
        start = starts[parts[t]]
        if lengths[parts[t]] == 1:
            cell = order[start]
            owner[found], child[found], held[found], group[place] = t, child_of[codes[cell]], 1, found
            for w in range(counts.shape[1]):
                counts[found, w] = weights[cell, w]
            found, place = found + 1, place + 1
            continue
        for i in range(start, start + lengths[parts[t]]):
            cell = order[i]
            c = child_of[codes[cell]]
            if tally[c] == 0:
                child[found] = c
                found += 1
            tally[c] += 1
            for w in range(counts.shape[1]):
                sums[c, w] += weights[cell, w]
            group[place] = c
            place += 1
        _ascending(child, first, found, tally)
        for j in range(first, found):
            c = child[j]
            owner[j], held[j], tally[c] = t, tally[c], j
            for w in range(counts.shape[1]):
                counts[j, w], sums[c, w] = sums[c, w], 0
        for i in range(begin, place):
            group[i] = tally[group[i]]
        for j in range(first, found):
            tally[child[j]] = 0
    return found


@compiled
def count_dense(
    starts: Ints, lengths: Ints, parts: Ints, group: Codes, codes: Codes, child_of: Codes, weights: Numbers,
    counts: Numbers,
) -> None:  # fmt: skip
    """Sum the weights of the cells of each of ``parts`` by its group and their child; cells lie in the parts' order."""
    for t in range(len(parts)):
        start, mine = starts[parts[t]], counts[group[t]]
        for i in range(start, start + lengths[parts[t]]):
            c = child_of[codes[i]]
            for w in range(counts.shape[2]):
                mine[c, w] += weights[i, w]


@compiled
def move_cells(
    order: Codes, starts: Ints, lengths: Ints, parts: Ints, group: Codes, owner: Ints, held: Ints, begins: Ints,
    spare: Codes,
) -> None:  # fmt: skip
    """Put the cells of each part in the order of its pairs, each pair's in their old order.

    ``begins`` gets where each pair's cells begin.
    """
    first = np.zeros(len(parts), np.int64)
    for t in range(len(parts)):
        first[t] = starts[parts[t]]
    for j in range(len(owner)):
        begins[j] = first[owner[j]]
        first[owner[j]] += held[j]
    place, j = 0, 0
    nexts = begins.copy()
    for t in range(len(parts)):
        start, many = starts[parts[t]], lengths[parts[t]]
        alone = j < len(owner) and owner[j] == t and held[j] == many
        while j < len(owner) and owner[j] == t:
            j += 1
        if not alone:
            for i in range(many):
                spare[i] = order[start + i]
            for i in range(many):
                order[nexts[group[place + i]]] = spare[i]
                nexts[group[place + i]] += 1
        place += many
