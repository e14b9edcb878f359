"""A stream from its source to its batches: read, group, publish, and go on after whatever stopped it."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.ground.errors import DataError
from sfumato.stream.line_blocks import NO_DIGEST, LineBuffer, Lines, chained
from sfumato.stream.record_cells import Reading
from sfumato.stream.stream_sources import Source
from sfumato.stream.stream_state import StreamState
from sfumato.workflow.streaming.stream_asked import wanted
from sfumato.workflow.streaming.stream_keeping import StreamKeeper

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
        shown = {key: self.progress[key] for key in named}
        more = {"waiting": self.waiting, "waiting_groups": self.groups, "unread": self.unread}
        return {**shown, "acknowledged": self.progress["records"], **more}


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
        one = self.keeper.progress
        if self.plan.input.header:
            while not self.buffer.lines and self._fill(follow=follow):
                pass
            if not self.buffer.lines:
                raise DataError(f"{self.source.where}: no header came; the first line names the columns")
            self.header = self.buffer.take(1).data
            self._same_header()
        if self.source.seek(one, len(self.header)):
            self.buffer = LineBuffer()
            one.offset = max(one.offset, len(self.header))
        elif after == 0:
            self._skip()
        elif after != one.records:
            raise DataError(
                f"standard input is said to begin after record {after:,}, and {one.records:,} records are "
                f"acknowledged: begin with record {one.records + 1:,} (--after {one.records}), or send everything "
                "again without --after. Nothing was read"
            )

    def _same_header(self) -> None:
        """Refuse another header than the stream began with."""
        one, reading = self.keeper.progress, self.keeper.state.reading
        digest = hashlib.sha256(self.header.rstrip(b"\r\n")).hexdigest()
        if reading is not None and digest != one.header:
            found = self.header.decode(errors="replace").strip()
            raise DataError(
                f"{self.source.where}: the header is {found[:200]!r}, and the stream began with "
                f"{reading.delimiter.join(reading.names)[:200]!r}; put it back, or begin a new stream with another -o. "
                "Nothing was read, and nothing is lost"
            )
        one.header = digest

    def _skip(self) -> None:
        """Pass over records that were sent before; they must be the same."""
        one, digest = self.keeper.progress, NO_DIGEST
        for start in range(0, one.records, self.stream.block):
            many = min(self.stream.block, one.records - start)
            while self.buffer.lines < many:
                more = self.source.more()
                if not more:
                    raise DataError(
                        f"standard input ended before record {one.records:,}, and so many are acknowledged; send them "
                        f"all again, or go on after them with --after {one.records}. Nothing was read"
                    )
                self.buffer.put(more)
            digest = chained(digest, self.buffer.take(many).data)
        if digest != one.digest:
            raise DataError(
                f"standard input: the first {one.records:,} records are not those that were acknowledged; send the "
                f"same again, go on after them with --after {one.records}, or begin a new stream with another -o. "
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
        frame, found = reading.read(lines)
        fault = min((one for one in (fault, found) if one is not None), key=lambda one: one.row, default=None)
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

    def _refuse(self, reading: Reading, record: int, told: str) -> None:
        line = record + (1 if self.plan.input.header else 0)
        kept = self.keeper.progress.records
        raise DataError(
            f"{self.source.where}, line {line:,} (record {record:,}): {told}. The {kept:,} records up to the last "
            "whole block before it are kept; those after them are read again"
        )

    def _tail(self) -> str:
        return self.source.tail(self.keeper.progress.offset)
