"""How large Parquet and Arrow files become, read from their metadata before they are unpacked."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# How large a Parquet file says it becomes, read from its footer and page headers before anybody unfolds it.
#
# Source: the Parquet format (parquet.thrift) in Thrift's compact encoding. A page is unfolded into as many bytes as
# its header says, so the sum over all headers bounds what a reader takes, whatever the footer claims.


PARQUET_MAGIC = b"PAR1"
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
    if len(data) < 12 or data[:4] != PARQUET_MAGIC or data[-4:] != PARQUET_MAGIC or length > len(data) - 12:
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
    return [_struct(item) for item in value] if isinstance(value, list) else []


class _Compact:
    """Reads Thrift's compact encoding: structs as dictionaries by field number, bytes skipped."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def struct(self, deep: int = 0) -> dict[int, Any]:
        """The struct that begins here."""
        if deep > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        fields: dict[int, Any] = {}
        field = 0
        while True:
            head = self._byte()
            if head == 0:
                return fields
            field = field + (head >> 4) if head >> 4 else self._signed()
            fields[field] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, deep + 1)

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
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("a number in its footer is too long")

    def _signed(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _skip(self, size: int) -> None:
        if size > self.end - self.at:
            raise ValueError("its footer or a page header ends too early")
        self.at += size


# How large an Arrow file says it becomes, read from its footer and messages before anybody unfolds it.
#
# Source: the Arrow IPC format (File.fbs, Message.fbs) in FlatBuffers. A compressed buffer begins with the number of
# bytes that it unfolds to; one that is not compressed has as many as the message says.


ARROW_MAGIC = b"ARROW1"
MOST_BUFFERS = 1_000_000
"""How many buffers a file may have."""


def arrow_sizes(data: bytes) -> Sizes:
    """The sizes of a file, or a ``ValueError`` where its footer or a message cannot be read."""
    try:
        return _sizes(data)
    except struct.error:
        raise ValueError("its footer or a message points outside the file") from None


def _sizes(data: bytes) -> Sizes:
    if len(data) < 20 or not data.startswith(ARROW_MAGIC) or not data.endswith(ARROW_MAGIC):
        raise ValueError("it does not begin and end as an Arrow file does")
    length = _number("<i", data, len(data) - 10)
    start = len(data) - 10 - length
    footer = _root(data, start)
    schema = _link(data, footer, 1)
    columns = 0 if schema is None else _leaves(data, schema, 1)
    rows = unfolded = buffers = 0
    for block in (*_items(data, footer, 2, 24), *_items(data, footer, 3, 24)):
        place, head, _ = struct.unpack_from("<qi4xq", data, block) if block >= 0 else (-1, 0, 0)
        pair = _batch(data, place)
        if pair is None:
            continue
        batch, apart = pair
        rows += 0 if apart else max(_scalar("<q", data, batch, 0), 0)
        packed = _link(data, batch, 3) is not None
        for at in _items(data, batch, 2, 16):
            offset, size = struct.unpack_from("<qq", data, at)
            unfolded += _unfolded(data, place + head + offset, size, packed)
            buffers += 1
            if buffers > MOST_BUFFERS:
                raise ValueError(f"it has more than {MOST_BUFFERS:,} buffers: write larger batches")
    return Sizes(columns=columns, rows=rows, unfolded=unfolded)


def _unfolded(data: bytes, at: int, size: int, packed: bool) -> int:
    """The bytes that a buffer becomes."""
    if size < 0 or at < 0 or at + size > len(data):
        raise ValueError("a buffer lies outside the file")
    declared_size = _number("<q", data, at) if packed and size >= 8 else -1
    if declared_size < -1:
        raise ValueError("a buffer says that it has fewer than 0 bytes")
    return size if declared_size == -1 else declared_size


def _batch(data: bytes, place: int) -> tuple[int, bool] | None:
    """Where the batch of rows of a message stands, and whether it is one of a dictionary."""
    marked = _number("<I", data, place) == 0xFFFFFFFF
    message = _root(data, place + (8 if marked else 4))
    kind, batch = _scalar("<B", data, message, 1), _link(data, message, 2)
    if batch is None or kind not in (2, 3):
        return None
    if kind == 3:
        return batch, False
    inner = _link(data, batch, 1)
    return None if inner is None else (inner, True)


def _leaves(data: bytes, table: int, field: int, deep: int = 0) -> int:
    """How many columns lie below, those inside others counted one by one."""
    if deep > _DEEPEST:
        raise ValueError("its columns are nested too deep")
    total = 0
    for at in _items(data, table, field, 4):
        inside = _leaves(data, at + _number("<I", data, at), 5, deep + 1)
        total += max(inside, 1)
        if total > MOST_BUFFERS:
            raise ValueError("it has too many columns")
    return total


def _number(form: str, data: bytes, at: int) -> int:
    if at < 0:
        raise ValueError("it points outside itself")
    number: int = struct.unpack_from(form, data, at)[0]
    return number


def _root(data: bytes, at: int) -> int:
    return at + _number("<I", data, at)


def _slot(data: bytes, table: int, field: int) -> int | None:
    """Where a field of a table stands; None where it is left out."""
    scheme = table - _number("<i", data, table)
    if 4 + 2 * field >= _number("<H", data, scheme):
        return None
    offset = _number("<H", data, scheme + 4 + 2 * field)
    return table + offset if offset else None


def _scalar(form: str, data: bytes, table: int, field: int) -> int:
    at = _slot(data, table, field)
    return 0 if at is None else _number(form, data, at)


def _link(data: bytes, table: int, field: int) -> int | None:
    at = _slot(data, table, field)
    return None if at is None else at + _number("<I", data, at)


def _items(data: bytes, table: int, field: int, width: int) -> Iterator[int]:
    """Where the items of a vector stand."""
    at = _link(data, table, field)
    if at is None:
        return
    size = _number("<I", data, at)
    if size * width > len(data) - at:
        raise ValueError("a list in it is longer than the file")
    yield from range(at + 4, at + 4 + size * width, width)
