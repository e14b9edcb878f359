"""The folder that is handed out: all of it or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.bundle.bundle_files import MANIFEST, REPORT, refuse_existing, refuse_page, sha256
from sfumato.bundle.swapping import take_place
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BundleError
from sfumato.ground.scratch import Scratch, scratch, sync

__all__ = ["MANIFEST", "REPORT", "refuse_existing", "sha256", "staged", "write_private", "write_whole"]


def write_whole(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file: all of it or nothing. A ``private`` one is for the steward: only its owner can read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch(path.parent, path.name) as place:
            write_private(place.new, content) if private else place.new.write_bytes(_bytes(content))
            sync(place.new)
            with unstopped():
                place.new.replace(path)
                with suppress(OSError):
                    sync(path.parent)
    except OSError as error:
        raise BundleError(f"{path} cannot be written: {error.strerror or error}") from error


def write_private(path: Path, content: str | bytes) -> None:
    """Write a new file that only its owner can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(_bytes(content))


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


@contextmanager
def staged(folder: Path, *, force: bool, page: Path | None = None) -> Iterator[Path]:
    """A temporary folder that becomes ``folder`` when the block ends well, and vanishes when it does not.

    With ``page`` the block also writes the file ``page_of(it)``; both appear together, or neither does.
    """
    refuse_existing(folder, force=force)
    if page is not None:
        refuse_page(page, force=force)
    left: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch(folder.parent, folder.name) as place:
            left = place.folder
            place.new.mkdir()
            yield place.new
            _flush(place.new)
            _hand_out(place, folder, force=force, page=page)
    except OSError as error:
        raise BundleError(f"{folder} cannot be written: {error.strerror or error}; {_told(left)}") from error


def _hand_out(place: Scratch, folder: Path, *, force: bool, page: Path | None) -> None:
    """Move the folder, and the page with it; a page for another folder is on that disk before anything is moved."""
    if page is None or page.resolve().parent == folder.resolve().parent:
        if page is not None:
            sync(place.page)
        take_place(place, folder, force=force, page=page, held=place)
        return
    page.parent.mkdir(parents=True, exist_ok=True)
    with scratch(page.parent, page.name) as other:
        write_private(other.page, place.page.read_bytes())
        sync(other.page)
        take_place(place, folder, force=force, page=page, held=other)


def _told(left: Path | None) -> str:
    if left is not None and left.exists():
        return f"{left} is left over, and the next run removes it"
    return "nothing was left behind"


def _flush(folder: Path) -> None:
    """Force the bytes to disk, so that the rename never shows an unwritten file."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)
