"""Compiled readers that some files crash, each run as a program of its own: a crash is then a refusal."""

from __future__ import annotations

import subprocess
import sys

SECONDS = 60
"""How long a small file may take; a larger one has a second more for each million bytes."""


def answer_of(program: str, data: bytes, *arguments: object) -> bytes:
    """What a program, named by its path, answers to some bytes; a ``ValueError`` where it crashes or does not end."""
    command = [sys.executable, "-P", program, *map(str, arguments)]
    seconds = SECONDS + len(data) // 1_000_000
    try:
        done = subprocess.run(command, check=False, input=data, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError("reading it takes too long") from None
    if done.returncode:
        raise ValueError("its reader breaks down on it")
    return done.stdout
