"""One release in a process of its own: the seconds of every stage, the peak of memory, and what came out.

Seconds are counted from the moment when the rows are in memory.

A process that takes longer than its limit is ended; what it had told until then is kept.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.core.run_context import Work
from sfumato.pipeline.methods.table.release import TableRelease as Release

SEARCHED = ("search", "recode and judge")
"""The stages that a release itself tells the end of."""


class Stopwatch:
    """Remembers when each stage of a release was over, counted from the end of reading."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.ended: dict[str, float] = {}

    def advance(self, stage: str, done: int, total: int) -> None:
        """Note the end of a stage."""
        if done < total:
            return
        if stage == "read":
            self.began = time.perf_counter()
        self.ended[stage] = time.perf_counter() - self.began


class Telling(Stopwatch):
    """A stopwatch that says the end of the main stages at once, for whoever may end this process."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Note the end of a stage, and say it."""
        super().advance(stage, done, total)
        if stage in SEARCHED and stage in self.ended:
            tell({stage: self.ended[stage]})


def tell(found: Mapping[str, Any]) -> None:
    """One line of JSON that another process reads."""
    print(json.dumps(found), flush=True)


def staged(tree: Mapping[str, Any], data: Path, *, limit: float) -> dict[str, Any]:
    """Make, write and verify a release of a Parquet file in another process; what it told within so many seconds."""
    with tempfile.TemporaryDirectory() as place:
        plan = Path(place) / "plan.json"
        plan.write_text(json.dumps(tree))
        child = [sys.executable, __file__, str(plan), str(data), str(Path(place) / "out")]
        try:
            done = subprocess.run(child, stdout=subprocess.PIPE, timeout=limit, check=True, text=True)
            said, ended = done.stdout, False
        except subprocess.TimeoutExpired as error:
            said, ended = (error.stdout or b"").decode(), True
    found = {key: value for line in said.splitlines() for key, value in json.loads(line).items()}
    return {**found, "ended": ended}


def outcome(made: Release) -> dict[str, Any]:
    """What a table says about a release."""
    return {
        "algorithm": made.algorithm,
        "nodes": made.prepared.problem.nodes,
        "cells": made.prepared.problem.cells.count,
        "loss": made.utility["loss"],
        "ncp": made.utility["ncp"],
        "suppressed": made.suppressed_rows,
        "classes": made.classes.count,
        "smallest": made.smallest_class["value"],
    }


def peak_mb() -> float:
    """The most memory that this process has held; the figure of ``resource`` would count its parent's too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Run in the other process."""
    plan, data, out = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    tree = json.loads(plan.read_text())
    chosen, frame = sf.Plan.parse({**tree, "attack": {"run": False}}), pl.read_parquet(data)
    watch = Telling()
    made = sf.release(chosen, frame, work=Work(progress=watch))
    tell({"rows": frame.height, **outcome(made)})
    made.write(out)
    tell({"written": time.perf_counter() - watch.began})
    verified = sf.verify(out).holds
    tell({"verified": time.perf_counter() - watch.began, "holds": verified, "peak_mb": peak_mb()})


if __name__ == "__main__":
    main()
