"""Virtual identifiers as rows of codes: which of them become one when the values of a column do, by hashes of the rows.

Every value of every column has a word; the hash of a row is the exclusive or of the words of its values, so that the
hash of a row with one value changed is known without looking at the others. Rows of equal hash are compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled, compiled_within

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@compiled_within
def _alike(keys: Codes, i: int, j: int, column: int) -> bool:
    """Whether two rows agree in every other column."""
    for c in range(keys.shape[1]):  # noqa: SIM110  compiled
        if c != column and keys[i, c] != keys[j, c]:
            return False
    return True


@compiled
def number_alike(
    keys: Codes, hashes: Ints, column: int, words: Ints, rows: Ints, slots: Ints, groups: Ints, firsts: Ints
) -> int:
    """Number rows so that those that agree in every other column get one number; how many numbers there are.

    ``slots`` is room for a table of a power of two of places, all -1; ``firsts`` gets the first row of each number.
    """
    mask, many = len(slots) - 1, 0
    for i in range(len(rows)):
        row = rows[i]
        place = (hashes[row] ^ words[keys[row, column]]) & mask
        while slots[place] >= 0 and not _alike(keys, firsts[slots[place]], row, column):
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = many
            firsts[many] = row
            many += 1
        groups[i] = slots[place]
    return many


@compiled
def enter(hashes: Ints, rows: Ints, table: Ints) -> None:
    """Write rows into the table of all rows, at their hash or the next free place."""
    mask = len(table) - 1
    for row in rows:
        place = hashes[row] & mask
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = row


@compiled
def have_values(keys: Codes, column: int, values: Ints, rows: Ints, room: NDArray[np.bool_]) -> bool:
    """Whether each of some rows has one of the values; ``room`` is all false, one for each value there may be."""
    for value in values:
        room[value] = True
    found = True
    for row in rows:
        if not room[keys[row, column]]:
            found = False
            break
    for value in values:
        room[value] = False
    return found


@compiled
def have_partners(
    keys: Codes, hashes: Ints, sizes: Ints, column: int, words: Ints, values: Ints, rows: Ints, table: Ints
) -> bool:
    """Whether each of some rows differs from another row of the table only in having another of the values.

    A row that has changed since it was entered is passed over where it stood; rows without size do not count.
    """
    mask = len(table) - 1
    for row in rows:
        found = False
        rest = hashes[row] ^ words[keys[row, column]]
        for value in values:
            sought = rest ^ words[value]
            place = sought & mask
            while value != keys[row, column] and not found and table[place] >= 0:
                other = table[place]
                same = hashes[other] == sought and keys[other, column] == value
                found = same and sizes[other] > 0 and _alike(keys, other, row, column)
                place = (place + 1) & mask
            if found:
                break
        if not found:
            return False
    return True
