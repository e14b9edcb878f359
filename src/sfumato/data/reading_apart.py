"""Compiled readers run as programs of their own: a file that crashes one is refused, and this process goes on."""

from __future__ import annotations

import os
import subprocess
import sys

from sfumato.data import native_trial

SECONDS = 60
"""How long a small file may take; a larger one has a second more for each million bytes."""
MEMORY = 4_000_000_000
"""How much address space a reader may take; a larger file has a hundred times its size more."""


def answer_of(program: str, data: bytes, *arguments: object, size: int | None = None) -> bytes:
    """What a program, named by its path, answers to some bytes; a ``ValueError`` where it crashes or does not end.

    ``size`` is that of the file, where the program reads it by its name.
    """
    command = [sys.executable, "-P", program, *map(str, arguments)]
    seconds = SECONDS + (len(data) if size is None else size) // 1_000_000
    try:
        done = subprocess.run(command, check=False, input=data, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError("reading it takes too long") from None
    if done.returncode:
        raise ValueError("its reader breaks down on it")
    return done.stdout


def try_reading(reader: str, data: bytes, *arguments: object, size: int | None = None) -> None:
    """Read some bytes, or a named file of ``size`` bytes, in a process of its own; a ``ValueError`` where that fails.

    ``reader`` is one of ``native_trial.READERS``.
    """
    threads = (os.cpu_count() or 1) * 64_000_000  # every thread of a reader has a stack and an arena
    memory = MEMORY + threads + 100 * (len(data) if size is None else size)
    answer_of(native_trial.__file__, data, reader, memory, *arguments, size=size)
