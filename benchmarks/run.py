"""Run every benchmark and write RESULTS.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import grouping
import judging
import lattice
import mondrian
import searches
from measure import machine


def main() -> None:
    """Print each table as it comes, and keep them all."""
    parts = [
        "# Measured",
        "",
        f"By `make bench` on {machine()}. Times are wall clock; ratios are of one and the same run.",
        "",
    ]
    for benchmark in (grouping, lattice, searches, mondrian, judging):
        found = (
            f"{benchmark.main()}\n`python benchmarks/{benchmark.__name__}.py`: {(benchmark.__doc__ or '').strip()}\n"
        )
        print(found, flush=True)
        parts.append(found)
    (Path(__file__).parent / "RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
