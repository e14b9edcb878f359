"""Numbers as the bits of wires, lowest first, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.circuit import Bits
from sfumato.ground.errors import ParameterError

Numbers = Sequence[int] | NDArray[np.int64] | NDArray[np.uint64]
"""Whole numbers of any size, or arrays of them within 64 bits."""


def bits_of(numbers: Numbers, width: int, *, signed: bool = False) -> Bits:
    """The digits of each number in two's complement, one number a row; one that does not fit is refused.

    >>> bits_of([5, 0], 3).tolist(), bits_of([-1], 2, signed=True).tolist()
    ([[1, 0, 1], [0, 0, 0]], [[1, 1]])
    """
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    array = numbers if isinstance(numbers, np.ndarray) else np.array([int(one) for one in numbers], object)
    if array.size == 0:
        return np.empty((0, width), np.uint8)
    least, most = (int(array.min()), int(array.max()))
    if array.ndim != 1 or array.dtype.kind not in "iuO" or least < low or most > high:
        raise ParameterError(f"whole numbers from {low} to {high} are needed, not {least} to {most} of {array.dtype}")
    if array.dtype.kind != "O":
        words = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).view(np.uint8).reshape(-1, 8)
        filled = words if width <= 64 else np.hstack([words, np.repeat(_sign(array), -(-width // 8) - 8, axis=1)])
        return unpacked(filled, width)
    size = -(-width // 8)
    content = b"".join((int(one) % (1 << width)).to_bytes(size, "little") for one in numbers)
    return unpacked(np.frombuffer(content, np.uint8).reshape(-1, size), width)


def numbers_of(bits: Bits, *, signed: bool = False) -> list[int]:
    """The number of each row of digits."""
    width = bits.shape[-1]
    found = [int.from_bytes(row.tobytes(), "little") for row in packed(bits)]
    return [one - (1 << width) if signed and width and one >> width - 1 else one for one in found]


def _sign(array: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint8]:
    """255 for negative numbers and 0 for others: what fills up wider words."""
    return np.where(array < 0, np.uint8(255), np.uint8(0))[:, None]
