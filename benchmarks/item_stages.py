"""The parts of a release of paths, each measured, and the whole release, in processes of their own.

Seconds are of CPU, of all threads, after a small table was released: compiled code is loaded by then.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from measure import timed
from sfumato.algorithms.items.suppression import records
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import violating
from sfumato.counts.transactions import Secret, Transactions
from sfumato.pipeline.methods.items.stages import ItemRelease
from sfumato.tables.datasets.synthetic_metro import metro
from sfumato.tables.table import Table
from sfumato.tables.trajectories import trajectory_column
from stages import peak_mb, tell

K, C, SUPPORT, WATCHED = 30, 0.6, 0.01, "Unemployed"


def measured(data: Path, l: int, what: str, *, limit: float) -> dict[str, Any]:
    """What another process told about a Parquet file within so many seconds."""
    child = [sys.executable, __file__, str(data), str(l), what]
    try:
        said = subprocess.run(child, stdout=subprocess.PIPE, timeout=limit, check=True, text=True).stdout
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode()
    return {key: value for line in said.splitlines() for key, value in json.loads(line).items()}


def transactions(frame: pl.DataFrame) -> Transactions:
    """The paths of a table as sets of items, with the status of each passenger."""
    rows = Table(frame=frame)
    path, status = trajectory_column(rows, "path"), rows.column("status")
    secret = Secret(name="status", codes=status.codes, values=status.values)
    return Transactions(starts=path.starts, codes=path.codes, labels=path.labels, secret=secret)


def plan(l: int) -> sf.Plan:
    """LKC-privacy of the paths by suppression."""
    return sf.Plan.parse(
        {
            "columns": {
                "id": {"role": "drop"},
                "path": {"role": "quasi", "type": "trajectory"},
                "status": {"role": "sensitive"},
            },
            "privacy": {"lkc": {"l": l, "k": K, "c": C, "column": "status", "values": [WATCHED]}},
            "algorithm": {"name": "trajectory", "support": SUPPORT},
            "attack": {"run": False},
        }
    )


class Suppression:
    """How much CPU passed between the first and the last item that was left out."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def advance(self, stage: str, done: int, total: int) -> None:
        """Note the time, as long as items are left out."""
        if stage == "remove violating sets":
            self.at = [*self.at[:1], time.process_time()]

    @property
    def seconds(self) -> float:
        """From the first to the last."""
        return self.at[-1] - self.at[0] if self.at else 0.0


def parts(data: Path, l: int) -> None:
    """Tell the seconds of reading, of finding, and of suppressing."""
    found, cost = timed(lambda: transactions(pl.read_parquet(data)))
    tell({"rows": found.rows, "items": found.count, "read": cost.cpu})
    frequent, cost = timed(lambda: maximal_frequent(found, records(SUPPORT, found.rows)))
    tell({"maximal": cost.cpu, "frequent sets": frequent.count})
    most = l or int(np.diff(found.starts).max())
    bad, cost = timed(lambda: violating(found, l=most, k=K, c=C, values=(WATCHED,)))
    tell({"violating": cost.cpu, "violating sets": bad.count, "peak_mb": peak_mb()})


def whole(data: Path, l: int) -> None:
    """Tell the seconds from a file to a bundle that was verified from its bytes."""
    watch = Suppression()

    def made(folder: str) -> tuple[int, bool]:
        release = sf.release(plan(l), pl.read_parquet(data), work=Work(progress=watch))
        assert isinstance(release, ItemRelease)
        return len(release.outcome.steps), release.write(Path(folder) / "out").holds

    with tempfile.TemporaryDirectory() as folder:
        (steps, holds), cost = timed(lambda: made(folder))
    tell({"whole": cost.cpu, "suppress": watch.seconds, "suppressed": steps, "holds": holds, "whole_mb": peak_mb()})


def main() -> None:
    """Run in the other process."""
    data, l, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        sf.release(plan(2), metro(2_000, seed=2)).write(Path(folder) / "out")
    violating(transactions(metro(2_000, seed=2)), l=3, k=2, c=C)
    {"parts": parts, "whole": whole}[what](data, l)


if __name__ == "__main__":
    main()
