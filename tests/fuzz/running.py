"""Runs many inputs in a worker process with limits on memory and time, and begins anew where one of them kills it."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

SECONDS = 60
"""How long one input may take."""
MEMORY = 2 << 30
"""How many bytes a worker may take beyond what it has when it begins."""


@dataclass
class Tally:
    """What became of the inputs."""

    ended: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    slowest: tuple[float, str, int] = (0.0, "", -1)
    peak: int = 0
    seconds: float = 0.0
    spent: Counter[str] = field(default_factory=Counter)

    @property
    def inputs(self) -> int:
        """How many there were."""
        return sum(sum(one.values()) for one in self.ended.values())

    def note(self, line: dict[str, Any]) -> None:
        """Count one input."""
        self.ended.setdefault(line["target"], Counter())[line["end"]] += 1
        self.slowest = max(self.slowest, (line["seconds"], line["target"], line["number"]))
        self.peak = max(self.peak, line["peak"])
        self.spent[line["target"]] += line["seconds"]
        self.spent["all"] += line["seconds"]
        if line["end"] not in ("done", "refused"):
            self.faults.append(line)

    def add(self, other: Tally) -> None:
        """Count what another has counted too."""
        for name, ends in other.ended.items():
            self.ended.setdefault(name, Counter()).update(ends)
        self.faults += other.faults
        self.slowest, self.peak = max(self.slowest, other.slowest), max(self.peak, other.peak)
        self.spent.update(other.spent)

    def figures(self) -> str:
        """The table that a person reads."""
        lines = [f"{'target':<10} {'inputs':>8} {'done':>8} {'refused':>8} {'faults':>8} {'seconds':>8}"]
        for name, ends in [*sorted(self.ended.items()), ("all", sum(self.ended.values(), Counter()))]:
            every = sum(ends.values())
            bad = every - ends["done"] - ends["refused"]
            lines.append(
                f"{name:<10} {every:>8,} {ends['done']:>8,} {ends['refused']:>8,} {bad:>8,} {self.spent[name]:>8,.0f}"
            )
        took, target, number = self.slowest
        lines.append(f"slowest: {took:.1f} s ({target}, input {number}); {self.seconds:,.0f} s in all")
        lines.append(f"most memory: {self.peak / 2**20:,.0f} MB beyond the start")
        return "\n".join(lines)


def made_input(seed: int, number: int, stock: Any) -> tuple[str, dict[str, bytes]]:
    """The target and the files of one input; the same for the same seed and number."""
    from tests.fuzz.targets import TARGETS, chosen

    draw = Random(f"{seed}:{number}")
    name = chosen(draw)
    return name, TARGETS[name].make(draw, stock)


def run_many(first: int, inputs: int, seed: int, folder: Path, *, jobs: int = 1) -> Tally:
    """So many inputs from ``first`` on; files of those that are faults are kept in the folder."""
    began, total = time.monotonic(), Tally()
    bounds = [first + inputs * job // jobs for job in range(jobs + 1)]
    with ThreadPoolExecutor(jobs) as pool:
        for one in pool.map(lambda at: _run(*at, seed, folder / f"job-{at[0]}"), pairwise(bounds)):
            total.add(one)
    total.seconds = time.monotonic() - began
    return total


def _run(at: int, end: int, seed: int, folder: Path) -> Tally:
    """The inputs of one job, by as many workers one after the other as it takes."""
    folder.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    while at < end:
        at = _worker(at, end, seed, folder, tally)
    return tally


def _worker(at: int, end: int, seed: int, folder: Path, tally: Tally) -> int:
    """One worker process, as far as it comes; the number of the input that is next."""
    command = [sys.executable, "-m", "tests.fuzz", "--worker", str(at), str(end), str(seed), str(folder)]
    alone = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    with (
        (folder / "stderr").open("wb") as err,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True, env={**os.environ, **alone}) as worker,
    ):
        assert worker.stdout is not None
        begun: dict[str, Any] | None = None
        for text in worker.stdout:
            line = json.loads(text)
            if line["end"] == "begun":
                begun = line
                continue
            tally.note(line)
            begun, at = None, line["number"] + 1
        code = worker.wait()
    if begun is not None:
        tail = (folder / "stderr").read_text(errors="replace")[-600:]
        tally.note({**begun, "end": f"died ({code})", "detail": tail})
        return int(begun["number"]) + 1
    if code or at < end:
        raise RuntimeError(f"the worker ended with {code}: {(folder / 'stderr').read_text(errors='replace')[-3000:]}")
    return at


def work(first: int, end: int, seed: int, folder: Path) -> None:
    """The worker: prints a line before and after every input."""
    from tests.fuzz.targets import stocked

    stock = stocked(folder)
    _warm(seed, stock, folder)
    held = _held()
    resource.setrlimit(resource.RLIMIT_AS, (_virtual() + MEMORY, resource.RLIM_INFINITY))
    signal.signal(signal.SIGALRM, _late)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    for number in range(first, end):
        name, files = made_input(seed, number, stock)
        about = {"number": number, "target": name, "seconds": 0.0, "peak": 0}
        signal.alarm(SECONDS)
        faulthandler.dump_traceback_later(SECONDS + 30, exit=True)  # where no signal is heard: in compiled code
        print(json.dumps({**about, "end": "begun"}), file=out)
        began = time.monotonic()
        ending, detail = one(name, files, folder / "input")
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        took, peak = time.monotonic() - began, max(_held() - held, 0)
        if ending not in ("done", "refused"):
            keep(files, folder / "faults" / f"{name}-{seed}-{number}", detail)
        line = {**about, "end": ending, "detail": detail[-1500:], "seconds": round(took, 3), "peak": peak}
        print(json.dumps(line), file=out)


def one(name: str, files: dict[str, bytes], place: Path) -> tuple[str, str]:
    """How one input ends, and what it said."""
    from sfumato.core.errors import SfumatoError
    from tests.fuzz.targets import TARGETS

    lay(files, place)
    try:
        TARGETS[name].run(place)
    except SfumatoError as refusal:
        return "refused", str(refusal)[:300]
    except Late:
        return "late", traceback.format_exc()
    except MemoryError:
        return "memory", traceback.format_exc()
    except BaseException as fault:
        if type(fault) is KeyboardInterrupt:
            raise
        return "traceback", traceback.format_exc()
    return "done", ""


def lay(files: dict[str, bytes], place: Path) -> None:
    """The files of an input, and nothing else, lie in the place."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)


def keep(files: dict[str, bytes], place: Path, detail: str) -> None:
    """An input that is a fault, with what it said."""
    lay(files, place)
    (place / "WHY.txt").write_text(detail, encoding="utf-8", errors="replace")


class Late(BaseException):
    """An input took too long."""


def _late(*_: object) -> None:
    raise Late


def _warm(seed: int, stock: Any, folder: Path) -> None:
    """Load what every target loads, so that the limit on memory is about inputs."""
    from tests.fuzz.targets import TARGETS

    for name, target in TARGETS.items():
        one(name, target.make(Random(seed), stock), folder / "input")


def _held() -> int:
    """The most memory that the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _virtual() -> int:
    """The address space of the process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
