"""Top-down specialization: against recounting all rows, and its growth with records, attributes, L and K."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from measure import table, timed
from pictures import TONES, Line, Panel, save
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.algorithms.top_down import TopDown
from sfumato.algorithms.top_down.columns import Column, columns, counted
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import JointCells
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models.lkc import LKCPrivacy
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from sfumato.tables.datasets.uci_adult import adult, adult_folder
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table

SENSITIVE, CLASS = "marital-status", "income"
VARIED = 3
"""In so many columns a variation of a record has values drawn at random from all that the column has."""


@dataclass(frozen=True, kw_only=True)
class People:
    """The thesis's table: 13 quasi-identifiers, marital status sensitive, income as the class."""

    name: str
    frame: pl.DataFrame

    @property
    def quasi(self) -> list[str]:
        """All columns but two."""
        return [name for name in self.frame.columns if name not in (SENSITIVE, CLASS)]

    def times(self, rows: int) -> People:
        """Every record, and variations of it until there are so many rows."""
        rng = np.random.Generator(np.random.PCG64(1))
        more = max(rows - self.frame.height, 0)
        place = np.concatenate([np.arange(min(rows, self.frame.height)), np.arange(more) % self.frame.height])
        varied = np.argsort(rng.random((more, len(self.quasi))), axis=1) < VARIED
        blown = self.frame[place]
        for c, name in enumerate(self.quasi):
            leaves = self.frame[name].unique().sort()
            drawn = leaves.gather(rng.integers(len(leaves), size=more))
            kept = pl.concat([pl.repeat(True, rows - more, eager=True), pl.Series(~varied[:, c])])
            other = pl.concat([self.frame[name][: rows - more], drawn])
            blown = blown.with_columns(blown[name].zip_with(kept, other))
        return People(name=f"{self.name}, {rows:,} records", frame=blown)

    def problem(self, names: Sequence[str] | None = None) -> Problem:
        """Taxonomies for what is text; the intervals of numbers are grown."""
        loaded = Table(frame=self.frame)
        quasi = [loaded.column(name) for name in names or self.quasi]
        files = census_hierarchies()
        hierarchies = [
            (Grown() if c.kind == "integer" else read_hierarchy(files[c.name])).build(ObservedDomain.of(c))
            for c in quasi
        ]
        made = cells(quasi, [loaded.column(SENSITIVE), loaded.column(CLASS)]).classes
        return Problem(
            cells=replace(made, measures=measures(made)),
            hierarchies=tuple(hierarchies),
            models=(),
            metric=LossMetric(),
            target=CLASS,
            numbers=tuple(c.numbers if c.kind == "integer" else None for c in quasi),
        )


def people() -> People:
    """Adult's 45,222 complete records, or as many of the bundled census."""
    known = adult_folder() is not None
    return People(name="Adult", frame=adult()) if known else People(name="census", frame=census(45_222, seed=1))


def asked(given: Problem, *, l: int = 4, k: int = 20, c: float = 1.0) -> Problem:
    """The problem with LKC-privacy."""
    model = LKCPrivacy(l=l, k=k, c=c, column=SENSITIVE, values=("Divorced", "Separated"))
    return replace(given, models=(model,))


class Plain:
    """The same search by recounting: every round, candidates are tried on all rows, best first, until one is valid."""

    def __init__(self, given: Problem, l: int, k: int) -> None:
        """All rows at the top."""
        self.l, self.k = l, k
        found = counted(given, JointCells(cells=given.cells), "gain")
        self.columns: tuple[Column, ...] = columns(given, "gain", found)
        self.codes = [np.repeat(codes, given.cells.sizes) for codes in given.cells.keys]

    def run(self) -> list[tuple[int, int]]:
        """The labels that were specialized, by column and number."""
        steps: list[tuple[int, int]] = []
        while (found := self._best()) is not None:
            place, value = found
            self.columns[place].take(self.columns[place].split(value))
            steps.append(found)
        return steps

    def _best(self) -> tuple[int, int] | None:
        waiting = [
            (-round(column.gain(value), 12), place, column.rank(value))
            for place, column in enumerate(self.columns)
            for value in np.unique(column.of_code).tolist()
            if column.is_open(value)
        ]
        for _, place, (_, value) in sorted(waiting):
            if self._valid(place, value):
                return place, value
        return None

    def _valid(self, place: int, value: int) -> bool:
        rows = [column.of_code[codes] for column, codes in zip(self.columns, self.codes, strict=True)]
        split = self.columns[place].split(value)
        under = rows[place] == value
        rows[place] = np.where(under, split.values[split.child_of][self.codes[place]], rows[place])
        return all(_smallest([rows[c] for c in choice]) >= self.k for choice in combinations(range(len(rows)), self.l))


def _smallest(rows: Sequence[NDArray[np.int32]]) -> int:
    """The rows of the smallest group."""
    keys, space = np.zeros(len(rows[0]), np.int64), 1
    for labels in rows:
        radix = int(labels.max()) + 1
        keys, space = keys * radix + labels, space * radix
    if space <= 2**22:
        counts = np.bincount(keys)
        return int(counts[counts > 0].min())
    return int(np.unique(keys, return_counts=True)[1].min())


def row(name: str, given: Problem, score: str = "gain", **parameters: float) -> tuple[list[str], float, Outcome]:
    """One line: the search alone, CPU seconds."""
    wanted = asked(given, **parameters)  # type: ignore[arg-type]
    found, cost = timed(lambda: TopDown(score=score)(wanted, Work()), repeat=2)  # type: ignore[arg-type]
    effort = found.effort
    line = [
        name,
        score,
        f"{effort['specializations']}",
        f"{effort['tested']}",
        f"{effort['partitions']:,}",
        f"{effort['choices_counted']:,}",
        f"{found.loss:.4f}",
        f"{cost.cpu:.2f} s",
    ]
    return line, cost.cpu, found


HEADERS = ["score", "specializations", "tried", "leaf partitions", "choices counted", "loss", "search, CPU"]
SCORES = ("gain", "discernibility")


def against_recounting(small: People) -> str:
    """Both make the same steps; seconds of CPU."""
    rows = []
    for one, many, l in ((small, 6, 2), (small, 9, 3), (small, 13, 4), (small.times(200_000), 13, 4)):
        given = one.problem(one.quasi[:many])
        line, quick, found = row("", given, l=l)
        steps, slow = timed(Plain(given, l, 20).run)
        names = [given.cells.quasi[place] for place, _ in steps]
        if found.trail is None or names != [step.column for step in found.trail.steps]:
            raise SystemExit("top-down and the plain search differ")
        rows.append(
            [
                f"{one.frame.height:,}",
                many,
                l,
                line[2],
                line[3],
                line[7],
                f"{slow.cpu:.1f} s",
                f"{slow.cpu / quick:.0f}",
            ]
        )
    headers = [
        "records",
        "attributes",
        "L",
        "specializations",
        "tried",
        "incremental, CPU",
        "recounting all rows, CPU",
        "ratio",
    ]
    return table(f"Top-down specialization against recounting, {small.name}, K = 20, C = 100 %", headers, rows)


def by_records(small: People) -> str:
    """From Adult to a million records, as in figure 3.7 of the thesis; draws the docs' picture."""
    rows, points = [], {score: [] for score in SCORES}
    for many in (small.frame.height, 200_000, 400_000, 600_000, 800_000, 1_000_000):
        given = small.times(many).problem()
        for score in SCORES:
            line, cpu, _ = row(f"{many:,}", given, score)
            points[score].append((many, cpu))
            rows.append(line)
    lines = [Line(name=score, points=points[score], tone=tone) for score, tone in zip(SCORES, TONES, strict=False)]
    drawn = Panel(
        title="Search, seconds of CPU, by records (L = 4, K = 20, C = 100 %)",
        lines=lines,
        x="records",
        ticks=(40_000, 100_000, 200_000, 400_000, 1_000_000),
        y=(0.01, 0.1, 1, 10, 100),
        unit=" s",
    )
    save([[drawn]], "top-down-records.svg", width=560, height=260)
    return table(f"Top-down by records, {small.name} blown up, L = 4, K = 20, C = 100 %", ["records", *HEADERS], rows)


def by_parameters(given: Problem, name: str) -> str:
    """L, K and C."""
    rows = []
    for l in (2, 4, 6, 8, 13):
        rows += [row(f"L = {l}, K = 20, C = 100 %", given, score, l=l)[0] for score in SCORES]
    for k in (2, 100, 1000):
        rows += [row(f"L = 4, K = {k}, C = 100 %", given, score, k=k)[0] for score in SCORES]
    for c in (0.5, 0.2):
        rows += [row(f"L = 4, K = 20, C = {100 * c:.0f} %", given, score, c=c)[0] for score in SCORES]
    return table(f"Top-down by L, K and C, {name}", ["requirement", *HEADERS], rows)


def by_attributes(blown: People) -> str:
    """The first attributes of the table."""
    rows = [row(f"{many}", blown.problem(blown.quasi[:many]), score)[0] for many in (4, 7, 10, 13) for score in SCORES]
    return table(f"Top-down by attributes, {blown.name}, L = 4, K = 20, C = 100 %", ["attributes", *HEADERS], rows)


def growth(text: str) -> None:
    """The picture of the tables: seconds by attributes, L and K, for both scores."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    panels = [
        _panel("by attributes, L = 4, K = 20", "attributes", lines, r"(\d+)", (4, 7, 10, 13)),
        _panel("by L, K = 20", "L", lines, r"L = (\d+), K = 20, C = 100 %", (2, 4, 6, 8, 13)),
        _panel("by K, L = 4", "K", lines, r"L = 4, K = (\d+), C = 100 %", (2, 20, 100, 1000)),
    ]
    save([panels], "top-down-growth.svg")


def _panel(title: str, x: str, lines: Sequence[Sequence[str]], key: str, at: Sequence[int]) -> Panel:
    found: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        match = re.fullmatch(key, line[0])
        if match and len(line) == 8 and int(match[1]) in at and line[1] in ("gain", "discernibility"):
            found.setdefault(line[1], []).append((float(match[1]), float(line[-1].removesuffix(" s"))))
    made = [Line(name=n, points=sorted(set(p)), tone=TONES[i]) for i, (n, p) in enumerate(found.items())]
    return Panel(title=title, lines=made, x=x, ticks=at, y=(0, 1, 2, 3, 4), unit=" s", log_x=x == "K", log_y=False)


def main() -> str:
    """All tables."""
    small = people()
    TopDown()(asked(small.problem()), Work())  # compiled, or read from where it was kept
    blown = small.times(200_000)
    parts = [
        against_recounting(small),
        by_records(small),
        by_parameters(blown.problem(), blown.name),
        by_attributes(blown),
    ]
    growth("\n".join(parts))
    return "\n".join(parts)


if __name__ == "__main__":
    print(main())
