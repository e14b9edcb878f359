"""What several experiments share: Adult or its stand-in, lines to compare with, growing sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.reports.papers import Beside, Grid, Shown
from sfumato.reports.plots import Line, Panel, ticks_over
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.datasets.uci_adult import adult, adult_folder

# The data of the experiments: Adult where its files are, otherwise a stand-in that says so.


RECORDS, TRAINING = 45_222, 30_162
"""Adult's complete records, and how many of them documents train on."""
CLASS, RICH = "income", ">50K"
RANGES: Mapping[str, tuple[int, int]] = {
    "age": (15, 95),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 20),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 100),
}
"""The ends of the numeric attributes, as the taxonomies of the documents have them."""
_SPELT = {"marital-status": "martial-status"}
"""As the files have it."""
_TREES = Path("hierarchies") / "fung"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdultData:
    """The rows, their taxonomies, and what both are."""

    frame: pl.DataFrame
    """The training rows first."""
    folder: Path | None
    """Where the taxonomies of the documents' authors are."""
    words: str
    """What these rows are."""

    @property
    def training(self) -> int:
        """How many rows, from the first on, a learner learns from."""
        return TRAINING if self.frame.height == RECORDS else 2 * self.frame.height // 3

    def tree(self, name: str, file: str = "pais_adult.hchy") -> dict[str, Any]:
        """A categorical attribute's hierarchy, as a plan names it."""
        if self.folder is None:
            return {"bundled": f"census/{name}"}
        return {"file": str(self.folder / file), "attribute": _SPELT.get(name, name)}


@cache
def adult_data() -> AdultData:
    """Adult, or a synthetic census of the same columns and as many rows."""
    place = adult_folder()
    if place is None:
        words = "A synthetic census with Adult's columns stands in: the UCI Adult files are not here."
        return AdultData(frame=census(RECORDS, seed=1), folder=None, words=words)
    frame, trees = adult(folder=place), (place / _TREES).resolve()
    if not trees.is_dir():
        words = f"UCI Adult, {frame.height:,} complete records, with sfumato's own taxonomies."
        return AdultData(frame=frame, folder=None, words=words)
    words = f"UCI Adult, {frame.height:,} complete records, with the taxonomies of the documents' authors."
    return AdultData(frame=frame, folder=trees, words=words)


def varied(frame: pl.DataFrame, rows: int, kept: tuple[str, ...]) -> pl.DataFrame:
    """The rows and variations of them, so many in all: a fifth of their values is drawn anew from the column."""
    rng = Chance(seed=3).generator()
    copies = frame[rng.integers(0, frame.height, rows - frame.height)]
    columns = []
    for name in frame.columns:
        drawn = frame[name][rng.integers(0, frame.height, copies.height)]
        keep = pl.Series(rng.random(copies.height) < (1.0 if name in kept else 0.8))
        columns.append(copies[name].zip_with(keep, drawn).alias(name))
    return pl.concat([frame, pl.DataFrame(columns)])


# What several figures share: lines to compare with, and time that grows with the records.


LEARNER = "The document learns by C4.5, here by scikit-learn's tree with pruning."
_MORE = 1.5
"""Time a record may take so many times as long in the largest table as in the smallest."""


def flat(ends: Sequence[float], named: Mapping[str, float]) -> list[Line]:
    """Dashed lines at some heights."""
    return [
        Line(name=name, points=[(x, y) for x in (ends[0], ends[-1])], tone=-1, dashed=True) for name, y in named.items()
    ]


def by_epsilon(
    shares: Mapping[tuple[str, str], float],
    named: Mapping[str, str],
    epsilons: Sequence[str],
    compared: Mapping[str, float],
    title: str,
) -> Panel:
    """Shares in per cent by budget, a line for each name."""
    budgets = [float(e) for e in epsilons]
    lines = [
        Line(name=name, points=[(float(e), shares[key, e]) for e in epsilons], tone=n)
        for n, (key, name) in enumerate(named.items())
    ]
    heights = ticks_over([*shares.values(), *compared.values()])
    lines += flat(budgets, compared)
    return Panel(title=title, lines=lines, x="epsilon", ticks=budgets, y=heights, unit=" %", log_x=True)


def growth(
    sizes: Sequence[int],
    seconds: Callable[[int], Mapping[str, float]],
    work: Work,
    *,
    main: str,
    title: str,
    data: str,
    comparisons: Callable[[Mapping[tuple[str, int], float]], Sequence[Beside]],
) -> Shown:
    """Seconds of CPU by size; ``seconds`` measures one size, ``main`` is the line whose growth is looked at."""
    times: dict[tuple[str, int], float] = {}
    for number, size in enumerate(sizes):
        work.advance("sizes", number, len(sizes))
        times |= {(name, size): took for name, took in seconds(size).items()}
    names = list(dict.fromkeys(name for name, _ in times))
    first, last = (1e6 * times[main, size] / size for size in (sizes[0], sizes[-1]))
    linear = Beside(
        what="time grows no faster than the records",
        theirs="linearly",
        ours=f"{first:.1f} and {last:.1f} s a million",
        holds=last <= _MORE * first,
    )
    chart = Panel(
        title=f"seconds of CPU, {title}",
        lines=[Line(name=name, points=[(x, times[name, x]) for x in sizes], tone=n) for n, name in enumerate(names)],
        x="records",
        ticks=sizes,
        y=ticks_over([0.0, *times.values()]),
        unit=" s",
    )
    rows = [[f"{size:,}", *(f"{times[name, size]:.2f} s" for name in names)] for size in sizes]
    grid = Grid(title="every size", heads=["records", *names], rows=rows)
    return Shown(data=data, beside=[*comparisons(times), linear], grids=[grid], panels=[chart])


def sizes_of(full: bool, quick: tuple[int, ...]) -> tuple[int, ...]:
    """200,000 records to a million, as in the thesis; or a few."""
    return (200_000, 400_000, 600_000, 800_000, 1_000_000) if full else quick
