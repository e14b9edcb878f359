"""Open and unpack files that a user names, within limits on their size."""

from __future__ import annotations

import bz2
import errno
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from io import BufferedReader, BytesIO
from typing import Any

# What a file from a stranger may hold: every reader takes its limits from here (docs/guide/limits.md lists them).


MOST_COLUMNS = 2_000
"""How many columns a table may have."""
MOST_NAME = 1_000
"""How many characters the name of a column may have."""
MOST_FIELD = 1_000_000
"""How many bytes one cell may have."""
MOST_DEPTH = 64
"""How deep lists, tables and objects may be nested, in JSON, TOML and SQL, and how many levels a hierarchy may have."""
MOST_DIGITS = 40
"""How many characters a number may have, in JSON, TOML and SQL."""
MOST_JSON = 256_000_000
"""How many characters a JSON text may have."""
MOST_TOML = 16_000_000
"""How many characters a TOML text may have."""
MOST_SQL = 400_000
"""How many characters a SQL text may have."""
MOST_TEXT = 256_000_000
"""How many bytes a plan, a hierarchy, a manifest or a ledger may have."""
MOST_KEY = 65_536
"""How many bytes a secret key may have."""
MOST_CELLS = 32_000_000
"""How many cells (rows times columns) a table may always have."""
CELLS_TO_A_BYTE = 8
"""A larger file of typed columns may have so many cells for each of its bytes."""
BYTES_TO_A_CELL = 2
"""A larger text must have so many bytes for each of its cells: a sign, and what divides it from the next."""
UNFOLDED = 100_000_000
"""How many bytes a compressed file may always unfold to."""
UNFOLDED_TIMES = 25
"""A compressed file of more bytes may unfold to so many times its own size: what it costs grows with what was sent."""


def most_unfolded(size: int) -> int:
    """How many bytes a file of this size may unfold to.

    >>> most_unfolded(1_000), most_unfolded(100_000_000)
    (100000000, 2500000000)
    """
    return max(UNFOLDED, UNFOLDED_TIMES * size)


# Files that somebody named are opened here: regular ones only, so that no read blocks or runs without end.
#
# A folder, a pipe, a socket and a device are refused before they are opened. A symbolic link that a user names is
# followed to a regular file; inside a bundle (``follow=False``) a link is refused: it leads out of what was handed
# over. Refusals are ``OSError`` with a ``strerror`` that says what was found: whoever reads puts its own words around
# it.


GZIP = b"\x1f\x8b"
"""How a gzip file begins."""
_STEP = 1 << 16
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


class TooLarge(OSError):
    """A file, or what it unfolds to, has more bytes than its limit."""


@contextmanager
def opened(path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BufferedReader]:
    """A regular file, open for reading; anything else is refused and never waited for."""
    place = _checked(path)
    _refuse_others(place, os.stat(place, follow_symlinks=follow))
    quick = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(place, os.O_RDONLY | quick | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    with os.fdopen(handle, "rb") as file:
        _refuse_others(place, os.fstat(file.fileno()))
        yield file


def read_whole(path: str | os.PathLike[str], *, most: int | None = None, follow: bool = True) -> bytes:
    """The bytes of a regular file; more than ``most`` are refused.

    Without ``most`` a file may be as large as its place on the disk allows: one that is nearly all holes is refused.
    """
    with opened(path, follow=follow) as file:
        about = os.fstat(file.fileno())
        held = getattr(about, "st_blocks", None)
        limit = most if most is not None else (about.st_size if held is None else most_unfolded(held * 512))
        if about.st_size > limit:
            raise _too_large(path, about.st_size, limit)
        data = file.read(max(limit, about.st_size) + 1 if most is not None else -1) or b""
        if most is not None and len(data) > most:
            raise _too_large(path, len(data), most)
    return data


def read_text(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", most: int = MOST_TEXT, follow: bool = True
) -> str:
    """The text of a regular file."""
    return read_whole(path, most=most, follow=follow).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def unfolded(data: bytes) -> bytes:
    """What a gzip file holds, unfolded step by step; ``TooLarge`` beyond the limit, ``EOFError`` where it is cut off.

    >>> import gzip
    >>> unfolded(gzip.compress(b"a,b"))
    b'a,b'
    """
    if not data.startswith(GZIP):
        raise EOFError("Not a gzipped file")
    limit, content, at, unit = most_unfolded(len(data)), bytearray(), 0, zlib.decompressobj(wbits=31)
    while at < len(data):
        feed = data[at : at + _STEP]
        at += len(feed)
        while feed and not unit.eof:
            content += unit.decompress(feed, _STEP)
            if len(content) > limit:
                raise TooLarge(errno.EFBIG, f"it unfolds to more than {limit:,} bytes, from {len(data):,}")
            feed = unit.unconsumed_tail
        if unit.eof:
            at = _next_member(data, at - len(unit.unused_data))
            unit = zlib.decompressobj(wbits=31) if at < len(data) else unit
    if not unit.eof:
        raise EOFError("it ends too early")
    return bytes(content)


def _next_member(data: bytes, at: int) -> int:
    """Where the next part of a gzip file begins: zeros may stand between them."""
    zeros = re.compile(rb"\0*").match(data, at)
    return at if zeros is None else zeros.end()


def _checked(path: str | os.PathLike[str]) -> str:
    """The path as text; one that no file can have is refused like one that no file has."""
    place = os.fspath(path)
    if "\0" in place:
        raise FileNotFoundError(errno.ENOENT, "no file can have this name", place)
    return place


def _refuse_others(place: str, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        kind = _KINDS.get(stat.S_IFMT(about.st_mode), "no file")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", place)


def _too_large(path: str | os.PathLike[str], size: int, limit: int) -> TooLarge:
    return TooLarge(errno.EFBIG, f"it has {size:,} bytes; at most {limit:,} are read", os.fspath(path))


# Compressed files, unfolded step by step under the same limit whatever packed them.
#
# The end of a file's name says how: ``.gz``, ``.bz2``, ``.xz``, ``.zst``. A gzip file is also known by its first
# bytes.


PACKED = (".gz", ".bz2", ".xz", ".zst")
"""The ends of names of compressed files."""
BROKEN = (EOFError, zlib.error, lzma.LZMAError, ValueError)
"""What a file that was cut off or changed raises."""
_CHUNK = 1 << 20
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
    content, unit, feed = bytearray(), make(), data
    while True:
        try:
            content += unit.decompress(feed, _CHUNK)
        except OSError as fault:
            raise ValueError(str(fault)) from None
        _refuse_large(len(content), data)
        feed = b""
        if unit.eof:
            rest = unit.unused_data.lstrip(b"\0")
            if not rest:
                return bytes(content)
            unit, feed = make(), rest
        elif unit.needs_input:
            raise EOFError("it ends too early")


def _zstd(data: bytes) -> bytes:
    if find_spec("compression") is not None:
        return _stepwise(data, import_module("compression.zstd").ZstdDecompressor)
    if find_spec("pyarrow") is None:
        raise NoReader(errno.ENOTSUP, _NEEDED)
    arrow, content = import_module("pyarrow"), bytearray()
    try:
        with arrow.CompressedInputStream(BytesIO(data), "zstd") as stream:
            while part := stream.read(_CHUNK):
                content += part
                _refuse_large(len(content), data)
    except TooLarge:
        raise
    except OSError as fault:
        raise ValueError(str(fault)) from None
    if not content:
        raise EOFError("it ends too early")
    return bytes(content)


def _refuse_large(size: int, data: bytes) -> None:
    limit = most_unfolded(len(data))
    if size > limit:
        raise TooLarge(errno.EFBIG, f"it unfolds to more than {limit:,} bytes, from {len(data):,}")
