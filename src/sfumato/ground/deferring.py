"""Signals that wait while a few steps are taken that belong together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
