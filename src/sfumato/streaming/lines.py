"""Bytes as they arrive become blocks of so many lines, the same ones however the bytes were cut; a record is a line.

A block is known by the number of its first record. Its digest goes on from the digest of the blocks before it, so that
whoever sends a stream again can be held to what they sent before.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError

MOST_LINE = 64_000_000
"""How many bytes one line may have."""
NO_DIGEST = "0" * 64
"""The digest of no block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Some whole lines."""

    data: bytes
    """Their bytes, each with its line end; the last line of a stream may lack it."""
    ends: NDArray[np.int64]
    """Where each line ends in them."""

    @property
    def count(self) -> int:
        """How many lines."""
        return len(self.ends)

    def part(self, start: int, stop: int) -> bytes:
        """The bytes of the lines from one place to another."""
        return self.data[int(self.ends[start - 1]) if start else 0 : int(self.ends[stop - 1]) if stop else 0]


class LineBuffer:
    """Bytes that arrived and were not taken yet."""

    def __init__(self) -> None:
        self._data = b""
        self._ends: NDArray[np.int64] = np.zeros(0, np.int64)

    def put(self, more: bytes) -> None:
        """Bytes that follow."""
        ends = np.flatnonzero(np.frombuffer(more, np.uint8) == ord("\n")).astype(np.int64) + 1 + len(self._data)
        self._data += more
        self._ends = np.concatenate([self._ends, ends])
        if not len(self._ends) and len(self._data) > MOST_LINE:
            raise DataError(f"a line has more than {MOST_LINE:,} bytes and does not end; is it a text with lines?")

    def close(self) -> None:
        """Nothing follows: what is left is the last line, though nothing ends it."""
        if len(self._data) > (int(self._ends[-1]) if len(self._ends) else 0):
            self._ends = np.append(self._ends, len(self._data))

    @property
    def lines(self) -> int:
        """How many whole lines there are."""
        return len(self._ends)

    def take(self, many: int) -> Lines:
        """The first so many lines, or all there are; they are taken away."""
        many = min(many, len(self._ends))
        end = int(self._ends[many - 1]) if many else 0
        lines = Lines(data=self._data[:end], ends=self._ends[:many])
        self._data, self._ends = self._data[end:], self._ends[many:] - end
        return lines


def chained(before: str, block: bytes) -> str:
    r"""The digest of all blocks up to this one.

    >>> chained(NO_DIGEST, b"1\n") != chained(chained(NO_DIGEST, b"1\n"), b"")
    True
    """
    return hashlib.sha256(bytes.fromhex(before) + block).hexdigest()
