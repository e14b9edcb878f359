"""k-anonymity on Adult against ANJANA (PyPI), both from a pandas frame in memory to released rows, in one run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from lattice import problem
from measure import table, timed
from sfumato.algorithms.problem import Recoded
from tables import Subject, subject

SHARES = (0.0, 0.04)
K = 5
OURS = ("datafly", "greedy", "optimal", "incognito", "mondrian")
"""Datafly comes first: ANJANA's search is of its kind."""
WANTED = "anjana>=1.0"
"""It needs versions that the tests do not run with, so it gets an environment of its own."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What ANJANA did."""

    seconds: float
    levels: tuple[int, ...]
    rows: int
    version: str
    smallest: int
    """The rows of its smallest class, counted by sfumato."""


def installed(place: Path) -> Path | None:
    """An environment with ANJANA and its Python; None where it cannot be had, for example offline."""
    python = place / "bin" / "python"
    steps = (
        [sys.executable, "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WANTED],
    )
    for step in steps:
        if subprocess.run(step, capture_output=True, check=False).returncode:
            return None
    return python


def raced(python: Path, one: Subject, share: float, place: Path) -> Peer:
    """Let ANJANA anonymize the table, and count its classes."""
    out = place / "anjana.csv"
    one.frame.write_csv(place / "data.csv")
    task = {
        "data": str(place / "data.csv"),
        "hierarchies": {name: str(path.resolve()) for name, path in one.hierarchies.items()},
        "k": K,
        "percent": share * 100,
        "repeat": 2,
        "out": str(out),
    }
    (place / "task.json").write_text(json.dumps(task))
    script = Path(__file__).with_name("anjana_peer.py")
    done = subprocess.run([str(python), str(script), str(place / "task.json")], stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    classes = sf.classes(pl.read_csv(out, infer_schema=False), quasi=list(one.hierarchies))
    return Peer(**{**told, "levels": tuple(told["levels"])}, smallest=int(classes.sizes.min()))


def lost(one: Subject, levels: tuple[int, ...]) -> float:
    """The loss of a node after its classes below k are suppressed."""
    given = problem(one, 1.0)
    shown = Recoded.at(given, levels)
    _, owner = np.unique(shown.keys, axis=1, return_inverse=True)
    sizes = np.bincount(owner.reshape(-1), weights=given.cells.sizes)
    return given.metric.loss(shown.view(given, sizes[owner.reshape(-1)] < K)).value


def plan(one: Subject, name: str, share: float) -> sf.Plan:
    """The same requirement for one of our algorithms."""
    columns: dict[str, Any] = {
        column: {"role": "quasi", "hierarchy": {"file": str(path.resolve())}}
        for column, path in one.hierarchies.items()
    }
    algorithm = {"name": name, "max_suppressed": share}
    return sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": K}, "algorithm": algorithm})


def rows(one: Subject, share: float, peer: Peer) -> list[list[str]]:
    """ANJANA's line and ours."""
    heavy, total = one.frame.to_pandas(), one.frame.height
    theirs = [f"{total - peer.rows:,}", str(peer.smallest), f"{peer.seconds:.2f} s", "1"]
    found = [[f"{share:.0%}", f"ANJANA {peer.version}", f"{lost(one, peer.levels):.4f}", *theirs]]
    for name in OURS:
        chosen = plan(one, name, share)
        made, cost = timed(lambda chosen=chosen: sf.release(chosen, heavy), repeat=3)
        figures = [f"{made.suppressed_rows:,}", str(made.smallest_class["value"]), f"{cost.wall:.2f} s"]
        ratio = f"{peer.seconds / cost.wall:,.0f}"
        found.append([f"{share:.0%}", f"sfumato, {name}", f"{made.utility['loss']:.4f}", *figures, ratio])
    return found


def main() -> str:
    """Both limits of suppression; a sentence instead where ANJANA cannot be had."""
    one = subject()
    with tempfile.TemporaryDirectory() as found:
        place = Path(found)
        python = installed(place / "anjana")
        if python is None:
            return f"The race against ANJANA was left out: pip could not install {WANTED}; is there a network?\n"
        lines = [line for share in SHARES for line in rows(one, share, raced(python, one, share, place))]
    headers = ["may be suppressed", "what", "loss", "suppressed", "smallest class", "time", "times faster than ANJANA"]
    title = f"{one.name}, {one.frame.height:,} rows, {len(one.hierarchies)} quasi-identifiers, k = {K}, whole releases"
    return table(title, headers, lines)


if __name__ == "__main__":
    print(main())
