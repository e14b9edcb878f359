"""Files written whole or not at all, and files that only their owner may read."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sfumato.core.errors import BundleError
from sfumato.core.run_context import unstopped
from sfumato.core.scratch import give_name, scratch, sync


def is_taken(path: Path) -> bool:
    """Whether a name is taken, also by a link that leads nowhere."""
    return path.is_symlink() or path.exists()


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


def refuse_secret(path: Path) -> None:
    """Refuse a name that is taken: a secret that is lost is lost for good."""
    if is_taken(path):
        raise BundleError(f"{path} exists already; name another file, or keep this secret")


def write_secret(path: Path, content: str | bytes) -> None:
    """Write a file that its owner alone may read, all of it or nothing; a name that is taken is refused."""
    refuse_secret(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with scratch(path.parent, path.name) as place:
            write_private(place.new, content)
            sync(place.new)
            with unstopped():
                give_name(place.new, path)
                with suppress(OSError):
                    sync(path.parent)
    except FileExistsError:
        refuse_secret(path)
        raise
    except OSError as error:
        raise BundleError(f"{path} cannot be written: {error.strerror or error}") from error


def write_with(secret: Path, write: Callable[[], None]) -> None:
    """Write what belongs to a secret file; where that fails the secret goes too, so that both can be made again."""
    try:
        write()
    except BaseException:
        with suppress(OSError):
            secret.unlink()
        raise
