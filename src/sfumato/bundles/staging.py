"""Putting a new folder in an old one's place: in one step where the system can, else so that it can be undone."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.bundles.files import refuse_existing, refuse_foreign, refuse_page
from sfumato.core.errors import BundleError
from sfumato.core.run_context import unstopped
from sfumato.core.scratch import Scratch, scratch, sync
from sfumato.core.staging import is_taken, write_private

_HERE = -100
"""AT_FDCWD: paths start at the current folder."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2)."""
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(path: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or its file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if rename(_HERE, os.fsencode(path), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))


def take_place(place: Scratch, folder: Path, *, force: bool, page: Path | None, held: Scratch) -> None:
    """Hand out what a scratch folder holds: ``new`` becomes the folder, and the page that ``held`` holds the file.

    Nothing that asks the program to stop comes in between, and where one move fails the other is undone. If the process
    is killed there, the next run finds the note of ``tell`` and brings both to the same side.
    """
    with unstopped():
        refuse_existing(folder, force=force)
        place.tell(folder, page if held is place else None)
        with _out_of_the_way(page, held.old_page):
            undo = _swap(place, folder)
            if page is not None:
                try:
                    held.page.replace(page)
                except BaseException:
                    undo()
                    raise
        with suppress(OSError):  # the names are there; a system that cannot sync a folder has written them
            sync(folder.parent)


@contextmanager
def _out_of_the_way(page: Path | None, aside: Path) -> Iterator[None]:
    """An old page is gone before a new folder appears, and comes back if none does: none is better than a wrong one."""
    if page is not None and is_taken(page):
        page.rename(aside)
    try:
        yield
    except BaseException:
        if page is not None and is_taken(aside):
            aside.rename(page)
        raise


def _swap(place: Scratch, folder: Path) -> Callable[[], object]:
    """Put the new folder in its place; gives what undoes it."""
    if not is_taken(folder):
        place.new.rename(folder)
        return lambda: folder.rename(place.new)
    if exchange(place.new, folder):
        try:
            refuse_foreign(place.new)
        except BundleError:
            exchange(place.new, folder)  # somebody put a file there since it was looked at
            raise
        return lambda: exchange(place.new, folder)
    folder.rename(place.old)
    try:
        place.new.rename(folder)
    except BaseException:
        place.old.rename(folder)
        raise
    return lambda: (folder.rename(place.new), place.old.rename(folder))


# The folder that is handed out: all of it or nothing.


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
