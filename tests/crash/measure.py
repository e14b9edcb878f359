"""``python -m tests.crash.measure 200``: what so many blows at random moments leave, before and after the next run."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.crash.commands import COMMANDS, begun, cleared, moments, prepared, run, whole
from tests.crash.warm import Warm
from tests.crash.wholeness import leftovers


def measured(count: int) -> dict[str, Counter[str]]:
    """For each blow: how many fell, how many commands had ended by then, how many left a scratch folder."""
    large, table = Warm("tests.crash.jobs"), {blow: Counter[str]() for blow in ("kill", "int", "term")}
    with tempfile.TemporaryDirectory() as folder:
        root = prepared(Path(folder) / "root", large)
        lasts = {}
        for name, command in COMMANDS.items():
            place = begun(root, Path(folder) / "place", command)
            lasts[name] = run(large, place, command.arguments)["seconds"]
            shutil.rmtree(place)
        for name, blow, part in moments(21, count):
            place = begun(root, Path(folder) / "place", COMMANDS[name])
            ran = run(large, place, COMMANDS[name].arguments, after=part * lasts[name], blow=blow)
            whole(place, COMMANDS[name], ran, blow)
            table[blow] += Counter({"blows": 1, "ended before": ran["code"] == 0, "left": bool(leftovers(place))})
            cleared(place, COMMANDS[name], large)
            table[blow]["left by the next run"] += bool(leftovers(place))
            shutil.rmtree(place)
    large.close()
    return table


if __name__ == "__main__":
    for blow, counts in measured(int(sys.argv[1])).items():
        sys.stdout.write(f"{blow}: {dict(counts)}\n")
