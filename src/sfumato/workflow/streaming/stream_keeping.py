"""What a stream keeps and what it publishes: blocks come in, checkpoints and batches go out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from sfumato.bundle.signatures import Signer
from sfumato.ground.chance import Chance
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BundleError, Infeasible
from sfumato.ground.work import Work
from sfumato.stream.condenser import DrawnBatch, StreamCondenser
from sfumato.stream.line_blocks import chained
from sfumato.stream.record_cells import Reading
from sfumato.stream.state_folder import CHECKPOINT, StateFolder
from sfumato.stream.stream_state import Progress, StreamState
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.streaming.stream_asked import checked, lasting, most_anchors, refuse_other_plan, stream_of
from sfumato.workflow.streaming.stream_batch import made_batch, write_batch


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
                    columns=[one.name for one in reading.drawn],
                    worded=list(reading.worded),
                    most=most_anchors(self.plan, self.condense),
                    seed=self.plan.algorithm.seed,
                )
            records, dropped = reading.records(frame)
            self.state.condenser.take(records)
            one = self.progress
            one.records, one.dropped, one.offset = (
                one.records + frame.height,
                one.dropped + dropped,
                one.offset + len(data),
            )
            one.digest = chained(one.digest, data)

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
        one, kept = self.progress, self.state.condenser
        one.tail = tail
        with self._change():
            drawn = None if kept is None else kept.finish()
            if drawn is None or (not drawn.sizes and not one.batches):
                raise Infeasible(
                    f"the stream ends with {one.records - one.dropped:,} records, and no group of {self.k} can be "
                    "made; nothing was published, and nothing is lost: let more come, or ask for a smaller k"
                )
            one.withheld, one.finished = 0 if kept is None else kept.forget(), True
            self._out(drawn)

    def _out(self, drawn: DrawnBatch) -> None:
        """Publish what was drawn, together with the checkpoint that counts it."""
        one, kept, reading = self.progress, self.state.condenser, self.state.reading
        if not drawn.sizes or kept is None or reading is None:
            self.folder.save(self.state)
            self._saved = one.records
            return
        place = {
            "id": one.stream, "batch": one.batches + 1, "before": one.seal, "every": self.stream.batch,
            "read": one.records, "block": self.stream.block, "last": one.finished,
        }  # fmt: skip
        made = made_batch(
            self.plan, reading, drawn, dropped=one.dropped - one.dropped_before, place=place, chance=kept.order()
        )
        one.published += sum(size * many for size, many in drawn.sizes)
        one.dropped_before = one.dropped

        def write(folder: Path) -> str:
            return write_batch(made, folder, self.signer, self.work)

        self.folder.publish(self.state, write)
        self._saved = one.records

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Whoever asks to stop is heard afterwards; after a fault inside, nothing is saved any more."""
        with unstopped():
            self._changing = True
            yield
            self._changing = False
