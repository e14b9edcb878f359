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
def _ascending(child: Ints, first: int, last: int, slot: Ints) -> None:
    """Put the children of one part into ascending order; ``slot`` has -2 at each of them and -1 elsewhere."""
    if last - first > _FEW:
        at = first
        for c in range(len(slot)):
            if slot[c] == -2:
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
    order: Codes, starts: Ints, lengths: Ints, parts: Ints, codes: Codes, child_of: Codes, weights: Numbers, slot: Ints,
    group: Codes, owner: Ints, child: Ints, held: Ints, counts: Numbers,
) -> int:  # fmt: skip
    """Count the cells of each of ``parts`` by child; tells how many (part, child) pairs there are, children ascending.

    ``group`` gets the pair of each cell, one part after the other; ``owner``, ``child``, ``held`` and ``counts`` the
    part's place in ``parts``, the child, the cells and the summed weights of each pair. ``slot`` has -1 everywhere.
    """
    found = place = 0
    for t in range(len(parts)):
        first, begin = found, place
        start = starts[parts[t]]
        stop = start + lengths[parts[t]]
        if stop == start + 1:
            owner[found], child[found], held[found], group[place] = t, child_of[codes[order[start]]], 1, found
            for w in range(counts.shape[1]):
                counts[found, w] = weights[order[start], w]
            found, place = found + 1, place + 1
            continue
        for i in range(start, stop):
            c = child_of[codes[order[i]]]
            if slot[c] == -1:
                slot[c] = -2
                child[found] = c
                found += 1
            group[place] = c
            place += 1
        _ascending(child, first, found, slot)
        for j in range(first, found):
            slot[child[j]] = j
            owner[j], held[j] = t, 0
            for w in range(counts.shape[1]):
                counts[j, w] = 0
        for i in range(start, stop):
            at = slot[group[begin + i - start]]
            group[begin + i - start] = at
            held[at] += 1
            for w in range(counts.shape[1]):
                counts[at, w] += weights[order[i], w]
        for j in range(first, found):
            slot[child[j]] = -1
    return found


@compiled
def count_values(
    order: Codes, starts: Ints, lengths: Ints, parts: Ints, codes: Codes, weights: Numbers, counts: Numbers
) -> None:
    """Sum the weights of the cells of each of ``parts`` by code: parts x codes x figures, zeros before."""
    for t in range(len(parts)):
        start = starts[parts[t]]
        for i in range(start, start + lengths[parts[t]]):
            cell = order[i]
            for w in range(counts.shape[2]):
                counts[t, codes[cell], w] += weights[cell, w]


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
