"""Files that only their owner may read: written whole, never over another."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sfumato.bundle.bundle_files import is_taken
from sfumato.ground.errors import BundleError


def refuse_secret(path: Path) -> None:
    """Refuse a name that is taken: a secret that is lost is lost for good."""
    if is_taken(path):
        raise BundleError(f"{path} exists already; name another file, or keep this secret")


def write_secret(path: Path, content: str | bytes) -> None:
    """Write a file that its owner alone may read; a name that is taken is refused, and half a file is removed."""
    refuse_secret(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            try:
                file.write(content if isinstance(content, bytes) else content.encode())
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    path.unlink()
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
