"""Dividing leaf partitions: the cells of each, counted by the child that they get, and put in their new order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@compiled
def count_children(
    order: Codes, starts: Ints, lengths: Ints, parts: Ints, codes: Codes, child_of: Codes, weights: Ints, slot: Ints,
    group: Codes, owner: Ints, child: Codes, held: Ints, counts: Ints,
) -> int:  # fmt: skip
    """Count the cells of each of ``parts`` by child; tells how many (part, child) pairs there are.

    ``group`` gets the pair of each cell, one part after the other; ``owner``, ``child``, ``held`` and ``counts`` the
    part's place in ``parts``, the child, the cells and the summed weights of each pair. ``slot`` has -1 everywhere.
    """
    found = place = 0
    for t in range(len(parts)):
        first = found
        start = starts[parts[t]]
        for i in range(start, start + lengths[parts[t]]):
            cell = order[i]
            c = child_of[codes[cell]]
            at = slot[c]
            if at < 0:
                at = slot[c] = found
                owner[found], child[found], held[found] = t, c, 0
                for w in range(counts.shape[1]):
                    counts[found, w] = 0
                found += 1
            held[at] += 1
            for w in range(counts.shape[1]):
                counts[at, w] += weights[cell, w]
            group[place] = at
            place += 1
        for j in range(first, found):
            slot[child[j]] = -1
    return found


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
        alone = held[j] == many
        while j < len(owner) and owner[j] == t:
            j += 1
        if not alone:
            for i in range(many):
                spare[i] = order[start + i]
            for i in range(many):
                order[nexts[group[place + i]]] = spare[i]
                nexts[group[place + i]] += 1
        place += many
