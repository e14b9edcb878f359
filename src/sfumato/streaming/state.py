"""The sealed state of a stream, and the private folder with its checkpoints and batches."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.algorithms.condensation import Condense, Moments
from sfumato.bundles.files import MANIFEST, sealed_manifest
from sfumato.core.errors import BundleError
from sfumato.core.input_files import read_whole
from sfumato.core.scratch import sync
from sfumato.core.short_repr import Brief
from sfumato.streaming.condenser import Kept, StreamCondenser
from sfumato.streaming.groups import GroupPool, WaitingWords
from sfumato.streaming.lines import NO_DIGEST
from sfumato.streaming.records import Reading

# All that a stream needs to go on after whatever happened, as one sealed text of bytes.
#
# It holds no record: moments and words of groups that wait, how lines are read, how far they were read, and which
# batch was the last. It is private, for moments of fewer than k records stand in it.


_FORM = 1
TAIL = 4096
"""So many bytes before the place that was reached tell whether a file is still the same."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far a stream is; every number is about all of it."""

    stream: str
    """What the stream is called, in every batch."""
    source: str
    """``file`` or ``standard input``."""
    header: str = ""
    """The digest of the header line."""
    records: int = 0
    """Records that were read: this many are acknowledged."""
    offset: int = 0
    """The byte of a file where the next record begins."""
    tail: str = ""
    """The digest of the last bytes before it."""
    digest: str = NO_DIGEST
    """The digest of all blocks."""
    dropped: int = 0
    """Records that were left out because of missing values."""
    dropped_before: int = 0
    """How many of them when the last batch was published."""
    published: int = 0
    """Records that were published."""
    withheld: int = 0
    """Records that were never published, because fewer than k were left at the end."""
    batches: int = 0
    """Batches that were published."""
    seal: str | None = None
    """The seal of the last one's manifest."""
    finished: bool = False
    """Whether the stream ended."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class StreamState(Brief):
    """A stream between two blocks."""

    plan: Mapping[str, Any]
    """What the plan says that cannot change while the stream runs."""
    progress: Progress
    """How far it is."""
    reading: Reading | None = None
    """How lines are read; None before the first block."""
    condenser: StreamCondenser | None = None
    """The groups; None before the first block."""

    def dumped(self) -> bytes:
        """The state as bytes, with their digest in front."""
        arrays: dict[str, Any] = {}
        header: dict[str, Any] = {"form": _FORM, "plan": self.plan, "progress": asdict(self.progress)}
        if self.reading is not None and self.condenser is not None:
            self.condenser.settle()
            header["reading"] = self.reading.to_json()
            header["condenser"] = _condenser_told(self.condenser, arrays)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays, allow_pickle=False)
        body = json.dumps(header).encode() + b"\n" + buffer.getvalue()
        return hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    @classmethod
    def loaded(cls, data: bytes, *, where: str, condense: Condense | None = None) -> StreamState:
        """From bytes that were not changed; ``condense`` has the options, and without it groups are not looked at."""
        seal, _, body = data.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != seal:
            raise BundleError(f"{where} is damaged: its digest is another; restore it from a copy, or begin anew")
        head, _, rest = body.partition(b"\n")
        header = json.loads(head)
        if header["form"] != _FORM:
            raise BundleError(f"{where} was written by another version of sfumato; go on with that version")
        state = cls(plan=header["plan"], progress=Progress(**header["progress"]))
        if "reading" in header:
            state.reading = Reading.from_json(header["reading"])
        if "condenser" in header and condense is not None:
            with np.load(io.BytesIO(rest), allow_pickle=False) as arrays:
                state.condenser = _condenser_read(header["condenser"], arrays, condense)
        return state

    def add_up(self) -> bool:
        """Whether every record that was read is in one place: left out, published, waiting or withheld."""
        waiting = 0 if self.condenser is None else self.condenser.waiting
        progress = self.progress
        return progress.records == progress.dropped + progress.published + waiting + progress.withheld


def _condenser_told(condenser: StreamCondenser, arrays: dict[str, Any]) -> dict[str, Any]:
    """What of the groups is no array; the arrays are put beside it."""
    for name in ("shift", "scale"):
        if getattr(condenser, name) is not None:
            arrays[name] = getattr(condenser, name)
    if condenser.published is not None:
        _put_moments(arrays, "published", condenser.published)
    for place, class_state in enumerate(condenser.kept.values()):
        _put_moments(arrays, f"{place}", class_state.pool.moments)
        arrays[f"{place}.anchors"], arrays[f"{place}.fed"] = class_state.pool.anchors, class_state.pool.fed
        for column, words in enumerate(class_state.words.values()):
            buffer = io.BytesIO()
            pl.DataFrame({"owner": words.owners, "word": words.words}).write_ipc(buffer)
            arrays[f"{place}.words.{column}"] = np.frombuffer(buffer.getvalue(), np.uint8)
    return {
        "columns": list(condenser.columns),
        "worded": list(condenser.worded),
        "most": condenser.most,
        "seed": condenser.seed,
        "blocks": condenser.blocks,
        "harvests": condenser.harvests,
        "classes": list(condenser.kept),
    }


def _condenser_read(document: Mapping[str, Any], arrays: Mapping[str, Any], condense: Condense) -> StreamCondenser:
    condenser = StreamCondenser(
        condense=condense,
        **{name: document[name] for name in ("columns", "worded", "most", "seed", "blocks", "harvests")},
        shift=arrays.get("shift"),
        scale=arrays.get("scale"),
        published=_moments(arrays, "published") if "published.count" in arrays else None,
    )
    for place, label in enumerate(document["classes"]):
        pool = GroupPool(
            k=condense.k,
            moments=_moments(arrays, f"{place}"),
            anchors=arrays[f"{place}.anchors"],
            fed=arrays[f"{place}.fed"],
        )
        words = {}
        for column, name in enumerate(document["worded"]):
            frame = pl.read_ipc(arrays[f"{place}.words.{column}"].tobytes())
            words[name] = WaitingWords(
                owners=frame["owner"].to_numpy().astype(np.int64), words=frame["word"].alias(name)
            )
        condenser.kept[label] = Kept(pool=pool, words=words)
    return condenser


def _put_moments(arrays: dict[str, Any], name: str, moments: Moments) -> None:
    for part in ("count", "sums", "products"):
        arrays[f"{name}.{part}"] = getattr(moments, part)


def _moments(arrays: Mapping[str, Any], name: str) -> Moments:
    return Moments(**{part: arrays[f"{name}.{part}"] for part in ("count", "sums", "products")})


# The private folder of a stream: checkpoints that are whole or not there, and batches that are published once.
#
# A batch goes out in three steps. It is written whole into ``staged``. A checkpoint that counts it is put in the place
# of the one before, by a rename; from then on it is published. Then ``staged`` is renamed to the batch's public place.
# Who is killed before the second step finds the old checkpoint, and what is staged is thrown away; who is killed after
# it finds the new one, and the third step is made up for. So no batch is published twice, and none differently.


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
            document = {"stream": state.progress.stream, "acknowledged": state.progress.records}
            _durable(self.folder / ACKNOWLEDGED, (json.dumps(document) + "\n").encode())

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
        for directory in (public, folder):
            sync(directory.parent)
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
