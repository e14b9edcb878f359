"""Hidden folders for work in progress: whoever is killed leaves one, and the next run puts things right.

A scratch folder lies beside the place that its content is made for, so that a rename is enough to hand it out. Its file
``lock`` is locked (flock) as long as its process lives; the system lifts the lock however the process ends. A folder
whose lock is free is a dead process's. The next run takes the lock, finishes or undoes the move that was under way, and
removes the folder. It never touches a folder that is locked, that belongs to another user, or that holds anything else
than these files:

* ``lock``  who works here, and what is to be moved where
* ``new``  what is being made; after a swap in one step, what was replaced
* ``old``  what is replaced, where the system cannot swap in one step
* ``page``  a file that goes beside ``new``'s place
* ``page.old``  the file that it replaces
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.errors import BundleError
from sfumato.core.run_context import unstopped

if sys.platform != "win32":
    import fcntl

_PROGRAM = "sfumato"
_NAME = re.compile(r"\..{1,50}\.sfumato-[a-z0-9_]{8}", re.DOTALL)
_LOCK = "lock"
_KNOWN = {_LOCK, "new", "old", "page", "page.old"}
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """One scratch folder, locked."""

    folder: Path
    """The hidden folder."""
    lock: int
    """Its lock, as an open file."""

    @property
    def new(self) -> Path:
        """What is being made."""
        return self.folder / "new"

    @property
    def old(self) -> Path:
        """What it replaces."""
        return self.folder / "old"

    @property
    def page(self) -> Path:
        """A file that goes beside it."""
        return page_of(self.new)

    @property
    def old_page(self) -> Path:
        """The file that it replaces."""
        return self.folder / "page.old"

    def tell(self, target: Path, page: Path | None) -> None:
        """Note what is about to be moved where, so that the next run can finish it; both lie in the folder above."""
        status = self.new.stat()
        note = {
            "to": target.name,
            "page": None if page is None else page.name,
            "made": [status.st_ino, status.st_mtime_ns],
        }
        _note(self.lock, note)
        sync(self.folder)


_OPEN: list[Scratch] = []
"""The scratch folders of this process."""


def page_of(new: Path) -> Path:
    """Where the file lies that goes beside ``new``'s place."""
    return new.with_name("page")


@contextmanager
def scratch(parent: Path, name: str) -> Iterator[Scratch]:
    """A scratch folder in ``parent`` for something called ``name``; it is gone when the block ends, however it ends."""
    clear(parent)
    workspace: Scratch | None = None
    try:
        with unstopped():
            workspace = _opened(parent, name)
        yield workspace
    finally:
        if workspace is not None:
            _close(workspace)


@contextmanager
def temporary(name: str) -> Iterator[Path]:
    """An empty folder among the system's temporary ones, gone when the block ends; the next run removes a dead one."""
    place = Path(tempfile.gettempdir())
    with ExitStack() as stack:
        try:
            workspace = stack.enter_context(scratch(place, name))
            workspace.new.mkdir(mode=0o700)
        except OSError as error:
            raise BundleError(f"{place} cannot be written: {error.strerror or error}") from error
        yield workspace.new


def open_temporary(name: str) -> Scratch:
    """A scratch folder among the system's temporary ones that stays until ``close``, with an empty folder in it."""
    place = Path(tempfile.gettempdir())
    clear(place)
    try:
        with unstopped():
            workspace = _opened(place, name)
        workspace.new.mkdir(mode=0o700)
    except OSError as error:
        raise BundleError(f"{place} cannot be written: {error.strerror or error}") from error
    return workspace


def close(workspace: Scratch) -> None:
    """Remove a scratch folder that was opened to stay."""
    _close(workspace)


def clear_temporary() -> None:
    """Remove what killed processes left among the system's temporary folders."""
    clear(Path(tempfile.gettempdir()))


def close_all() -> None:
    """Remove every scratch folder of this process: an interrupt can fall between the opening of one and its block."""
    for workspace in tuple(_OPEN):
        _close(workspace)


def _close(workspace: Scratch) -> None:
    with unstopped():
        if workspace in _OPEN:
            _remove(workspace.folder)
            os.close(workspace.lock)
            _OPEN.remove(workspace)


def clear(parent: Path) -> None:
    """Put right and remove what dead processes left in a folder; whatever is alive, foreign or unreadable stays."""
    if sys.platform == "win32":
        return
    folders: list[Path] = []
    with suppress(OSError), os.scandir(parent) as entries:
        folders = [
            Path(entry) for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    for folder in folders:
        with suppress(OSError), unstopped():
            _clear(folder)


def is_scratch(path: Path) -> bool:
    """Whether a folder has the name of a scratch folder.

    >>> is_scratch(Path(".release.sfumato-a1b2c3d4")), is_scratch(Path("release"))
    (True, False)
    """
    return _NAME.fullmatch(path.name) is not None


def give_name(new: Path, path: Path) -> None:
    """Give a file its name, unless something has it."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a disk that has no second names
        if path.exists():
            raise
        new.rename(path)


def sync(path: Path) -> None:
    """Force a file's bytes, or a folder's names, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _opened(parent: Path, name: str) -> Scratch:
    """A new folder with its lock taken; another process may clear it away before that, and then there is a next one."""
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=f".{name[:50]}.{_PROGRAM}-", dir=parent))
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue
        except BaseException:
            _remove(folder)
            raise
        try:
            if _taken(lock, folder / _LOCK):
                _note(lock, {})
                _OPEN.append(workspace := Scratch(folder=folder, lock=lock))
                return workspace
        except BaseException:
            _remove(folder)
            os.close(lock)
            raise
        os.close(lock)
    raise OSError(f"no scratch folder could be kept in {parent}")


def _taken(lock: int, path: Path) -> bool:
    """Take a lock, unless somebody has it or its file is not there any more."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def _note(lock: int, note: dict[str, Any]) -> None:
    text = json.dumps({"program": _PROGRAM, "pid": os.getpid(), **note}).encode()
    os.pwrite(lock, text, 0)
    os.ftruncate(lock, len(text))
    os.fsync(lock)


def _clear(folder: Path) -> None:
    names = set(os.listdir(folder))
    if folder.lstat().st_uid != os.getuid() or not names <= _KNOWN:
        return
    if not names:
        folder.rmdir()
        return
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if _taken(lock, folder / _LOCK):
            note = _told(lock)
            if note.get("program") == _PROGRAM:
                _put_right(folder, note)
            elif names != {_LOCK}:
                return
            _remove(folder)
    finally:
        os.close(lock)


def _told(lock: int) -> dict[str, Any]:
    try:
        note = json.loads(os.pread(lock, 4096, 0))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _put_right(folder: Path, note: dict[str, Any]) -> None:
    """Finish a move that was half done if the new thing is in its place already, else undo it."""
    names = [note.get("to"), note.get("page")]
    if names[0] is None or any(name is not None and Path(str(name)).name != name for name in names):
        return
    target, new, old = folder.parent / names[0], folder / "new", folder / "old"
    if new.exists() and old.exists() and not os.path.lexists(target):
        old.rename(target)
    if names[1] is None:
        return
    place, page, old_page = folder.parent / names[1], folder / "page", folder / "page.old"
    if _is(target, note["made"]) and page.exists():
        page.replace(place)
    elif _is(new, note["made"]) and old_page.exists() and not os.path.lexists(place):
        old_page.rename(place)


def _is(target: Path, identity: list[int]) -> bool:
    """Whether the folder there is the one that was made: a rename keeps its number and its time."""
    try:
        status = target.lstat()
    except OSError:
        return False
    return [status.st_ino, status.st_mtime_ns] == identity


def _remove(folder: Path) -> None:
    """Remove a scratch folder, its lock last: as long as anything else is there, somebody can tell whose it is."""
    for name in sorted(_KNOWN - {_LOCK}):
        path = folder / name
        with suppress(OSError):
            path.unlink()
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        if set(os.listdir(folder)) <= {_LOCK}:
            (folder / _LOCK).unlink(missing_ok=True)
            folder.rmdir()
