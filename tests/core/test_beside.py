"""Calls that do not look at signals are left when somebody asks to stop."""

from __future__ import annotations

import signal
import threading

import pytest

from sfumato.core.run_context import run_in_thread


def test_an_interrupt_ends_the_wait_and_errors_come_through():
    begun, over = threading.Event(), threading.Event()

    def waiting() -> bool:
        begun.set()
        return over.wait(60)

    def asking() -> None:
        begun.wait(60)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=asking).start()
        with pytest.raises(KeyboardInterrupt):
            run_in_thread(waiting)
    finally:
        signal.signal(signal.SIGINT, before)
        over.set()
    with pytest.raises(ZeroDivisionError):
        run_in_thread(lambda: 1 // 0)
