"""Where the bytes of a stream come from: a file that may grow, or standard input.

A file is known again by its header and by the last bytes that were read of it: one that was cut, replaced or changed
there is refused. Standard input has no place to go back to: whoever feeds it says after which record it begins.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Protocol

from sfumato.core.errors import DataError
from sfumato.core.input_files import GZIP, opened
from sfumato.streaming.state import TAIL, Progress

CHUNK = 2**21
"""How many bytes are asked for at once."""


class Source(Protocol):
    """Whatever gives bytes."""

    where: str
    """What messages call it."""

    def more(self) -> bytes | None:
        """Bytes that follow; none where there are none yet, and None where none will ever come."""

    def seek(self, progress: Progress, header: int) -> bool:
        """Go to the place that was reached, after a header of so many bytes; False where that cannot be done."""

    def tail(self, offset: int) -> str:
        """The digest of the last bytes before a place, by which a file is known again."""

    def look(self) -> None:
        """Refuse a file that is not the one that was opened any more."""

    @property
    def size(self) -> int:
        """How many bytes there are to be read, as far as that is known; 0 where nobody knows."""


class GrowingFile:
    """A file to which lines are appended."""

    def __init__(self, path: Path) -> None:
        self.path, self.where = path, str(path)
        self._at = 0
        try:
            with opened(path) as file:
                self._handle = os.dup(file.fileno())
        except FileNotFoundError:
            raise DataError(f"{path}: there is no such file; check the name, or make it before the stream") from None
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}; a stream is a regular file, or -") from None
        if os.pread(self._handle, 2, 0) == GZIP:
            raise DataError(f"{path}: is compressed; unpack it into standard input: gzip -dc FILE | sfumato stream -")

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)

    @property
    def size(self) -> int:
        """How many bytes it has now."""
        return os.fstat(self._handle).st_size

    def more(self) -> bytes | None:
        """The bytes that follow."""
        content = os.pread(self._handle, CHUNK, self._at)
        self._at += len(content)
        return content

    def tail(self, offset: int) -> str:
        """The digest of the last bytes before a place."""
        start = max(offset - TAIL, 0)
        return hashlib.sha256(os.pread(self._handle, offset - start, start)).hexdigest()

    def seek(self, progress: Progress, header: int) -> bool:
        """Go to the offset of the checkpoint, if the bytes before it are the same."""
        if not progress.records:
            self._at = header
            return True
        if self.size < progress.offset:
            raise DataError(
                f"{self.where}: has {self.size:,} bytes, and {progress.offset:,} were read of it before: it was cut or "
                "replaced; put the file back, or begin a new stream with another -o"
            )
        if self.tail(progress.offset) != progress.tail:
            raise DataError(
                f"{self.where}: the part that was read ends otherwise than it did: the file was changed or replaced; "
                "put it back, or begin a new stream with another -o"
            )
        self._at = progress.offset
        return True

    def look(self) -> None:
        """Refuse a file that shrank, or whose name belongs to another one now."""
        if self.size < self._at:
            raise DataError(f"{self.where}: was cut while it was read; put the file back, or begin a new stream")
        try:
            same = os.path.samestat(os.fstat(self._handle), os.stat(self.path))
        except OSError:
            same = False
        if not same:
            raise DataError(f"{self.where}: was replaced by another file while it was read; append to the same file")


class StandardInput:
    """What somebody writes into a pipe."""

    where = "standard input"
    size = 0

    def __init__(self, handle: int = 0) -> None:
        self._handle = handle

    def more(self) -> bytes | None:
        """The bytes that follow, as soon as there are any."""
        return os.read(self._handle, CHUNK) or None

    def seek(self, progress: Progress, header: int) -> bool:
        """A pipe has one place only."""
        return False

    def tail(self, offset: int) -> str:
        """A pipe is known by the digest of what it sent."""
        return ""

    def look(self) -> None:
        """A pipe stays the same."""

    def close(self) -> None:
        """It was open before, and stays so."""
