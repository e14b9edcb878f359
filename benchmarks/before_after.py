"""The same releases by two versions of the package, in turn: CPU seconds of whole processes, and their ratio.

``python benchmarks/before_after.py OLD`` compares this checkout with the one in the folder OLD; tables are written once
and read by both. Each pair runs three times, one after the other; the least time counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import table

HERE = Path(__file__).resolve().parents[1]
TIMES = 3
CENSUS = ("sex", "race", "education", "marital-status", "workclass", "occupation", "native-country")
AGE = {"kind": "intervals", "widths": [5, 10, 20, 40], "low": 0, "high": 120}
PROGRAM = """
import json, sys
import sfumato as sf
tree, out = json.loads(sys.argv[1]), sys.argv[2]
made = sf.release(sf.Plan.parse(tree))
if out:
    made.write(out, force=True)
print(round(float(made.utility.get("loss", made.utility.get("ncp", 0.0))), 9) if getattr(made, "utility", None) else 0)
"""


def columns(**roles: str) -> dict[str, Any]:
    """The census as a plan describes it."""
    found: dict[str, Any] = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in CENSUS}
    found["age"] = {"role": "quasi", "type": "integer", "hierarchy": AGE}
    found |= {"income": {"role": "target", "values": ["<=50K", ">50K"]}}
    return found | {name: {"role": role} for name, role in roles.items()}


def workloads(place: Path) -> dict[str, tuple[dict[str, Any], bool]]:
    """What is made: a plan, and whether it is written."""

    def census(rows: int, privacy: Any, algorithm: Any, *, attack: bool = False, **roles: str) -> dict[str, Any]:
        return {
            "input": {"path": str(place / f"census-{rows}.csv")},
            "columns": columns(**roles),
            "privacy": privacy,
            "algorithm": algorithm,
            "attack": {"run": attack},
        }

    k, lkc = {"k_anonymity": 5}, {"lkc": {"l": 3, "k": 20, "c": 0.6, "values": ["Sales"], "column": "occupation"}}
    paths = {"path": {"role": "quasi", "type": "trajectory"}, "status": {"role": "sensitive"}}
    metro = {"input": {"path": str(place / "metro.csv")}, "columns": paths, "attack": {"run": False}}
    return {
        "200 rows, written and attacked": (census(200, k, {"max_suppressed": 0.05}, attack=True), True),
        "30,000 rows, optimal, written and attacked": (census(30_000, k, {"max_suppressed": 0.04}, attack=True), True),
        "1,000,000 rows, optimal, written": (census(1_000_000, k, {"max_suppressed": 0.04}), True),
        "200,000 rows, mondrian, written": (census(200_000, k, {"name": "mondrian"}), True),
        "30,000 rows, local": (census(30_000, k, {"name": "local", "seconds": 600}), False),
        "200,000 rows, top-down, LKC": (census(200_000, lkc, {"name": "top-down"}, occupation="sensitive"), False),
        "30,000 rows, bottom-up": (census(30_000, k, {"name": "bottom-up"}), False),
        "200,000 rows, diffgen, epsilon 1": (census(200_000, {"epsilon": 1.0}, {"name": "diffgen"}), True),
        "200,000 rows, marginals, epsilon 1": (census(200_000, {"epsilon": 1.0}, {"name": "marginals"}), True),
        "50,000 paths, LKC, written": ({**metro, "privacy": {"lkc": {"l": 2, "k": 20, "c": 1.0}}}, True),
    }


def seconds(source: Path, plan: dict[str, Any], out: Path | None) -> tuple[float, str]:
    """CPU seconds of a process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(plan), "" if out is None else str(out)],
        env={**os.environ, "PYTHONPATH": str(source / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def main(old: Path) -> None:
    """Print the table."""
    from sfumato.tables import datasets

    rows = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for many in (200, 30_000, 200_000, 1_000_000):
            datasets.census(many, seed=1).write_csv(place / f"census-{many}.csv")
        datasets.metro(50_000, seed=1).write_csv(place / "metro.csv")
        for title, (plan, written) in workloads(place).items():
            out = place / "out" if written else None
            pairs = [(seconds(old, plan, out), seconds(HERE, plan, out)) for _ in range(TIMES)]
            before, after = (min(pair[side][0] for pair in pairs) for side in (0, 1))
            alike = "noisy" if "epsilon" in plan["privacy"] else str(pairs[0][0][1] == pairs[0][1][1])
            rows.append([title, f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}", alike])
            print(rows[-1], file=sys.stderr)
    print(table("CPU seconds of whole processes", ["release", "before", "after", "ratio", "same loss"], rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
