"""How large a Parquet file says it becomes, read from its footer and page headers before anybody unfolds it.

Source: the Parquet format (parquet.thrift) in Thrift's compact encoding. A page is unfolded into as many bytes as its
header says, so the sum over all headers bounds what a reader takes, whatever the footer claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MARK = b"PAR1"
MOST_FOOTER = 16_000_000
"""How many bytes a footer may have."""
MOST_PAGES = 200_000
"""How many pages a file may have."""
_DEEPEST = 32
_HEADER = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a file of typed columns becomes."""

    columns: int
    """How many columns it has, those inside others counted one by one."""
    rows: int
    """How many rows."""
    unfolded: int
    """How many bytes its pages have when they are unfolded."""


def parquet_sizes(data: bytes) -> Sizes:
    """The sizes of a file, or a ``ValueError`` where its footer or a page header cannot be read."""
    length = int.from_bytes(data[-8:-4], "little")
    if len(data) < 12 or data[:4] != MARK or data[-4:] != MARK or length > len(data) - 12:
        raise ValueError("it does not begin and end as a Parquet file does")
    if length > MOST_FOOTER:
        raise ValueError(f"its footer has {length:,} bytes; at most {MOST_FOOTER:,} are read: write larger row groups")
    footer = _Compact(data, len(data) - 8 - length, len(data) - 8).struct()
    nodes = _structs(footer.get(2))
    rows, chunks = (
        _whole(footer.get(3)),
        [chunk for group in _structs(footer.get(4)) for chunk in _structs(group.get(1))],
    )
    rows = max(rows, sum(_whole(group.get(3)) for group in _structs(footer.get(4))))
    unfolded, pages = 0, 0
    for chunk in chunks:
        for size in _pages(data, _struct(chunk.get(3))):
            unfolded, pages = unfolded + size, pages + 1
            if pages > MOST_PAGES:
                raise ValueError(f"it has more than {MOST_PAGES:,} pages: write larger ones")
    return Sizes(columns=sum(1 for node in nodes if not node.get(5)), rows=rows, unfolded=unfolded)


def _pages(data: bytes, about: dict[int, Any]) -> Iterator[int]:
    """The unfolded sizes of the pages of one column chunk."""
    starts = [_whole(about[field]) for field in (9, 11) if field in about]
    at = min(starts, default=0)
    end = min(at + _whole(about.get(7)), len(data))
    while 0 < at < end:
        reader = _Compact(data, at, min(at + _HEADER, end))
        header = reader.struct()
        folded, size = _whole(header.get(3)), _whole(header.get(2))
        yield size
        at = reader.at + folded


def _whole(value: Any) -> int:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ValueError("a size in it is no whole number from 0 up")
    return value or 0


def _struct(value: Any) -> dict[int, Any]:
    return value if isinstance(value, dict) else {}


def _structs(value: Any) -> list[dict[int, Any]]:
    return [_struct(one) for one in value] if isinstance(value, list) else []


class _Compact:
    """Reads Thrift's compact encoding: structs as dictionaries by field number, bytes skipped."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def struct(self, deep: int = 0) -> dict[int, Any]:
        """The struct that begins here."""
        if deep > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        found: dict[int, Any] = {}
        field = 0
        while True:
            head = self._byte()
            if head == 0:
                return found
            field = field + (head >> 4) if head >> 4 else self._signed()
            found[field] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, deep + 1)

    def _value(self, kind: int, deep: int) -> Any:
        if kind in (1, 2):
            return self._byte() == 1
        if kind in (3, 4, 5, 6):
            return self._signed() if kind > 3 else self._byte()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list(deep)
        if kind == 12:
            return self.struct(deep)
        raise ValueError("its footer has a field of no known type")

    def _list(self, deep: int) -> list[Any]:
        if deep > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        if size > self.end - self.at:
            raise ValueError("a list in its footer is longer than the footer")
        return [self._value(head & 15, deep + 1) for _ in range(size)]

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("its footer or a page header ends too early")
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            one = self._byte()
            found |= (one & 127) << shift
            if one < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number in its footer is too long")

    def _signed(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def _skip(self, size: int) -> None:
        if size > self.end - self.at:
            raise ValueError("its footer or a page header ends too early")
        self.at += size
