"""How large an Arrow file says it becomes, read from its footer and messages before anybody unfolds it.

Source: the Arrow IPC format (File.fbs, Message.fbs) in FlatBuffers. A compressed buffer begins with the number of bytes
that it unfolds to; one that is not compressed has as many as the message says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from sfumato.data.parquet_sizes import Sizes

MARK = b"ARROW1"
MOST_BUFFERS = 1_000_000
"""How many buffers a file may have."""
_DEEPEST = 32


def arrow_sizes(data: bytes) -> Sizes:
    """The sizes of a file, or a ``ValueError`` where its footer or a message cannot be read."""
    try:
        return _sizes(data)
    except struct.error:
        raise ValueError("its footer or a message points outside the file") from None


def _sizes(data: bytes) -> Sizes:
    if len(data) < 20 or not data.startswith(MARK) or not data.endswith(MARK):
        raise ValueError("it does not begin and end as an Arrow file does")
    length = _number("<i", data, len(data) - 10)
    start = len(data) - 10 - length
    footer = _root(data, start)
    schema = _link(data, footer, 1)
    columns = 0 if schema is None else _leaves(data, schema, 1)
    rows = unfolded = buffers = 0
    for block in (*_items(data, footer, 2, 24), *_items(data, footer, 3, 24)):
        place, head, _ = struct.unpack_from("<qi4xq", data, block) if block >= 0 else (-1, 0, 0)
        found = _batch(data, place)
        if found is None:
            continue
        batch, apart = found
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
    said = _number("<q", data, at) if packed and size >= 8 else -1
    if said < -1:
        raise ValueError("a buffer says that it has fewer than 0 bytes")
    return size if said == -1 else said


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
    found: int = struct.unpack_from(form, data, at)[0]
    return found


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
