"""Compiled readers run as programs of their own: a file that crashes one is refused, and this process goes on."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from threading import Lock, Timer
from typing import Any

from sfumato.tables import reader_trial

SECONDS = 60
"""How long a small file may take; a larger one has a second more for each million bytes."""
MEMORY = 4_000_000_000
"""How much address space a reader may take; a larger file has a hundred times its size more."""


def answer_of(program: str, data: bytes, *arguments: object) -> bytes:
    """What a program, named by its path, answers to some bytes; a ``ValueError`` where it crashes or does not end."""
    command = [sys.executable, "-P", program, *map(str, arguments)]
    try:
        done = subprocess.run(command, check=False, input=data, capture_output=True, timeout=_seconds(len(data)))
    except subprocess.TimeoutExpired:
        raise ValueError("reading it takes too long") from None
    if done.returncode:
        raise ValueError("its reader breaks down on it")
    return done.stdout


def try_reading(reader: str, data: bytes, *arguments: Any, size: int | None = None) -> None:
    """Read some bytes, or a named file of ``size`` bytes, in a process of its own; a ``ValueError`` where that ends it.

    What a reader refuses by itself passes: it refuses it here as well, and says why. ``reader`` is one of
    ``native_trial.READERS``.
    """
    size = len(data) if size is None else size
    threads = (os.cpu_count() or 1) * 64_000_000  # every thread of a reader has a stack and an arena
    request = {"reader": reader, "memory": MEMORY + threads + 100 * size, "size": len(data)}
    with _LOCK:
        _TRIAL.ask({**request, "arguments": [a if isinstance(a, int) else str(a) for a in arguments]}, data, size)


class _Trial:
    """The program ``native_trial``: started when it is needed, and again after a file that ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, request: dict[str, Any], data: bytes, size: int) -> None:
        """Send a request; a ``ValueError`` where the answer is not good, does not come, or the program ends."""
        answer, late = self._answer(request, data, size)
        if answer is None:  # it ended because it was idle, just now
            answer, late = self._answer(request, data, size)
        if answer != reader_trial.GOOD:
            raise ValueError("reading it takes too long" if late else "its reader breaks down on it")

    def _answer(self, request: dict[str, Any], data: bytes, size: int) -> tuple[bytes | None, bool]:
        """The answer to a request, empty where the program broke down, None where it was idle; whether it is late."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_seconds(size), process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            process.stdin.flush()
            answer = process.stdout.read(1)
        except BrokenPipeError:
            answer = b""
        except BaseException:  # an interrupt: whatever is answered later belongs to no question
            self.close()
            raise
        finally:
            late = not timer.is_alive()
            timer.cancel()
        if answer:
            return answer, late
        code = process.wait()
        self.close()
        return (None if code == 0 else b""), late

    def _running(self) -> subprocess.Popen[bytes]:
        """The program of this process, alive: one that was idle has ended, and a fork shares none."""
        process = self._process
        if process is not None and (self._owner != os.getpid() or _has_ended(process)):
            self.close()
            process = None
        if process is None:
            command = [sys.executable, "-P", reader_trial.__file__]
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._process, self._owner = process, os.getpid()
        return process

    def close(self) -> None:
        """End the program, where there is one."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.kill()
        process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a program has ended, or is about to: its output is at its end."""
    return process.poll() is not None or bool(process.stdout and select.select([process.stdout], [], [], 0)[0])


def _seconds(size: int) -> int:
    return SECONDS + size // 1_000_000


_LOCK = Lock()
_TRIAL = _Trial()
atexit.register(_TRIAL.close)
