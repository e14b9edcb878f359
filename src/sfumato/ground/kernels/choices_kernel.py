"""Counting groups by every choice of some columns, until one group is too small or too sure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled, compiled_within

Codes = NDArray[np.int32]


@compiled_within
def _filled(ids: Codes, codes: Codes, radix: int, weights: Codes, space: int, table: Codes) -> None:
    """Sum the weights of each combination of id and code; the sums of combinations that do not occur may be left."""
    if space <= 4 * len(ids):
        for x in range(space):
            table[x] = 0
    else:
        for r in range(len(ids)):
            table[ids[r] * radix + codes[r]] = 0
    for r in range(len(ids)):
        table[ids[r] * radix + codes[r]] += weights[r]


@compiled_within
def _enough(ids: Codes, codes: Codes, radix: int, space: int, k: int, table: Codes) -> bool:
    """Whether every combination that occurs has at least ``k``."""
    if space <= 4 * len(ids):
        for x in range(space):
            if 0 < table[x] < k:
                return False
    else:
        for r in range(len(ids)):
            if table[ids[r] * radix + codes[r]] < k:
                return False
    return True


@compiled_within
def _holds(
    ids: Codes, codes: Codes, radix: int, space: int, counts: Codes, k: int, limit: float, table: Codes, other: Codes
) -> bool:
    """Whether every group has ``k`` rows and no watched value a share above the limit."""
    _filled(ids, codes, radix, counts[0], space, table)
    if not _enough(ids, codes, radix, space, k, table):
        return False
    for w in range(1, len(counts)):
        _filled(ids, codes, radix, counts[w], space, other)
        for r in range(len(ids)):
            x = ids[r] * radix + codes[r]
            if other[x] / table[x] > limit:
                return False
    return True


@compiled_within
def _finer(ids: Codes, codes: Codes, radix: int, space: int, table: Codes, out: Codes) -> int:
    """Number the combinations of id and code; as they are where they are few, else only those that occur."""
    if space <= len(ids):
        for r in range(len(ids)):
            out[r] = ids[r] * radix + codes[r]
        return space
    for r in range(len(ids)):
        table[ids[r] * radix + codes[r]] = -1
    found = 0
    for r in range(len(ids)):
        x = ids[r] * radix + codes[r]
        if table[x] < 0:
            table[x] = found
            found += 1
        out[r] = table[x]
    return found


@compiled
def choice_that_fails(
    keys: Codes, radices: NDArray[np.int64], counts: Codes, k: int, limit: float, ids: Codes, first: int,
    table: Codes, other: Codes, pick: NDArray[np.int64],
) -> int:  # fmt: skip
    """Count groups by ``ids[0]`` and every choice of as many columns as ``pick`` has, until a choice fails.

    ``pick`` is then that choice. ``counts`` has the rows first, then each watched value. ``ids`` has one line per
    chosen column; its first has numbers below ``first``. Tells how many choices were counted, negative if one fails.
    """
    size = len(pick)
    spaces = np.zeros(size + 1, np.int64)
    spaces[0] = first
    depth = done = 0
    pick[0] = -1
    while depth >= 0:
        pick[depth] += 1
        column = pick[depth]
        if column > len(keys) - size + depth:
            depth -= 1
            continue
        space = spaces[depth] * radices[column]
        if depth == size - 1:
            done += 1
            if not _holds(ids[depth], keys[column], radices[column], space, counts, k, limit, table, other):
                return -done
        else:
            spaces[depth + 1] = _finer(ids[depth], keys[column], radices[column], space, table, ids[depth + 1])
            depth += 1
            pick[depth] = column
    return done
