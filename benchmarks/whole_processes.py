"""Whole commands on Adult and on tables made from it, beside an older version and ANJANA: CPU and peak memory.

``python benchmarks/whole_processes.py OLD`` runs this checkout, the one in the folder OLD and ANJANA (PyPI) in turn; a
first run has an empty cache of compiled loops; what the set-up compiles ahead is compiled ahead where it can be. The
operating system tells CPU and memory of each process. Without OLD only this checkout and ANJANA run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anjana_race import installed
from measure import Cost, process, table
from pictures import TONES, Line, Panel, save
from sfumato.tables import datasets
from tables import Subject, subject

HERE = Path(__file__).resolve().parents[1]
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 5_000_000)
GROWN = ("optimal", "mondrian", "local")
Points = dict[str, list[tuple[float, float]]]
CLOSE = 't_closeness = { t = 0.2, distance = "emd-equal" }'
AIMS = {
    "Adult, optimal": 1.5, "Adult, mondrian": 2.0, "Adult, local": 4.0, "Adult, t = 0.2, 4 % suppressed": 4.0,
    "Adult, t = 0.2, 100 % suppressed": 4.0, "1,000,000 hard rows, optimal": 6.0,
    "1,000,000 hard rows, mondrian": 9.0, "1,000,000 hard rows, local": 15.0,
}  # fmt: skip
"""Seconds of CPU that were asked for."""


def used(arguments: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """A process with some more variables, and with Python's own cache of modules, as users have it."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return process(arguments, {**plain, **environment})


@dataclass(frozen=True, kw_only=True)
class Version:
    """A checkout of the package, with a cache of compiled loops of its own."""

    folder: Path
    cache: Path

    def release(self, plan: Path) -> Cost:
        """One release, written and verified."""
        out = plan.with_suffix(".out")
        arguments = [sys.executable, "-m", "sfumato", "release", str(plan), "-o", str(out), "--force"]
        return used(arguments, self._environment)

    def ahead(self) -> None:
        """Compile what can be compiled ahead, as the set-up does."""
        used([sys.executable, "-m", "compileall", "-q", str(self.folder / "src")], self._environment)
        for module in ("report", "ground.kernels"):
            if (self.folder / "src/sfumato" / module.replace(".", "/") / "__main__.py").exists():
                used([sys.executable, "-m", f"sfumato.{module}"], self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.folder / "src"), "NUMBA_CACHE_DIR": str(self.cache)}


def plan(one: Subject, place: Path, name: str, algorithm: str, privacy: str = "k_anonymity = 5") -> Path:
    """A plan beside the table; with t-closeness the occupation is sensitive."""
    lines = ["[input]", 'path = "data.csv"', "[privacy]", privacy, "[algorithm]", algorithm]
    for column, path in one.hierarchies.items():
        if "t_closeness" in privacy and column == "occupation":
            lines += [f"[columns.{column}]", 'role = "sensitive"']
        else:
            lines += [f"[columns.{column}]", 'role = "quasi"', f'hierarchy = {{ file = "{path.resolve()}" }}']
    (place / f"{name}.toml").write_text("\n".join(lines))
    return place / f"{name}.toml"


def cases(place: Path) -> dict[str, Path]:
    """The plans of the table."""
    small, million, paths = (place / name for name in ("adult", "million", "paths"))
    for folder in (small, million, paths):
        folder.mkdir()
    one = subject()
    one.frame.write_csv(small / "data.csv")
    hard = one.times(1_000_000)
    hard.frame.write_csv(million / "data.csv")
    datasets.metro(20_000, seed=1).write_csv(paths / "data.csv")
    (paths / "lkc.toml").write_text(
        '[input]\npath = "data.csv"\n[privacy]\nlkc = { l = 2, k = 20, c = 1.0 }\n'
        '[columns.path]\nrole = "quasi"\ntype = "trajectory"\n[columns.status]\nrole = "sensitive"\n'
    )
    found = {f"{one.name}, {name}": plan(one, small, name, f'name = "{name}"') for name in ("mondrian", "local")}
    found[f"{one.name}, optimal"] = plan(one, small, "optimal", 'name = "optimal"\nmax_suppressed = 0.04')
    for share in (0.04, 1.0):
        title = f"{one.name}, t = 0.2, {100 * share:.0f} % suppressed"
        found[title] = plan(one, small, f"t{share}", f"max_suppressed = {share}", CLOSE)
    for name in GROWN:
        more = "\nmax_suppressed = 0.04" if name == "optimal" else ""
        found[f"1,000,000 hard rows, {name}"] = plan(hard, million, name, f'name = "{name}"{more}')
    return {**found, "20,000 paths, LKC": paths / "lkc.toml"}


def compared(versions: Mapping[str, Version], place: Path) -> str:
    """First and second run of every case by every version, in turn."""
    rows = []
    for title, asked in cases(place).items():
        found = {name: [one.release(asked) for _ in range(2)] for name, one in versions.items()}
        now = found["now"]
        cells = [f"{run.cpu:.1f} s" for runs in found.values() for run in runs]
        cells += [f"{max(run.peak_mb for run in runs):,.0f} MB" for runs in found.values()]
        ratio = f"{found['before'][1].cpu / now[1].cpu:.1f}" if "before" in found else "-"
        aim = AIMS.get(title.replace(subject().name, "Adult"))
        rows.append([title, *cells, ratio, "-" if aim is None else f"{aim:g} s"])
        print(rows[-1], file=sys.stderr, flush=True)
    heads = [f"{name}, {run}" for name in versions for run in ("first", "second")]
    heads += [f"{name}, peak" for name in versions]
    return table("Whole releases, CPU and peak memory", ["release", *heads, "ratio", "aim"], rows)


def peers(now: Version, place: Path) -> str:
    """ANJANA's k-anonymity as a whole process beside ours, in turn."""
    python = installed(place / "anjana")
    if python is None:
        return "ANJANA could not be installed here.\n"
    import json

    one = subject()
    task = {
        "data": str(place / "adult" / "data.csv"),
        "hierarchies": {name: str(path.resolve()) for name, path in one.hierarchies.items()},
        "k": 5, "percent": 4.0, "repeat": 1, "out": str(place / "anjana.csv"),
    }  # fmt: skip
    (place / "task.json").write_text(json.dumps(task))
    script = str(Path(__file__).with_name("anjana_peer.py"))
    turns = [
        (used([str(python), script, str(place / "task.json")], {}), now.release(place / "adult" / "optimal.toml"))
        for _ in range(3)
    ]
    theirs, ours = (min((turn[side] for turn in turns), key=lambda run: run.cpu) for side in (0, 1))
    rows = [
        ["ANJANA, k-anonymity: rows in a file", f"{theirs.cpu:.1f} s", f"{theirs.peak_mb:,.0f} MB", "1"],
        [
            "sfumato, optimal: a bundle, verified and attacked, with reports", f"{ours.cpu:.1f} s",
            f"{ours.peak_mb:,.0f} MB", f"{theirs.cpu / ours.cpu:.1f}",
        ],
    ]  # fmt: skip
    return table(f"{one.name}, k = 5, 4 % suppressed, beside a peer", ["process", "CPU", "peak", "ratio"], rows)


def growth(now: Version, place: Path) -> str:
    """CPU and memory from ten thousand to five million hard rows; draws the docs' picture."""
    one, rows = subject(), []
    points: Points = {name: [] for name in GROWN}
    memory: Points = {name: [] for name in GROWN}
    for many in SIZES:
        folder = place / f"grown-{many}"
        folder.mkdir()
        blown = one.times(many)
        blown.frame.write_csv(folder / "data.csv")
        line = [f"{many:,}"]
        for name in GROWN:
            more = "\nmax_suppressed = 0.04" if name == "optimal" else ""
            found = now.release(plan(blown, folder, name, f'name = "{name}"{more}'))
            points[name].append((many, found.cpu))
            memory[name].append((many, found.peak_mb / 1024))
            line += [f"{found.cpu:.1f} s", f"{found.peak_mb:,.0f} MB"]
        rows.append(line)
        print(line, file=sys.stderr, flush=True)
    drawn(points, memory)
    heads = [text for name in GROWN for text in (name, "peak")]
    return table("Growth with hard rows", ["rows", *heads], rows)


def drawn(points: Points, memory: Points) -> None:
    """CPU and memory by rows."""
    ticks = (10_000, 100_000, 1_000_000, 5_000_000)
    sides = (("CPU of a whole release", points, (1, 10, 100), " s"), ("Peak memory", memory, (0.1, 0.3, 1, 3), " GB"))
    panels = [
        Panel(
            title=title,
            lines=[Line(name=name, points=found[name], tone=tone) for name, tone in zip(GROWN, TONES, strict=False)],
            x="rows",
            ticks=ticks,
            y=marks,
            unit=unit,
        )
        for title, found, marks, unit in sides
    ]
    save([panels], "whole-processes.svg", width=480, height=260)


def main(old: Path | None = None) -> str:
    """The three tables."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        now = Version(folder=HERE, cache=place / "cache-now")
        versions = {"now": now}
        if old is not None:
            versions = {"before": Version(folder=old, cache=place / "cache-before"), **versions}
        for one in versions.values():
            one.ahead()
        return "\n".join([compared(versions, place), peers(now, place), growth(now, place)])


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None))
