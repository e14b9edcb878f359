"""Run every benchmark and write RESULTS.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import anjana_race
import comparison
import cost
import grouping
import judging
import k_optimize
import lattice
import mondrian
import searches
import twenty
from measure import machine

SHORT = (grouping, lattice, searches, mondrian, judging, anjana_race)
LONG = (k_optimize, comparison, twenty, cost)
"""Half an hour together; they draw the docs' pictures too."""
WITH_LONG = True
"""Whether the long ones run; without them RESULTS.md has the short ones only."""


def main() -> None:
    """Print each table as it comes, and keep them all."""
    parts = [
        "# Measured",
        "",
        f"By `make bench` on {machine()}. Times are wall clock; ratios are of one and the same run.",
        "",
    ]
    for benchmark in (*SHORT, *(LONG if WITH_LONG else ())):
        found = (
            f"{benchmark.main()}\n`python benchmarks/{benchmark.__name__}.py`: {(benchmark.__doc__ or '').strip()}\n"
        )
        print(found, flush=True)
        parts.append(found)
    (Path(__file__).parent / "RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
