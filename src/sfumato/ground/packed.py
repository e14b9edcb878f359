"""Compressed files, unfolded step by step under the same limit whatever packed them.

The end of a file's name says how: ``.gz``, ``.bz2``, ``.xz``, ``.zst``. A gzip file is also known by its first bytes.
"""

from __future__ import annotations

import bz2
import errno
import lzma
import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from sfumato.ground.limits import most_unfolded
from sfumato.ground.opening import GZIP, TooLarge, unfolded

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""The ends of names of compressed files."""
BROKEN = (EOFError, zlib.error, lzma.LZMAError, ValueError)
"""What a file that was cut off or changed raises."""
_STEP = 1 << 20
_NEEDED = "zstd needs Python 3.14 or pyarrow, and here is neither; unpack it first: zstd -d"


class NoReader(OSError):
    """Nothing here can unfold such a file."""


def is_packed(data: bytes, end: str) -> bool:
    """Whether bytes from a file whose name ends so are to be unfolded."""
    return data.startswith(GZIP) or (bool(data) and end.lower() in PACKED)


def unpacked(data: bytes, end: str) -> bytes:
    """What a compressed file holds; ``TooLarge`` beyond the limit, one of ``BROKEN`` where it is not whole.

    >>> unpacked(bz2.compress(b"a,b"), ".bz2")
    b'a,b'
    """
    if data.startswith(GZIP) or end.lower() == ".gz":
        return unfolded(data)
    if end.lower() == ".zst":
        return _zstd(data)
    make: Callable[[], Any] = bz2.BZ2Decompressor if end.lower() == ".bz2" else _lzma
    return _stepwise(data, make)


def _lzma() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=1 << 28)


def _stepwise(data: bytes, make: Callable[[], Any]) -> bytes:
    """The content of all parts of a file, each made by one run of the packer."""
    made, unit, feed = bytearray(), make(), data
    while True:
        try:
            made += unit.decompress(feed, _STEP)
        except OSError as fault:
            raise ValueError(str(fault)) from None
        _refuse_large(len(made), data)
        feed = b""
        if unit.eof:
            rest = unit.unused_data.lstrip(b"\0")
            if not rest:
                return bytes(made)
            unit, feed = make(), rest
        elif unit.needs_input:
            raise EOFError("it ends too early")


def _zstd(data: bytes) -> bytes:
    if find_spec("compression") is not None:
        return _stepwise(data, import_module("compression.zstd").ZstdDecompressor)
    if find_spec("pyarrow") is None:
        raise NoReader(errno.ENOTSUP, _NEEDED)
    arrow, made = import_module("pyarrow"), bytearray()
    try:
        with arrow.CompressedInputStream(BytesIO(data), "zstd") as stream:
            while part := stream.read(_STEP):
                made += part
                _refuse_large(len(made), data)
    except TooLarge:
        raise
    except OSError as fault:
        raise ValueError(str(fault)) from None
    if not made:
        raise EOFError("it ends too early")
    return bytes(made)


def _refuse_large(size: int, data: bytes) -> None:
    limit = most_unfolded(len(data))
    if size > limit:
        raise TooLarge(errno.EFBIG, f"it unfolds to more than {limit:,} bytes, from {len(data):,}")
