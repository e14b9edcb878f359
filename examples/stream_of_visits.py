"""Condense visits as they are written to a file, stop in between, go on, and verify all batches.

Secret from readers: every single visit, and who came between two batches.
Becomes public: batches of drawn rows, each from groups of at least 20 visits that were never published before.
The folder `out.state` stays with the steward: it holds the moments of groups that wait.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

import sfumato as sf
from sfumato.pipeline.streams import run_stream, stream_status

PLAN = {
    "columns": {
        "age": {"role": "quasi", "type": "integer"},
        "hours-per-week": {"role": "sensitive", "type": "integer"},
        "occupation": {"role": "keep"},
    },
    "privacy": {"indistinguishable_groups": 20},
    "algorithm": {"name": "condense", "bounds": {"age": [0, 120]}},
    "stream": {"batch": 1000, "block": 100},
}


def main(place: Path) -> None:
    """Two runs of one stream."""
    visits = sf.datasets.census(2_750, seed=3).select(*PLAN["columns"])
    plan, path, out = sf.Plan.parse(PLAN), place / "visits.csv", place / "out"
    visits[:1_650].write_csv(path)
    told = run_stream(plan, path, out)
    print(f"acknowledged: {told.progress['records']}, not yet a block: {told.unread}")
    print(f"nothing is lost: {told.progress['published'] + told.waiting == told.progress['records']}")

    with path.open("ab") as file:
        visits[1_650:].write_csv(file, include_header=False)
    run_stream(plan, path, out, finish=True)
    told = stream_status(plan, out)
    print(f"batches: {told.progress['batches']}, read: {told.progress['records']}")
    rows = pl.concat(pl.read_csv(batch / "data.csv") for batch in sorted(out.iterdir()))
    print(f"drawn rows: {rows.height + told.progress['withheld']} with those withheld")
    near = abs(rows["age"].mean() - visits["age"].cast(pl.Int64).mean()) < 2
    print(f"the mean age is near the true one: {near}")
    print(f"every batch and their chain hold: {sf.verify(out).holds}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
