"""Calls of compiled code that does not look at signals, made beside: a request to stop ends the wait at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_STEP = 0.1
"""Seconds between two looks for a request."""


def beside(call: Callable[[], T]) -> T:
    """What a call gives, or the error that it raises; an interrupt leaves it to itself.

    The call runs in a thread that ends with the process. It must release Python's lock, as HiGHS does, and change
    nothing that somebody else uses.

    >>> beside(lambda: 6 * 7)
    42
    """
    found: list[T] = []
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_STEP)
    if wrong:
        raise wrong[0]
    return found[0]
