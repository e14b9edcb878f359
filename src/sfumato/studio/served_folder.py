"""The folder that the studio serves: files to open, and nothing outside of it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.ground.errors import DataError
from sfumato.studio.confined_plan import MAX_NAME

HOME = "sfumato-studio"
"""The folder for projects, inside the served one."""
MOST_BYTES = 4 * 1024**3
"""The largest file that is taken by upload."""
_SHOWN = frozenset(
    [
        ".csv",
        ".tsv",
        ".txt",
        ".data",
        ".parquet",
        ".pq",
        ".arrow",
        ".feather",
        ".gz",
        ".zst",
        ".xlsx",
        ".xls",
        ".ods",
        ".sav",
        ".zsav",
        ".dta",
        ".sas7bdat",
        ".xpt",
        ".jsonl",
        ".ndjson",
    ]
)
_MOST_FILES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShown:
    """A file that can be opened."""

    name: str
    """Its path from the served folder."""
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFolder:
    """One folder; paths that lead out of it, by dots or by links, are refused."""

    root: Path
    """Where it is."""
    most_bytes: int = MOST_BYTES
    """The largest upload."""

    def inside(self, name: str) -> Path:
        """The place of a name inside the folder, wherever links lead."""
        _refuse_long(Path(name).name)
        place = (self.root / name.replace("\0", "")).resolve()
        if "\0" in name or not place.is_relative_to(self.root.resolve()):
            raise DataError(f"{name[:200]!r} is outside of the folder that the studio serves; move the file into it")
        return place

    def files(self) -> list[FileShown]:
        """The tables in the folder and two folders below, but for projects."""
        found: list[FileShown] = []
        for folder, below, names in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            below[:] = sorted(one for one in below if not one.startswith(".") and one != HOME and depth < 2)
            for name in sorted(names):
                place = Path(folder) / name
                if place.suffix.lower() in _SHOWN and not place.is_symlink() and len(found) < _MOST_FILES:
                    shown = place.relative_to(self.root).as_posix()
                    found.append(FileShown(name=shown, size=place.stat().st_size))
        return found

    async def take(self, name: str, chunks: AsyncIterator[bytes], folder: Path) -> Path:
        """Write what arrives into a folder, piece by piece; more than the limit leaves nothing behind."""
        bare = Path(name).name
        if not bare or bare.startswith(".") or "\0" in bare:
            raise DataError(f"{name[:100]!r} is no name for a file; rename it and upload it again")
        _refuse_long(bare)
        folder.mkdir(parents=True, exist_ok=True)
        part, size = folder / f".{bare}.part", 0
        try:
            with part.open("wb") as out:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > self.most_bytes:
                        raise DataError(f"{bare} has more than {self.most_bytes:,} bytes; put it into {self.root.name} "
                                        "and open it there")  # fmt: skip
                    out.write(chunk)
            if not size:
                raise DataError(f"{bare} is empty; choose a file that has rows")
            part.replace(folder / bare)
        finally:
            part.unlink(missing_ok=True)
        return folder / bare


def _refuse_long(name: str) -> None:
    size = len(os.fsencode(name))
    if size > MAX_NAME:
        raise DataError(f"{name[:40]!r}... has {size:,} bytes; the name of a file has at most {MAX_NAME}: rename it")
