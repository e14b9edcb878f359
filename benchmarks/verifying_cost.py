"""What verification costs: figures alone, with the report made again, signed, and by making all of it again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from pycanon import anonymity

import sfumato as sf
from measure import table, timed
from sfumato.pipeline.release import verify_written

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"bundled": "census/age"}},
    "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
    "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
    "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
    "marital-status": {"role": "quasi", "hierarchy": {"bundled": "census/marital-status"}},
    "occupation": {"role": "sensitive"},
}
PLAN = {
    "columns": COLUMNS,
    "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "entropy", "l": 2}},
    "algorithm": {"max_suppressed": 0.04},
}
PEER = 100_000
"""On more rows the peer is not run."""


def main() -> str:
    """Rows, and seconds of each way to verify; the peer counts k and entropy l of the same file, and nothing else."""
    plan, signer = sf.Plan.parse(PLAN), sf.Signer.new("Benchmark")
    rows = []
    for size in (1_000, 10_000, 100_000, 1_000_000):
        frame = sf.datasets.census(size, seed=1)
        made, release = timed(lambda f=frame: sf.release(plan, f))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "bundle"
            _, written = timed(lambda m=made, p=folder: m.write(p, signer=signer))
            _, figures = timed(lambda p=folder: verify_written(p, page=None))
            found, whole = timed(lambda p=folder: sf.verify(p, signer=signer.card))
            again, twice = timed(lambda p=folder, f=frame: sf.verify_again(p, plan=plan, original=f))
            peer = _peer(folder / "data.csv") if size <= PEER else None
        if not (found.holds and again.holds):
            raise SystemExit("a bundle does not verify")
        if size == 1_000:  # imports are not measured
            continue
        cells = [f"{release.wall:.2f}", f"{written.wall:.2f}", f"{figures.wall:.2f}", f"{whole.wall:.2f}"]
        ratio = "" if peer is None else f"{peer / whole.wall:.1f}"
        rows.append([f"{size:,}", *cells, f"{twice.wall:.2f}", "" if peer is None else f"{peer:.2f}", ratio])
    heads = ["rows", "release s", "write, signed s", "verify, figures s", "verify, all s", "made again s"]
    heads += ["pycanon, k and l s", "ratio"]
    return table("Verification: optimal, k = 5, entropy l = 2, five quasi-identifiers, with attacks", heads, rows)


def _peer(path: Path) -> float:
    """Seconds of the peer for two of the figures."""
    quasi = [name for name, spec in COLUMNS.items() if spec["role"] == "quasi"]
    frame = pl.read_csv(path, infer_schema=False).to_pandas()
    _, cost = timed(
        lambda: (anonymity.k_anonymity(frame, quasi), anonymity.entropy_l_diversity(frame, quasi, ["occupation"]))
    )
    return cost.wall


if __name__ == "__main__":
    print(main())
