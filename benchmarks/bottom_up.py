"""Bottom-up generalization in its three modes on Adult enlarged as in the paper: growth with K, sigma and rho."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import table, timed
from pictures import TONES, Line, Panel, save
from sfumato.algorithms.bottom_up import BottomUp
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Problem
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import ClassificationMetric, LossMetric
from sfumato.models.k_anonymity import KAnonymity
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from sfumato.tables.datasets.uci_adult import adult, adult_folder
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_files import Paths, read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Column, Table
from tables import ROOT

NAMES = ("occupation", "education", "native-country", "marital-status", "sex", "race", "workclass")
"""The seven categorical attributes of the paper."""
MODES = ("pruning", "index", "plain")
KS, SIGMAS, RHOS = (10, 25, 50, 100, 150, 200, 250, 500), (10, 15, 20, 25, 30), (3, 4, 5, 6, 7)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"score": "information"},
    {"score": "loss-privacy"},
    {"score": "loss"},
    {"partial": True},
    {"score": "loss-privacy", "partial": True},
    {"score": "loss-privacy", "suppress": True},
    {"score": "loss-privacy", "partial": True, "suppress": True},
    {"beam": 4},
    {"beam": 16},
    {"score": "loss-privacy", "beam": 2},
    {"score": "loss-privacy", "beam": 4},
    {"score": "loss-privacy", "beam": 16},
    {"score": "loss-privacy", "partial": True, "beam": 4},
    {"escapes": 20},
    {"escapes": 100},
    {"score": "loss-privacy", "escapes": 20},
    {"score": "loss-privacy", "partial": True, "escapes": 20},
)


class Enlarged:
    """Adult with variations of every record, each with random leaves in some attributes chosen at random."""

    def __init__(self) -> None:
        """Read the table and its hierarchies; without the real Adult, the bundled census."""
        real = adult_folder() is not None
        frame = adult() if real else census(45_222, seed=1)
        folder = ROOT / "adult" / "hierarchies" / "arx"
        files = census_hierarchies() if not real else {n: folder / f"adult_hierarchy_{n}.csv" for n in NAMES}
        self.name = "Adult" if real else "census"
        loaded = Table(frame=frame.select(*NAMES, "income"))
        self.target = loaded.column("income")
        self.paths = [_known(read_hierarchy(Path(files[n])), loaded.column(n)) for n in NAMES]
        self.columns = [_over(loaded.column(n), paths) for n, paths in zip(NAMES, self.paths, strict=True)]

    def problem(self, sigma: int, rho: int, k: int = 150, seed: int = 1) -> Callable[[], Problem]:
        """The enlarged rows; calling it groups them and builds the hierarchies."""
        drawn = self._drawn(sigma, rho, np.random.Generator(np.random.PCG64(seed)))
        rows = drawn.shape[1]
        quasi = [_kept(replace(c, codes=codes)) for c, codes in zip(self.columns, drawn, strict=True)]
        counted = replace(self.target, codes=np.tile(self.target.codes, rows // len(self.target.codes)))

        def grouped() -> Problem:
            made = cells(quasi, [counted]).classes
            return Problem(
                cells=made,
                hierarchies=tuple(self._hierarchy(c, p) for c, p in zip(quasi, self.paths, strict=True)),
                models=(KAnonymity(k=k),),
                metric=LossMetric(),
                target="income",
            )

        return grouped

    def _hierarchy(self, column: Column, paths: Paths) -> Hierarchy:
        return paths.build(ObservedDomain.of(column))

    def _drawn(self, sigma: int, rho: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Columns x rows: the original records, then sigma - 1 variations of each."""
        base = np.array([c.codes for c in self.columns], np.int32)
        more = np.tile(base, sigma - 1)
        changed = np.argsort(rng.random(more.shape), axis=0) < rho
        leaves = np.array([[len(c.values)] for c in self.columns])
        random = (rng.random(more.shape) * leaves).astype(np.int32)
        return np.concatenate([base, np.where(changed, random, more)], axis=1)


def _known(paths: Paths, column: Column) -> Paths:
    """The hierarchy with a leaf of its own for a value that it does not have."""
    bare = {value: () for value in column.values if value not in paths.paths}
    return replace(paths, paths={**paths.paths, **bare})


def _over(column: Column, paths: Paths) -> Column:
    """The column with every leaf of its hierarchy among its values."""
    values = (*column.values, *(leaf for leaf in paths.paths if leaf not in column.values and leaf != "?"))
    return replace(column, values=values)


def _kept(column: Column) -> Column:
    """Only the values that occur."""
    used, codes = np.unique(column.codes, return_inverse=True)
    return replace(column, values=tuple(column.values[v] for v in used), codes=codes.reshape(-1).astype(np.int32))


def row(made: Callable[[], Problem], k: int, modes: tuple[str, ...] = MODES) -> tuple[list[str], list[float]]:
    """One line: grouping, then each mode on the same cells, the index build included."""
    problem, building = timed(made)
    problem = replace(problem, models=(KAnonymity(k=k),))
    found = {mode: timed(lambda mode=mode: BottomUp(mode=mode)(problem, Work())) for mode in modes}
    trails = {(outcome.trail, outcome.loss) for outcome, _ in found.values()}
    if len(trails) != 1:
        raise SystemExit("the modes took different steps")
    efforts = [outcome.effort for outcome, _ in found.values()]
    times = [cost.cpu for _, cost in found.values()]
    best = found[modes[0]][0]
    cells_ = [
        f"{problem.cells.rows:,}",
        f"{problem.cells.count:,}",
        f"{len(best.trail.steps)}",
        f"{best.loss:.4f}",
        " / ".join(f"{effort['counted']:,}" for effort in efforts),
        f"{building.cpu:.2f} s",
        *(f"{seconds:.2f} s" for seconds in times),
    ]
    return cells_, times


def by_options(subject: Enlarged) -> str:
    """What the options bring on the table itself, K = 50."""
    problem = replace(subject.problem(1, 3)(), models=(KAnonymity(k=50),))
    BottomUp()(problem, Work())  # compiled before anything is measured
    rows = []
    for options in OPTIONS:
        found, cost = timed(lambda options=options: BottomUp(**options)(problem, Work()))
        view = found.recoding(problem).view(problem, found.suppressed)
        rows.append(
            [
                ", ".join(f"{key} = {str(value).lower()}" for key, value in options.items()) or "(none)",
                str(len(found.trail.steps)),
                f"{view.classes.count:,}",
                f"{found.loss:.4f}",
                f"{ClassificationMetric().measure(view):.4f}",
                f"{cost.cpu:.2f} s",
            ]
        )
    best = optimal(problem, Work())
    view = best.recoding(problem).view(problem, best.suppressed)
    measure = f"{ClassificationMetric().measure(view):.4f}"
    rows.append(["algorithm optimal", "", f"{view.classes.count:,}", f"{best.loss:.4f}", measure, ""])
    headers = ["options", "steps", "classes", "loss", "classification metric", "CPU"]
    return table(f"Bottom-up's options, {subject.name}, {problem.cells.rows:,} records, K = 50", headers, rows)


def main() -> str:
    """All tables and the picture."""
    subject = Enlarged()
    warm = subject.problem(2, 3)()
    for mode in MODES:
        BottomUp(mode=mode)(warm, Work())
    headers = ["records", "vids", "steps", "loss", "counted out", "grouping", *(f"{mode}" for mode in MODES)]
    parts, panels = [], []
    for name, title, values, make in (
        ("K", "sigma = 10, rho = 3", KS, lambda k: (subject.problem(10, 3), k)),
        ("sigma", "K = 150, rho = 3", SIGMAS, lambda sigma: (subject.problem(sigma, 3), 150)),
        ("rho", "K = 150, sigma = 3", RHOS, lambda rho: (subject.problem(3, rho), 150)),
    ):
        rows = [(value, *row(*make(value))) for value in values]
        lines = [[str(value), *line] for value, line, _ in rows]
        parts.append(table(f"Bottom-up on {subject.name}, {title}, CPU seconds", [name, *headers], lines))
        panels.append(_panel(f"{name} ({title})", values, [times for _, _, times in rows]))
    save([panels], "bottom-up.svg")
    return "\n".join([*parts, by_options(subject)])


def _panel(title: str, values: tuple[int, ...], times: list[list[float]]) -> Panel:
    lines = [
        Line(name=mode, points=[(v, t[i]) for v, t in zip(values, times, strict=True)], tone=TONES[i])
        for i, mode in enumerate(MODES)
    ]
    ticks = [value for value in values if value not in (150, 200)]
    x = title.partition(" ")[0]
    return Panel(title=title, lines=lines, x=x, ticks=ticks, y=(0.01, 0.1, 1, 10, 100), unit=" s")


if __name__ == "__main__":
    print(by_options(Enlarged()) if sys.argv[1:] == ["options"] else main())
