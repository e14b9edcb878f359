"""Progress and limits of long work. Searches report here; nobody prints."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from sfumato.ground.chance import Chance


class Progress(Protocol):
    """Somebody who wants to know how far the work is."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """``done`` of about ``total`` steps of ``stage`` are over."""


class Quiet:
    """Nobody is watching."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Say nothing."""


@dataclass(slots=True, kw_only=True)
class Work:
    """What a search may spend, and whom it tells."""

    progress: Progress = field(default_factory=Quiet)
    """Who is told."""
    seconds: float | None = None
    """The time limit, or None."""
    chance: Chance = field(default_factory=Chance)
    """Where an algorithm that draws takes its randomness from."""
    _told: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        """Whether the watcher has not heard anything for a tenth of a second."""
        return time.monotonic() - self._told >= 0.1

    def advance(self, stage: str, done: int, total: int) -> None:
        """Tell the watcher, at most ten times a second and always at the end."""
        if done >= total or self.due:
            self._told = time.monotonic()
            self.progress.advance(stage, done, total)

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed."""
        return self.seconds is not None and time.monotonic() - self._began > self.seconds
