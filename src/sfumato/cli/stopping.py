"""A command that is asked to stop does stop, wherever the request finds it."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from sfumato.ground.deferring import STOPS
from sfumato.ground.errors import Interrupted
from sfumato.ground.scratch import close_all

STOPPED = "interrupted; nothing was left half-written"
_AGAIN = 0.02
"""Seconds after which a request that compiled code has dropped is made again."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Requests to end (SIGINT, SIGTERM, SIGHUP) become ``Interrupted``; ignored signals stay ignored.

    A request may arrive while compiled code (Polars, PyArrow) calls Python. Such code drops the interrupt or turns it
    into an error of its own: a dropped request is made again, and an error after a request counts as the stop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    timers: list[threading.Timer] = []

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    def again() -> None:
        if sys.unraisablehook is dropped:  # the command still runs
            _thread.interrupt_main()

    def dropped(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            timers.append(threading.Timer(_AGAIN, again))
            timers[-1].start()
        else:
            hook(unraisable)

    ours = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: handler for number in STOPS if (handler := signal.getsignal(number)) in ours}
    hook, sys.unraisablehook = sys.unraisablehook, dropped
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    except Exception:
        if not heard:
            raise
        raise Interrupted(STOPPED) from None
    finally:
        for number in before:  # a request that is made again just now must not reach what comes after the command
            signal.signal(number, _unheard)
        sys.unraisablehook = hook
        for timer in timers:
            timer.cancel()
            timer.join()
        close_all()
        for number, handler in before.items():
            signal.signal(number, handler)


def ending() -> None:
    """The program is about to end and has said how: whoever asks it to stop once more changes nothing.

    An interrupt that found code which compiled packages run from a text leaves a note in CPython, by which the process
    would end as if by SIGINT, whatever it returns. Running nothing in the same way takes the note away.
    """
    import ctypes

    ctypes.pythonapi.PyRun_SimpleString(b"")
    if threading.current_thread() is threading.main_thread():
        for number in STOPS:
            signal.signal(number, _unheard)


def _unheard(number: int, frame: FrameType | None) -> None:
    """The command is over already."""
