"""Files that somebody named are opened here: regular ones only, so that no read blocks or runs without end.

A folder, a pipe, a socket and a device are refused before they are opened. A symbolic link that a user names is
followed to a regular file; inside a bundle (``follow=False``) a link is refused: it leads out of what was handed over.
Refusals are ``OSError`` with a ``strerror`` that says what was found: whoever reads puts its own words around it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader

from sfumato.ground.limits import MOST_TEXT, most_unfolded

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
    limit, made, at, unit = most_unfolded(len(data)), bytearray(), 0, zlib.decompressobj(wbits=31)
    while at < len(data):
        feed = data[at : at + _STEP]
        at += len(feed)
        while feed and not unit.eof:
            made += unit.decompress(feed, _STEP)
            if len(made) > limit:
                raise TooLarge(errno.EFBIG, f"it unfolds to more than {limit:,} bytes, from {len(data):,}")
            feed = unit.unconsumed_tail
        if unit.eof:
            at = _next_member(data, at - len(unit.unused_data))
            unit = zlib.decompressobj(wbits=31) if at < len(data) else unit
    if not unit.eof:
        raise EOFError("it ends too early")
    return bytes(made)


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
