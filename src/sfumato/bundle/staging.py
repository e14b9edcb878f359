"""The folder that is handed out: all of it or nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.ground.errors import BundleError
from sfumato.ground.opening import opened

MANIFEST = "manifest.json"
REPORT = "report.html"


def sha256(path: Path) -> str:
    """The digest of a file's bytes."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file: all of it or nothing."""
    half = path.with_name(f".{path.name}.half")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content if isinstance(content, bytes) else content.encode())
        half.replace(path)
    except OSError as error:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise BundleError(f"{path} cannot be written: {error.strerror}") from error


def refuse_existing(folder: Path, *, force: bool) -> None:
    """Refuse to write over something, unless told to and it is a bundle."""
    if folder.is_symlink():
        raise BundleError(f"{folder} is a symbolic link; name the folder itself")
    if not folder.exists():
        return
    if not force:
        raise BundleError(f"{folder} exists already; name another folder with -o, or replace it with --force")
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).is_file()):
        raise BundleError(f"{folder} exists and is no bundle (it has no {MANIFEST}); --force replaces bundles only")


@contextmanager
def staged(folder: Path, *, force: bool) -> Iterator[Path]:
    """A temporary folder that becomes ``folder`` when the block ends well, and vanishes when it does not."""
    refuse_existing(folder, force=force)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise BundleError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        yield work
        _flush(work)
        _swap(work, folder, force=force)
    except OSError as error:
        raise BundleError(f"{folder} cannot be written: {error.strerror or error}; nothing was left behind") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Force the bytes to disk, so that the rename never shows an unwritten file."""
    folder.chmod(0o755)
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _swap(work: Path, folder: Path, *, force: bool) -> None:
    refuse_existing(folder, force=force)
    old = work.with_name(work.name + ".old")
    replaced = folder.exists()
    if replaced:
        folder.rename(old)
    try:
        work.rename(folder)
    except OSError:
        if replaced:
            with suppress(OSError):
                old.rename(folder)
        raise
    if replaced:
        shutil.rmtree(old, ignore_errors=True)
