"""Progress, limits and cancellation of long work, and how stop signals reach it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from types import FrameType
from typing import Protocol, TypeVar

from sfumato.core.errors import Interrupted, OutOfTime
from sfumato.core.randomness import Chance

# Progress and limits of long work. Searches report here; nobody prints.
#
# Work that decides which rows are released is limited by steps, not by a clock: the same plan and seed end at the same
# point on every machine. A step is about as much work as to group one value; ``allowing`` turns seconds into steps at
# a fixed pace. Other work, such as attacks, has a limit in seconds of processor time of this process. A search that
# asks whether its limit is reached, and hears that it is, has been cut short; ``cut`` keeps that, and ``told`` says it
# in the words that every release uses.


BY_TIME = "by the time limit"
"""How a search says that it was cut short, as what ``stopped`` it."""

PACE = 10_000_000
"""Steps for a second: about what a search takes on one core of a server."""
OVERHEAD = 1_000
"""Steps for what does not grow with the table, at each turn of a search."""

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
    steps: float | None = None
    """The limit of a search in steps, or None."""
    spent: float = 0.0
    """Steps that were taken."""
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
    outer: Work | None = None
    """The work that this is a part of: what is spent here is spent there too."""
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
            raise OutOfTime("it was not done within its limit")
        if not 0 < done < total or self.due:
            self._told = time.monotonic()
            self.progress.advance(stage, done, total)

    @property
    def expired(self) -> bool:
        """Whether a limit is reached; a search that hears yes stops, and the work counts as cut short."""
        late = self.seconds is not None and time.process_time() - self._began > self.seconds
        if not late and (self.steps is None or self.spent < self.steps):
            return False
        self.cut = True
        return True

    def spend(self, steps: float) -> None:
        """Count steps of a search, besides a fixed number for each turn."""
        work: Work | None = self
        while work is not None:
            work.spent += OVERHEAD + steps
            work = work.outer

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

    def allowing(self, seconds: float | None, *, hard: bool = False) -> Work:
        """The same work with an allowance of steps, as many as fit into so many seconds; the limit of the whole stays.

        >>> work = Work().allowing(0.001)
        >>> work.spend(8_000); work.expired
        False
        >>> work.spend(1_000); work.expired
        True
        """
        remaining = None if self.steps is None else max(self.steps - self.spent, 0.0)
        limits = [limit for limit in (None if seconds is None else seconds * PACE, remaining) if limit is not None]
        return replace(self, steps=min(limits, default=None), spent=0.0, cut=False, hard=hard, outer=self)

    def untimed(self) -> Work:
        """The same work without a limit, for what must be done whatever it takes."""
        return replace(self, seconds=None, steps=None, spent=0.0, cut=False, hard=False, outer=self)


# Signals that wait while a few steps are taken that belong together.


STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What people and systems stop a program with."""


@contextmanager
def unstopped() -> Iterator[None]:
    """Whoever asks the program to stop is heard when the block is over, not inside it.

    Handlers are exchanged instead of masking the signals: a mask binds one thread, and the engines have threads of
    their own. Outside the main thread nothing is done, because Python tells only the main thread of a signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        heard.append(number)

    before = {}
    try:
        for number in STOPS:
            if signal.getsignal(number) not in (None, signal.SIG_IGN):
                before[number] = signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(heard):
            signal.raise_signal(number)


# Calls of compiled code that does not look at signals, made in a thread: a request to stop ends the wait at once.


T = TypeVar("T")
_STEP = 0.1
"""Seconds between two looks for a request."""


def run_in_thread(call: Callable[[], T]) -> T:
    """What a call gives, or the error that it raises; an interrupt leaves it to itself.

    The call runs in a thread that ends with the process. It must release Python's lock, as HiGHS does, and change
    nothing that somebody else uses.

    >>> run_in_thread(lambda: 6 * 7)
    42
    """
    results: list[T] = []
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_STEP)
    if wrong:
        raise wrong[0]
    return results[0]
