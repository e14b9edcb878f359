"""The private folder of a stream: checkpoints that are whole or not there, and batches that are published once.

A batch goes out in three steps. It is written whole into ``staged``. A checkpoint that counts it is put in the place of
the one before, by a rename; from then on it is published. Then ``staged`` is renamed to the batch's public place. Who
is killed before the second step finds the old checkpoint, and what is staged is thrown away; who is killed after it
finds the new one, and the third step is made up for. So no batch is published twice, and none differently.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.bundle.bundle_files import MANIFEST, sealed_manifest
from sfumato.ground.errors import BundleError
from sfumato.ground.opening import read_whole
from sfumato.ground.scratch import sync
from sfumato.stream.stream_state import Progress, StreamState

if sys.platform != "win32":
    import fcntl

CHECKPOINT, STAGED, ACKNOWLEDGED, _LOCK = "checkpoint", "staged", "acknowledged.json", "lock"
_BATCH = "batch-{:06}"


def batch_name(number: int) -> str:
    """The folder of a batch.

    >>> batch_name(12)
    'batch-000012'
    """
    return _BATCH.format(number)


class StateFolder:
    """The folder, while one process has it."""

    def __init__(self, folder: Path, public: Path) -> None:
        self.folder, self.public = folder, public

    @property
    def checkpoint(self) -> Path:
        """The file that says how far the stream is."""
        return self.folder / CHECKPOINT

    def load(self) -> bytes | None:
        """The last checkpoint, or None before the first."""
        try:
            return read_whole(self.checkpoint, follow=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BundleError(f"{self.checkpoint} cannot be read: {error.strerror or error}") from error

    def save(self, state: StreamState) -> None:
        """Put a checkpoint in the place of the one before, and say how many records are acknowledged."""
        with self._writing():
            _durable(self.checkpoint, state.dumped())
            told = {"stream": state.progress.stream, "acknowledged": state.progress.records}
            _durable(self.folder / ACKNOWLEDGED, (json.dumps(told) + "\n").encode())

    def publish(self, state: StreamState, write: Callable[[Path], str]) -> None:
        """Publish the next batch: ``write`` fills an empty folder and gives the seal of its manifest."""
        staged, progress = self.folder / STAGED, state.progress
        with self._writing():
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir()
            progress.seal = write(staged)
            staged.chmod(0o755)
            for path in sorted(staged.iterdir()):
                sync(path)
            sync(staged)
        progress.batches += 1
        self.save(state)
        self.complete(progress)

    def complete(self, progress: Progress) -> None:
        """Make up for what a killed process did not do any more, or throw away what it had not published yet."""
        staged, place = self.folder / STAGED, self.public / batch_name(progress.batches)
        with self._writing():
            if progress.batches and not place.exists():
                if _seal(staged) != progress.seal:
                    raise BundleError(
                        f"{place} was published and is not there any more; put it back from a copy: the batches after "
                        "it name it, and it cannot be drawn again"
                    )
                os.rename(staged, place)
                sync(self.public)
                sync(self.folder)
            elif progress.batches and _seal(place) != progress.seal:
                raise BundleError(f"{place} is not the batch that was published there; put that one back from a copy")
            shutil.rmtree(staged, ignore_errors=True)
            after = self.public / batch_name(progress.batches + 1)
            if after.exists():
                raise BundleError(
                    f"{after} exists already, and {self.folder} does not know it: another stream was published here, "
                    "or the state is an old copy; name another folder with -o, or restore the state"
                )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BundleError(
                f"{self.folder} or {self.public} cannot be written: {error.strerror or error}; what was acknowledged "
                "is kept, and the stream goes on from there"
            ) from error


@contextmanager
def opened_state(folder: Path, public: Path) -> Iterator[StateFolder]:
    """The state of a stream, for one process at a time; both folders are made where they are not there."""
    try:
        public.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for made in (public, folder):
            sync(made.parent)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise BundleError(
            f"{folder} or {public} cannot be written: {error.strerror}; name folders that can be"
        ) from error
    try:
        if sys.platform != "win32":
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BundleError(f"{folder} is used by another process: a stream has one at a time") from None
        if folder.stat().st_dev != public.stat().st_dev:
            raise BundleError(
                f"{folder} and {public} lie on different disks, and a batch must be moved in one step; set "
                "stream.state to a folder beside the output"
            )
        yield StateFolder(folder, public)
    finally:
        os.close(lock)


def _durable(path: Path, data: bytes) -> None:
    """A file with these bytes, readable by its owner: all of it or what was there before, also after a power cut."""
    new = path.with_name(path.name + ".new")
    with suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync(path.parent)


def _seal(folder: Path) -> str | None:
    """The seal of the manifest in a folder, or None where there is no whole one."""
    if not (folder / MANIFEST).is_file():
        return None
    try:
        return str(sealed_manifest(folder)["sha256"])
    except (OSError, ValueError):
        return None
