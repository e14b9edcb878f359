"""What an audit by every attack costs: 30,000 rows and a million rows of the census, seconds by attack and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import sfumato as sf
from measure import table
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from stages import peak_mb, tell

AIMS: Mapping[int, float] = {30_000: 60.0, 1_000_000: 300.0}
"""Rows, and the seconds that an audit of them may take."""
ALGORITHMS = ("mondrian", "optimal")
SECRET, TRIALS, SEED = "occupation", 2000, 1
LIMIT = 1800.0
"""Seconds after which an audit is ended."""


def plan(algorithm: str) -> sf.Plan:
    """Eight quasi-identifiers; a claim that bounds the secret's values, so that minimality fits.

    Proximity needs a secret that is a number; this one is not.
    """
    trees = {name: {"file": str(path.resolve())} for name, path in census_hierarchies().items()}
    columns: dict[str, Any] = {
        name: {"role": "sensitive" if name == SECRET else "quasi", "hierarchy": tree} for name, tree in trees.items()
    }
    tree = {"columns": columns, "privacy": {"k_anonymity": 5, "alpha_k": {"alpha": 0.8, "k": 5}}}
    asked = {"name": algorithm, "max_suppressed": 0.04}
    return sf.Plan.parse({**tree, "algorithm": asked, "attack": {"run": False}})


def staged(rows: int, algorithm: str) -> dict[str, Any]:
    """Make a bundle in one process, attack it in another; what the second told."""
    with tempfile.TemporaryDirectory() as place:
        child = [sys.executable, __file__]
        subprocess.run([*child, "make", str(rows), algorithm, place], check=True, stdout=subprocess.DEVNULL)
        try:
            asked = [*child, "attack", str(rows), algorithm, place]
            done = subprocess.run(asked, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True)
            said, ended = done.stdout, False
        except subprocess.TimeoutExpired as error:
            said, ended = (error.stdout or b"").decode(), True
    found = {key: value for line in said.splitlines() for key, value in json.loads(line).items()}
    return {**found, "ended": ended}


def make(rows: int, algorithm: str, place: Path) -> None:
    """In the first process: the bundle, its original, and a third as many people who are not in it."""
    frame = census(rows, seed=1)
    sf.release(plan(algorithm), frame).write(place / "out")
    frame.write_parquet(place / "original.parquet")
    census(rows // 3, seed=2).write_parquet(place / "control.parquet")


def attack(algorithm: str, place: Path) -> None:
    """In the second process: what ``sfumato attack`` does, one attack after the other, with a clock."""
    from sfumato.bundles.manifest.document import load
    from sfumato.core.randomness import Chance
    from sfumato.core.run_context import Work
    from sfumato.pipeline.attack import attacked
    from sfumato.pipeline.catalog.catalog import catalog
    from sfumato.pipeline.inputs import load_table
    from sfumato.pipeline.methods.table.subject import bundle_subject
    from sfumato.pipeline.plan.evaluation import AttackPlan

    asked = plan(algorithm)
    began = time.perf_counter()
    original, control = (load_table(asked, None, str(place / f"{name}.parquet")) for name in ("original", "control"))
    subject = bundle_subject(
        place / "out", load(place / "out" / "manifest.json"), original, control=control, plan=asked
    )
    classes = len(subject.classes[1])
    tell({"classes": classes, "reading": time.perf_counter() - began})
    for name in catalog().attacking("table"):
        start, busy = time.perf_counter(), time.process_time()
        found = attacked(subject, AttackPlan(attacks=(name,), trials=TRIALS), Work(), Chance(seed=SEED))
        if found.findings:
            tell({name: time.perf_counter() - start, f"{name} cpu": time.process_time() - busy})
        else:
            tell({f"{name} skipped": found.skipped[name]})
    tell({"total": time.perf_counter() - began, "cpu": time.process_time(), "peak_mb": peak_mb()})


def main() -> str:
    """A column for each bundle."""
    from sfumato.pipeline.catalog.catalog import catalog

    found = {(rows, name): staged(rows, name) for rows in AIMS for name in ALGORITHMS}
    lines: list[list[str]] = [["classes", *(f"{one.get('classes', 0):,}" for one in found.values())]]
    lines += [
        [name, *(_seconds(one, name) for one in found.values())]
        for name in ("reading", *catalog().attacking("table"), "total")
    ]
    lines.append(["CPU, with loading the program", *(_seconds(one, "cpu") for one in found.values())])
    lines.append(["peak memory", *(f"{one['peak_mb']:,.0f} MB" if "peak_mb" in one else "-" for one in found.values())])
    lines.append(["aim", *(_aim(one, AIMS[rows]) for (rows, _), one in found.items())])
    heads = ["", *(f"{rows:,} rows, {name}" for rows, name in found)]
    title = f"An audit by every attack, {TRIALS:,} trials, a third as many control people: seconds of wall clock (CPU)"
    return table(title, heads, lines)


def _seconds(one: Mapping[str, Any], name: str) -> str:
    if name in one:
        cpu = f" ({one[f'{name} cpu']:.1f})" if f"{name} cpu" in one else ""
        return f"{one[name]:.1f}{cpu}"
    return "does not fit" if f"{name} skipped" in one else "-"


def _aim(one: Mapping[str, Any], limit: float) -> str:
    met = not one["ended"] and one["total"] <= limit
    return f"{limit:.0f} s: {'met' if met else 'not met'}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    elif sys.argv[1:2] == ["attack"]:
        attack(sys.argv[3], Path(sys.argv[4]))
    else:
        print(main())
