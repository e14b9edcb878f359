"""Run by the race in ANJANA's own environment: its k-anonymity on a table, timed there; needs nothing of sfumato."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity
from anjana.anonymity.utils import utils


def hierarchy(path: str) -> dict[int, list[str]]:
    """A hierarchy file with one line per leaf, as ANJANA wants it: the labels of each level."""
    lines = [line.split(";") for line in Path(path).read_text().splitlines() if line]
    return {level: [line[level] for line in lines] for level in range(len(lines[0]))}


def main() -> None:
    """Read the task, anonymize as often as asked, and print the best time with what came out."""
    task = json.loads(Path(sys.argv[1]).read_text())
    data = pd.read_csv(task["data"], dtype=str)
    trees = {name: hierarchy(path) for name, path in task["hierarchies"].items()}
    quasi, times = list(trees), []
    for _ in range(task["repeat"]):
        given, rows = deepcopy(trees), data.copy()
        began = time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):
            made = k_anonymity(rows, [], quasi, task["k"], task["percent"], given)
        times.append(time.perf_counter() - began)
    levels = utils.get_transformation(made, quasi, deepcopy(trees))
    made[quasi].to_csv(task["out"], index=False)
    told = {"seconds": min(times), "levels": [int(n) for n in levels], "rows": len(made), "version": version("anjana")}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
