"""Putting a new folder in an old one's place: in one step where the system can, else so that it can be undone."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.bundle.bundle_files import is_taken, refuse_existing, refuse_foreign
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BundleError
from sfumato.ground.scratch import Scratch, sync

_HERE = -100
"""AT_FDCWD: paths start at the current folder."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2)."""
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or its file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    rename.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
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
