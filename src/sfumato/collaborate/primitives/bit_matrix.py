"""Bit matrices turned from columns to rows and back, eight by eight bits in one word.

Source: Warren 2012, Hacker's Delight, section 7-3. Bits are counted from the lowest of each byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
SWAPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))
AT_ONCE = 1 << 11
"""Groups of eight positions that are turned in a fast cache."""


def rows_of(columns: Bytes) -> Bytes:
    """Row p holds bit p of every column; the number of columns is a multiple of 8.

    >>> rows_of(np.array([[1], [3], [0], [0], [0], [0], [0], [128]], np.uint8)).ravel()
    array([  3,   2,   0,   0,   0,   0,   0, 128], dtype=uint8)
    """
    count, length = columns.shape
    rows = np.empty((length, 8, count // 8), np.uint8)
    for at in range(0, length, AT_ONCE):
        chunk = columns[:, at : at + AT_ONCE]
        turned = _turned(chunk.reshape(count // 8, 8, -1).transpose(2, 0, 1))
        rows[at : at + AT_ONCE] = turned.transpose(0, 2, 1)
    return rows.reshape(8 * length, count // 8)


def columns_of(rows: Bytes) -> Bytes:
    """Column c holds bit c of every row; the number of rows is a multiple of 8.

    >>> some = np.arange(32, dtype=np.uint8).reshape(16, 2)
    >>> bool((rows_of(columns_of(some)) == some).all())
    True
    """
    length, count = len(rows) // 8, rows.shape[1]
    columns = np.empty((count, 8, length), np.uint8)
    for at in range(0, length, AT_ONCE):
        chunk = rows[8 * at : 8 * (at + AT_ONCE)]
        turned = _turned(chunk.reshape(-1, 8, count).transpose(0, 2, 1))
        columns[:, :, at : at + AT_ONCE] = turned.transpose(1, 2, 0)
    return columns.reshape(8 * count, length)


def packed(bits: NDArray[np.bool_] | Bytes) -> Bytes:
    """Bits as bytes, the last byte filled up with zeros."""
    return np.packbits(bits, axis=-1, bitorder="little")


def unpacked(content: bytes | Bytes, count: int) -> Bytes:
    """The first bits of bytes, as 0 and 1."""
    array = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
    return np.unpackbits(array, axis=-1, count=count, bitorder="little")


def _turned(blocks: Bytes) -> Bytes:
    """Each 8 by 8 bits of the last axis, transposed."""
    words = np.array(blocks, order="C").view("<u8")[..., 0]
    for shift, mask in SWAPS:
        moved = (words ^ (words >> np.uint64(shift))) & np.uint64(mask)
        words ^= moved
        words ^= moved << np.uint64(shift)
    return words[..., None].view(np.uint8)
