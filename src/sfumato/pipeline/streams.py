"""A stream from its source to its published batches: run, stopped, continued."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.signatures import Signer
from sfumato.core.errors import BundleError, DataError, Infeasible
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work, unstopped
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.stream_batches import (
    checked,
    lasting,
    made_batch,
    most_anchors,
    refuse_other_plan,
    stream_of,
    wanted,
    write_batch,
)
from sfumato.streaming.condenser import DrawnBatch, StreamCondenser
from sfumato.streaming.lines import NO_DIGEST, LineBuffer, Lines, chained
from sfumato.streaming.records import Reading
from sfumato.streaming.sources import GrowingFile, Source, StandardInput
from sfumato.streaming.state import CHECKPOINT, Progress, StateFolder, StreamState, opened_state

# What a stream keeps and what it publishes: blocks come in, checkpoints and batches go out.


class StreamKeeper:
    """The state of a stream in memory and in its folder."""

    def __init__(self, plan: Plan, folder: StateFolder, *, source: str, signer: Signer | None, work: Work) -> None:
        self.plan, self.folder, self.signer, self.work = plan, folder, signer, work
        self.condense, self.stream = checked(plan), stream_of(plan)
        self.state = self._begun(source)
        self._saved = self.state.progress.records
        self._changing = False
        folder.complete(self.state.progress)

    @property
    def progress(self) -> Progress:
        """How far the stream is."""
        return self.state.progress

    @property
    def k(self) -> int:
        """The fewest records of a group."""
        return self.condense.k

    @property
    def waiting(self) -> int:
        """Records that wait for a later batch."""
        return 0 if self.state.condenser is None else self.state.condenser.waiting

    def _begun(self, source: str) -> StreamState:
        """The last checkpoint, or a new stream."""
        data, place = self.folder.load(), self.folder.folder / CHECKPOINT
        if data is None:
            name = Chance(seed=self.plan.algorithm.seed).generator().bytes(16).hex()
            return StreamState(plan=lasting(self.plan), progress=Progress(stream=name, source=source))
        state = StreamState.loaded(data, where=str(place), condense=self.condense)
        refuse_other_plan(state.plan, self.plan, self.folder.public)
        if state.progress.source != source:
            raise BundleError(f"this stream comes from {state.progress.source}, not from {source}; go on as it began")
        if not state.add_up():
            raise BundleError(f"{place}: its counts do not add up; restore it from a copy, or begin anew")
        return state

    def take(self, reading: Reading, frame: pl.DataFrame, data: bytes) -> None:
        """One block: its records go into groups, and it counts as read."""
        with self._change():
            if self.state.condenser is None:
                self.state.reading = reading
                self.state.condenser = StreamCondenser(
                    condense=self.condense,
                    columns=[column.name for column in reading.drawn],
                    worded=list(reading.worded),
                    most=most_anchors(self.plan, self.condense),
                    seed=self.plan.algorithm.seed,
                )
            records, dropped = reading.records(frame)
            self.state.condenser.take(records)
            progress = self.progress
            progress.records, progress.dropped, progress.offset = (
                progress.records + frame.height,
                progress.dropped + dropped,
                progress.offset + len(data),
            )
            progress.digest = chained(progress.digest, data)

    def due(self, tail: str) -> None:
        """Publish a batch or make a checkpoint, if it is time for one."""
        self.progress.tail = tail
        if self.progress.records % self.stream.batch == 0:
            self.publish()
        elif self.progress.records % self.stream.kept_every == 0:
            self.save(tail)

    def save(self, tail: str) -> None:
        """A checkpoint, unless nothing came since the last; never one of a state that is half changed."""
        self.progress.tail = tail
        if self._saved != self.progress.records and not self._changing:
            with unstopped():
                self.folder.save(self.state)
            self._saved = self.progress.records

    def publish(self) -> None:
        """Draw from the groups that are full, and publish the batch; where none is full, all of them wait."""
        if self.state.condenser is not None:
            with self._change():
                self._out(self.state.condenser.harvest())

    def finish(self, tail: str) -> None:
        """The end: join what waits, publish it, and forget what cannot have k records."""
        progress, kept = self.progress, self.state.condenser
        progress.tail = tail
        with self._change():
            drawn = None if kept is None else kept.finish()
            if drawn is None or (not drawn.sizes and not progress.batches):
                raise Infeasible(
                    f"the stream ends with {progress.records - progress.dropped:,} records, and no group of {self.k} "
                    "can be "
                    "made; nothing was published, and nothing is lost: let more come, or ask for a smaller k"
                )
            progress.withheld, progress.finished = 0 if kept is None else kept.forget(), True
            self._out(drawn)

    def _out(self, drawn: DrawnBatch) -> None:
        """Publish what was drawn, together with the checkpoint that counts it."""
        progress, kept, reading = self.progress, self.state.condenser, self.state.reading
        if not drawn.sizes or kept is None or reading is None:
            self.folder.save(self.state)
            self._saved = progress.records
            return
        place = {
            "id": progress.stream, "batch": progress.batches + 1, "before": progress.seal, "every": self.stream.batch,
            "read": progress.records, "block": self.stream.block, "last": progress.finished,
        }  # fmt: skip
        batch = made_batch(
            self.plan,
            reading,
            drawn,
            dropped=progress.dropped - progress.dropped_before,
            place=place,
            chance=kept.order(),
        )
        progress.published += sum(size * many for size, many in drawn.sizes)
        progress.dropped_before = progress.dropped

        def write(folder: Path) -> str:
            return write_batch(batch, folder, self.signer, self.work)

        self.folder.publish(self.state, write)
        self._saved = progress.records

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Whoever asks to stop is heard afterwards; after a fault inside, nothing is saved any more."""
        with unstopped():
            self._changing = True
            yield
            self._changing = False


# A stream from its source to its batches: read, group, publish, and go on after whatever stopped it.


_PAUSE = 0.2
"""Seconds between two looks at a file that grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How far a stream is."""

    progress: dict[str, Any]
    """What was read and published."""
    waiting: int
    """Records that wait for a later batch."""
    groups: int
    """In how many groups."""
    unread: int = 0
    """Lines that are there and make up no block yet: they are read next time."""

    @classmethod
    def of(cls, state: StreamState, unread: int = 0) -> Told:
        """What a state says."""
        kept = state.condenser
        waiting, groups = (0, 0) if kept is None else (kept.waiting, kept.waiting_groups)
        return cls(progress=asdict(state.progress), waiting=waiting, groups=groups, unread=unread)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        named = ("stream", "source", "records", "dropped", "published", "withheld", "batches", "finished")
        figures = {key: self.progress[key] for key in named}
        more = {"waiting": self.waiting, "waiting_groups": self.groups, "unread": self.unread}
        return {**figures, "acknowledged": self.progress["records"], **more}


class StreamRun:
    """One process that reads a stream."""

    def __init__(self, keeper: StreamKeeper, source: Source) -> None:
        self.keeper, self.source = keeper, source
        self.plan, self.stream = keeper.plan, keeper.stream
        self.buffer, self.header = LineBuffer(), b""

    def run(self, *, follow: bool, finish: bool, after: int = 0) -> Told:
        """Read what there is, or whatever comes; at the end, if it is one, publish what can be published."""
        try:
            self._go_on(after, follow=follow)
            if self.keeper.progress.finished:
                return self._ended()
            while self._step() or self._fill(follow=follow):
                pass
            if finish:
                self.keeper.save(self._tail())  # if nothing can be published, whole blocks are kept all the same
                self.buffer.close()
                while self._step(rest=True):
                    pass
                self.keeper.finish(self._tail())
        except KeyboardInterrupt:
            if self.keeper.progress.records % self.stream.block == 0:  # else it was about to end, and is not counted
                self.keeper.save(self._tail())
            raise
        self.keeper.save(self._tail())
        return Told.of(self.keeper.state, self.buffer.lines)

    def _ended(self) -> Told:
        """Nothing more can be read of a stream that has ended; lines that came later are refused."""
        if self._fill(follow=False) and self.buffer.lines:
            raise DataError(
                f"{self.source.where}: this stream has ended after {self.keeper.progress.records:,} records, and there "
                "are lines after them; begin a new stream with another -o. Nothing was read"
            )
        return Told.of(self.keeper.state)

    def _go_on(self, after: int, *, follow: bool) -> None:
        """Read the header, and go to the first record that was not read before."""
        progress = self.keeper.progress
        if self.plan.input.header:
            while not self.buffer.lines and self._fill(follow=follow):
                pass
            if not self.buffer.lines:
                raise DataError(f"{self.source.where}: no header came; the first line names the columns")
            self.header = self.buffer.take(1).data
            self._same_header()
        if self.source.seek(progress, len(self.header)):
            self.buffer = LineBuffer()
            progress.offset = max(progress.offset, len(self.header))
        elif after == 0:
            self._skip()
        elif after != progress.records:
            raise DataError(
                f"standard input is said to begin after record {after:,}, and {progress.records:,} records are "
                f"acknowledged: begin with record {progress.records + 1:,} (--after {progress.records}), or send "
                "everything "
                "again without --after. Nothing was read"
            )

    def _same_header(self) -> None:
        """Refuse another header than the stream began with."""
        progress, reading = self.keeper.progress, self.keeper.state.reading
        digest = hashlib.sha256(self.header.rstrip(b"\r\n")).hexdigest()
        if reading is not None and digest != progress.header:
            header_text = self.header.decode(errors="replace").strip()
            raise DataError(
                f"{self.source.where}: the header is {header_text[:200]!r}, and the stream began with "
                f"{reading.delimiter.join(reading.names)[:200]!r}; put it back, or begin a new stream with another -o. "
                "Nothing was read, and nothing is lost"
            )
        progress.header = digest

    def _skip(self) -> None:
        """Pass over records that were sent before; they must be the same."""
        progress, digest = self.keeper.progress, NO_DIGEST
        for start in range(0, progress.records, self.stream.block):
            many = min(self.stream.block, progress.records - start)
            while self.buffer.lines < many:
                more = self.source.more()
                if not more:
                    raise DataError(
                        f"standard input ended before record {progress.records:,}, and so many are acknowledged; "
                        "send them "
                        f"all again, or go on after them with --after {progress.records}. Nothing was read"
                    )
                self.buffer.put(more)
            digest = chained(digest, self.buffer.take(many).data)
        if digest != progress.digest:
            raise DataError(
                f"standard input: the first {progress.records:,} records are not those that were acknowledged; send "
                "the "
                f"same again, go on after them with --after {progress.records}, or begin a new stream with another -o. "
                "Nothing was read"
            )

    def _fill(self, *, follow: bool) -> bool:
        """Whether there is more to read, now or, for one who follows, ever."""
        more = self.source.more()
        if more:
            self.buffer.put(more)
            return True
        self.source.look()
        if more is None or not follow:
            return False
        self.keeper.save(self._tail())
        time.sleep(_PAUSE)
        return True

    def _step(self, *, rest: bool = False) -> bool:
        """Take whole blocks up to the next checkpoint or batch, or the rest; False where there is none."""
        block, records = self.stream.block, self.keeper.progress.records
        many = min(
            self.buffer.lines // block * block,
            self.stream.batch - records % self.stream.batch,
            self.stream.kept_every - records % self.stream.kept_every,
        )
        if not many and rest:
            many = self.buffer.lines
        if not many:
            return False
        self._take(self.buffer.take(many))
        offset = self.keeper.progress.offset
        self.keeper.work.advance("read", offset, max(self.source.size, offset + 1))
        return True

    def _take(self, lines: Lines) -> None:
        """Group the records of some lines block by block; a line that is no record ends the run, all before is kept."""
        block, keeper, fault = self.stream.block, self.keeper, None
        reading = keeper.state.reading
        if reading is None:
            first = Lines(data=lines.part(0, min(block, lines.count)), ends=lines.ends[:block])
            reading, fault = wanted(self.plan, keeper.condense).look(self.header, first, where=self.source.where)
        frame, read_error = reading.read(lines)
        fault = min(
            (error for error in (fault, read_error) if error is not None), key=lambda error: error.row, default=None
        )
        good, start = lines.count if fault is None else fault.row, keeper.progress.records
        for begin in range(0, lines.count, block):
            end = min(begin + block, lines.count)
            if end > good:
                break
            keeper.take(reading, frame.slice(begin, end - begin), lines.part(begin, end))
        if fault is not None:
            keeper.save(self._tail())
            self._refuse(reading, start + fault.row + 1, fault.told)
        keeper.due(self._tail())

    def _refuse(self, reading: Reading, record: int, message: str) -> None:
        line = record + (1 if self.plan.input.header else 0)
        kept = self.keeper.progress.records
        raise DataError(
            f"{self.source.where}, line {line:,} (record {record:,}): {message}. The {kept:,} records up to the last "
            "whole block before it are kept; those after them are read again"
        )

    def _tail(self) -> str:
        return self.source.tail(self.keeper.progress.offset)


# Streams by their plan and their folder: run one, or look how far it is.


def state_of(plan: Plan, output: Path) -> Path:
    """The private folder of a stream."""
    named = stream_of(plan).state
    return output.with_name(f"{output.name}.state") if named is None else plan.folder / named


def run_stream(
    plan: Plan,
    path: Path | None,
    output: Path,
    *,
    follow: bool = False,
    finish: bool = False,
    after: int = 0,
    sign: Path | None = None,
    work: Work | None = None,
) -> Told:
    """Read a stream from a file, or from standard input where none is named, and publish its batches in ``output``."""
    checked(plan)
    folder, signer = state_of(plan, output), None if sign is None else Signer.load(sign)
    if folder.resolve() == output.resolve() or output.resolve() in folder.resolve().parents:
        raise BundleError(f"the state {folder} must not lie inside {output}, which is published; set stream.state")
    source = StandardInput() if path is None else GrowingFile(path)
    kind = "standard input" if path is None else "a file"
    try:
        with opened_state(folder, output) as state:
            keeper = StreamKeeper(plan, state, source=kind, signer=signer, work=work or Work())
            return StreamRun(keeper, source).run(follow=follow, finish=finish, after=after)
    finally:
        source.close()


def stream_status(plan: Plan, output: Path) -> Told:
    """How far a stream is, by its last checkpoint; whoever runs it is not disturbed."""
    folder = state_of(plan, output)
    data = StateFolder(folder, output).load()
    if data is None:
        raise BundleError(f"{folder} has no checkpoint: no stream of this plan has begun with -o {output}")
    return Told.of(StreamState.loaded(data, where=str(folder / CHECKPOINT), condense=checked(plan)))
