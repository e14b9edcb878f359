"""Files that only their owner may read: written whole, never over another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sfumato.bundle.bundle_files import is_taken
from sfumato.bundle.staging import write_private
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BundleError
from sfumato.ground.scratch import give_name, scratch, sync


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
