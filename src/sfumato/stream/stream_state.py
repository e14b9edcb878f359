"""All that a stream needs to go on after whatever happened, as one sealed text of bytes.

It holds no record: moments and words of groups that wait, how lines are read, how far they were read, and which batch
was the last. It is private, for moments of fewer than k records stand in it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.ground.brief import Brief
from sfumato.ground.errors import BundleError
from sfumato.publish.condensation.condense import Condense
from sfumato.publish.condensation.moments import Moments
from sfumato.stream.condenser import Kept, StreamCondenser
from sfumato.stream.group_pool import GroupPool
from sfumato.stream.line_blocks import NO_DIGEST
from sfumato.stream.record_cells import Reading
from sfumato.stream.waiting_words import WaitingWords

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
        told: dict[str, Any] = {"form": _FORM, "plan": self.plan, "progress": asdict(self.progress)}
        if self.reading is not None and self.condenser is not None:
            self.condenser.settle()
            told["reading"] = self.reading.to_json()
            told["condenser"] = _condenser_told(self.condenser, arrays)
        made = io.BytesIO()
        np.savez(made, **arrays, allow_pickle=False)
        body = json.dumps(told).encode() + b"\n" + made.getvalue()
        return hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    @classmethod
    def loaded(cls, data: bytes, *, where: str, condense: Condense | None = None) -> StreamState:
        """From bytes that were not changed; ``condense`` has the options, and without it groups are not looked at."""
        seal, _, body = data.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != seal:
            raise BundleError(f"{where} is damaged: its digest is another; restore it from a copy, or begin anew")
        head, _, rest = body.partition(b"\n")
        told = json.loads(head)
        if told["form"] != _FORM:
            raise BundleError(f"{where} was written by another version of sfumato; go on with that version")
        state = cls(plan=told["plan"], progress=Progress(**told["progress"]))
        if "reading" in told:
            state.reading = Reading.from_json(told["reading"])
        if "condenser" in told and condense is not None:
            with np.load(io.BytesIO(rest), allow_pickle=False) as arrays:
                state.condenser = _condenser_read(told["condenser"], arrays, condense)
        return state

    def add_up(self) -> bool:
        """Whether every record that was read is in one place: left out, published, waiting or withheld."""
        waiting = 0 if self.condenser is None else self.condenser.waiting
        one = self.progress
        return one.records == one.dropped + one.published + waiting + one.withheld


def _condenser_told(condenser: StreamCondenser, arrays: dict[str, Any]) -> dict[str, Any]:
    """What of the groups is no array; the arrays are put beside it."""
    for name in ("shift", "scale"):
        if getattr(condenser, name) is not None:
            arrays[name] = getattr(condenser, name)
    if condenser.published is not None:
        _put_moments(arrays, "published", condenser.published)
    for place, one in enumerate(condenser.kept.values()):
        _put_moments(arrays, f"{place}", one.pool.moments)
        arrays[f"{place}.anchors"], arrays[f"{place}.fed"] = one.pool.anchors, one.pool.fed
        for column, words in enumerate(one.words.values()):
            made = io.BytesIO()
            pl.DataFrame({"owner": words.owners, "word": words.words}).write_ipc(made)
            arrays[f"{place}.words.{column}"] = np.frombuffer(made.getvalue(), np.uint8)
    return {
        "columns": list(condenser.columns),
        "worded": list(condenser.worded),
        "most": condenser.most,
        "seed": condenser.seed,
        "blocks": condenser.blocks,
        "harvests": condenser.harvests,
        "classes": list(condenser.kept),
    }


def _condenser_read(told: Mapping[str, Any], arrays: Mapping[str, Any], condense: Condense) -> StreamCondenser:
    found = StreamCondenser(
        condense=condense,
        **{name: told[name] for name in ("columns", "worded", "most", "seed", "blocks", "harvests")},
        shift=arrays.get("shift"),
        scale=arrays.get("scale"),
        published=_moments(arrays, "published") if "published.count" in arrays else None,
    )
    for place, label in enumerate(told["classes"]):
        pool = GroupPool(
            k=condense.k,
            moments=_moments(arrays, f"{place}"),
            anchors=arrays[f"{place}.anchors"],
            fed=arrays[f"{place}.fed"],
        )
        words = {}
        for column, name in enumerate(told["worded"]):
            frame = pl.read_ipc(arrays[f"{place}.words.{column}"].tobytes())
            words[name] = WaitingWords(
                owners=frame["owner"].to_numpy().astype(np.int64), words=frame["word"].alias(name)
            )
        found.kept[label] = Kept(pool=pool, words=words)
    return found


def _put_moments(arrays: dict[str, Any], name: str, moments: Moments) -> None:
    for part in ("count", "sums", "products"):
        arrays[f"{name}.{part}"] = getattr(moments, part)


def _moments(arrays: Mapping[str, Any], name: str) -> Moments:
    return Moments(**{part: arrays[f"{name}.{part}"] for part in ("count", "sums", "products")})
