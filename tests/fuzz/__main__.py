"""``python -m tests.fuzz --inputs 100000 --seed 1``: feeds mutated inputs to every reader, and prints the figures."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.fuzz import running


def main() -> int:
    """Run, print, and end with 1 if anything but a refusal came out."""
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("--inputs", type=int, default=3000)
    asked.add_argument("--first", type=int, default=0, help="the number of the first input")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=1, help="how many processes work at once")
    asked.add_argument("--folder", type=Path, help="where inputs that are faults are kept")
    asked.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    said = asked.parse_args()
    if said.worker:
        first, end, seed, folder = said.worker
        running.work(int(first), int(end), int(seed), Path(folder))
        return 0
    folder = said.folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
    tally = running.run_many(said.first, said.inputs, said.seed, folder, jobs=said.jobs)
    print(tally.figures())
    for fault in tally.faults[:50]:
        print(json.dumps({key: fault[key] for key in ("target", "number", "end")}), fault["detail"][-700:], sep="\n")
    if tally.faults:
        print(f"inputs that are faults: {folder}/job-*/faults")
    return 1 if tally.faults else 0


sys.exit(main())
