"""Blows at exact steps: the calls by which the program changes a disk are counted, and one of them is struck."""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import sqlite3
from collections.abc import Callable
from typing import Any

BLOWS = ("kill", "int", "term", "full", "readonly")
_CALLS = (
    (os, "rename"), (os, "replace"), (os, "mkdir"), (os, "rmdir"), (os, "unlink"), (os, "link"),
    (os, "pwrite"), (os, "ftruncate"), (os, "chmod"),
)  # fmt: skip
"""What changes a disk, as Python's own library calls it; files that are opened to be written come to it."""


class Striker:
    """Counts the steps, and strikes at one of them; the blow falls before the step is taken."""

    def __init__(self, at: int | None, blow: str) -> None:
        self.at, self.blow, self.steps = at, blow, 0

    def install(self, *, exchange: bool = True) -> None:
        """Stand before all steps; without ``exchange`` the system cannot swap two names in one step."""
        for owner, name in _CALLS:
            setattr(owner, name, self._before(getattr(owner, name)))
        os.fsync = self._before(lambda handle: None)  # whoever is killed keeps what the system has; no power fails here
        opened = io.open

        def opens(file: Any, mode: str = "r", *more: Any, **others: Any) -> Any:
            if set(mode) & set("wxa+") and not isinstance(file, int):
                self.step()
            return opened(file, mode, *more, **others)

        io.open = builtins.open = opens  # type: ignore[assignment]
        connect = sqlite3.connect
        sqlite3.connect = lambda *a, **k: connect(*a, **k, factory=self._connection())  # type: ignore[assignment]
        from sfumato.bundles import staging

        staging.exchange = self._before(staging.exchange) if exchange else lambda one, other: False

    def _connection(self) -> type[sqlite3.Connection]:
        striker = self

        class Struck(sqlite3.Connection):
            def execute(self, sql: str, *more: Any) -> Any:
                if sql.startswith(("BEGIN IMMEDIATE", "INSERT", "UPDATE", "COMMIT")):
                    try:
                        striker.step()
                    except OSError as error:
                        raise sqlite3.OperationalError(error.strerror) from error
                return super().execute(sql, *more)

        return Struck

    def _before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def struck(*arguments: Any, **options: Any) -> Any:
            self.step()
            return call(*arguments, **options)

        return struck

    def step(self) -> None:
        """One step further; the blow falls once."""
        self.steps += 1
        if self.steps != self.at:
            return
        if self.blow == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.blow in ("int", "term"):
            signal.raise_signal(signal.SIGINT if self.blow == "int" else signal.SIGTERM)
        else:
            code = errno.ENOSPC if self.blow == "full" else errno.EROFS
            raise OSError(code, os.strerror(code))
