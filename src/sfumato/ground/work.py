"""Progress and limits of long work. Searches report here; nobody prints.

A limit is seconds of processor time of this process, from where the work began: a search on a busy machine finds what
it finds on an idle one. Whoever asks whether the time is over, and hears that it is, has been cut short; ``cut`` keeps
that, and ``told`` says it in the words that every release uses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Protocol

from sfumato.ground.chance import Chance
from sfumato.ground.errors import Interrupted, OutOfTime

BY_TIME = "by the time limit"
"""How a search says that it was cut short, as what ``stopped`` it."""

Effort = dict[str, int | float | str]


class Progress(Protocol):
    """Somebody who wants to know how far the work is."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """``done`` of about ``total`` steps of ``stage`` are over."""


def unheard(note: str) -> None:
    """Nobody listens."""


class Quiet:
    """Nobody is watching."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Say nothing."""


@dataclass(slots=True, kw_only=True)
class Work:
    """What work may spend, whom it tells, and who can stop it."""

    progress: Progress = field(default_factory=Quiet)
    """Who is told."""
    seconds: float | None = None
    """The time limit in seconds of processor time, or None."""
    chance: Chance = field(default_factory=Chance)
    """Where an algorithm that draws takes its randomness from."""
    cancelled: Event = field(default_factory=Event)
    """Set by whoever wants the work to stop, from any thread."""
    notice: Callable[[str], None] = unheard
    """Who hears, before the search begins, what a steward should know about the table."""
    cut: bool = False
    """Whether somebody was told that the time is over."""
    hard: bool = False
    """Whether the limit ends work that has no result before its end, wherever it reports next."""
    _told: float = 0.0
    _began: float = field(default_factory=time.process_time)
    _since: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        """Whether the watcher has not heard anything for a tenth of a second."""
        return time.monotonic() - self._told >= 0.1

    def advance(self, stage: str, done: int, total: int) -> None:
        """Tell the watcher, at most ten times a second and at both ends; stop here if somebody wants it."""
        if self.cancelled.is_set():
            raise Interrupted("stopped on request; nothing was left half-written")
        if self.hard and self.expired:
            raise OutOfTime(f"it was not done after {self.seconds:.3g} s of processor time")
        if not 0 < done < total or self.due:
            self._told = time.monotonic()
            self.progress.advance(stage, done, total)

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed; who hears yes stops, and the work counts as cut short."""
        if self.seconds is None or time.process_time() - self._began <= self.seconds:
            return False
        self.cut = True
        return True

    @property
    def late(self) -> bool:
        """Whether the time limit has passed by the clock on the wall: for work that other processes do."""
        return self.seconds is not None and time.monotonic() - self._since > self.seconds

    def told(self, effort: Mapping[str, int | float | str]) -> Effort:
        """What a search did, and that the time limit stopped it where it did."""
        return {**effort, "stopped": BY_TIME} if self.cut else dict(effort)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A stage that is done in one go."""
        self.advance(name, 0, 1)
        yield
        self.advance(name, 1, 1)

    def within(self, seconds: float | None, *, hard: bool = False) -> Work:
        """The same work with a limit of its own, from now on; the limit of the whole is kept too."""
        now = time.process_time()
        left = None if self.seconds is None else max(self.seconds - (now - self._began), 0.0)
        limits = [limit for limit in (seconds, left) if limit is not None]
        return replace(
            self, seconds=min(limits, default=None), cut=False, hard=hard, _began=now, _since=time.monotonic()
        )

    def untimed(self) -> Work:
        """The same work without a limit, for what must be done whatever it takes."""
        return replace(self, seconds=None, cut=False, hard=False)
