"""Measuring calls and whole commands: seconds of CPU, wall clock, peak memory."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What something took."""

    wall: float
    cpu: float
    peak_mb: float = float("nan")


def timed(call: Callable[[], T], *, repeat: int = 1) -> tuple[T, Cost]:
    """The best of some runs of a call."""
    best = Cost(wall=float("inf"), cpu=float("inf"))
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        cost = Cost(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)
        best = min(best, cost, key=lambda one: one.wall)
    return result, best


def command(arguments: Sequence[str]) -> Cost:
    """A whole command of sfumato in a process of its own."""
    return process([sys.executable, "-m", "sfumato", *arguments])


def process(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """A process from start to exit, by the operating system."""
    wall = time.perf_counter()
    child = subprocess.Popen(list(arguments), stdout=subprocess.DEVNULL, env=environment)
    peak, done, status, usage = 0.0, 0, 0, None
    while not done:
        peak = max(peak, _high_water(child.pid))
        done, status, usage = os.wait4(child.pid, os.WNOHANG)
        time.sleep(0.01)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(arguments)} failed")
    return Cost(wall=time.perf_counter() - wall, cpu=usage.ru_utime + usage.ru_stime, peak_mb=peak)


def _high_water(pid: int) -> float:
    """The most memory that a process has held since it was started, in MB; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [f"### {title}", "", "| " + " | ".join(headers) + " |", "|" + " --- |" * len(headers)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def machine() -> str:
    """What the figures were measured on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
