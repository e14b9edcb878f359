"""The constants of noisy marginals, on tables that no other figure is about."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measure import table
from private_tables import Labelled, labelled, marginals
from sfumato.algorithms.marginals import choices, noisy_marginals
from tables import ROOT

Frame = pl.DataFrame
RUNS = 3
EPSILONS = ("0.1", "0.25", "1")
ALONE_WITHOUT = noisy_marginals.ALONE[False]


def made_up(rows: int, columns: int, seed: int, shares: Sequence[float]) -> Labelled:
    """Columns that depend on each other, and a class with these shares that eight of them, at most, tell about."""
    dice = np.random.default_rng(seed)
    sizes = [int(one) for one in dice.choice([2, 3, 5, 8, 15, 25, 45], columns)]
    codes = np.zeros((columns, rows), np.int32)
    for place, size in enumerate(sizes):
        base = 1 / np.arange(1, size + 1) ** dice.uniform(0.5, 2.5)
        base /= base.sum()
        if place and dice.random() < 0.8:
            above = int(dice.integers(place))
            given = np.array([dice.dirichlet(base * dice.choice([2, 8, 30]) + 1e-3) for _ in range(sizes[above])])
            ends = given.cumsum(axis=1)[codes[above]]
            codes[place] = (ends < dice.random(rows)[:, None]).sum(axis=1).clip(0, size - 1)
        else:
            codes[place] = dice.choice(size, rows, p=base)
    score = dice.normal(0, 1, rows)
    for rank, place in enumerate(dice.choice(columns, min(8, columns), replace=False)):
        score += dice.normal(0, 2 * 0.75**rank, sizes[place])[codes[place]]
    ends = np.quantile(score, np.cumsum(shares)[:-1])
    kinds = np.searchsorted(ends, score)
    frame = pl.DataFrame({f"c{n}": [f"v{one:02d}" for one in codes[n]] for n in range(columns)})
    name = f"made up, {len(shares)} classes, {100 * shares[-1]:.0f} %"
    full = frame.with_columns(pl.Series("class", [f"k{one}" for one in kinds]))
    return labelled(name, full, "class", {}, rows * 2 // 3, rows // 3)


def read(path: Path, **how: Any) -> Frame:
    """A file of texts, in an order that is drawn."""
    return pl.read_csv(path, infer_schema=False, **how).drop_nulls().sample(fraction=1.0, shuffle=True, seed=1)


def numbers(frame: Frame, *names: str) -> Frame:
    """Some columns as whole numbers."""
    return frame.with_columns(pl.col(name).cast(pl.Float64).round().cast(pl.Int64) for name in names)


def halves(name: str, frame: Frame, target: str, ranges: dict[str, Any]) -> Labelled:
    """Two thirds for training."""
    return labelled(name, frame, target, ranges, len(frame) * 2 // 3, len(frame) // 3)


def cup() -> Labelled:
    """Donors: what they gave; the class is whether they gave large sums."""
    ranges = {"AGE": (0, 110), "INCOME": (0, 10_000), "NGIFTALL": (0, 250), "MINRAMNT": (0, 1_000)}
    frame = numbers(read(ROOT / "arx" / "cup.csv.gz", separator=";").drop("ZIP"), *ranges, "RAMNTALL")
    large = pl.when(pl.col("RAMNTALL") > 150).then(pl.lit("more")).otherwise(pl.lit("less")).alias("RAMNTALL")
    return halves("CUP", frame.with_columns(large), "RAMNTALL", ranges)


def fars() -> Labelled:
    """Fatal accidents; the class is the injury."""
    frame = numbers(read(ROOT / "arx" / "fars_subset.csv", separator=";"), "iage")
    return halves("FARS", frame, "iinjury", {"iage": (0, 99)})


TABLES: tuple[Callable[[], Labelled], ...] = (
    lambda: made_up(60_000, 30, 5, (0.94, 0.06)),
    lambda: made_up(45_000, 14, 9, (0.75, 0.25)),
    lambda: made_up(20_000, 10, 11, (0.55, 0.45)),
    lambda: made_up(15_000, 8, 13, (0.4, 0.3, 0.2, 0.1)),
    cup,
    fars,
)
TRIED: dict[str, dict[str, Any]] = {
    "as they are": {},
    "attributes alone 1/10, core 7/20": {
        "ALONE": {True: Fraction(1, 10), False: ALONE_WITHOUT},
        "CORE": Fraction(7, 20),
    },
    "attributes alone 1/5, core 1/4": {"ALONE": {True: Fraction(1, 5), False: ALONE_WITHOUT}, "CORE": Fraction(1, 4)},
    "core 1/5, further attributes 1/2": {"CORE": Fraction(1, 5), "CLASSED": Fraction(1, 2)},
    "core 2/5, further attributes 3/10": {"CORE": Fraction(2, 5), "CLASSED": Fraction(3, 10)},
    "core of 2": {"MOST": 2},
    "core of 4": {"MOST": 4},
    "2 further attributes": {"ROUNDS": 2},
    "6 further attributes": {"ROUNDS": 6},
    "price of the core 0.02": {"PRICE": 0.02},
    "price of the core 0.15": {"PRICE": 0.15},
    "noise half of the rows told apart": {"NOISY": 0.5},
}
"""Constants of the modules, by name; all of them have their own values elsewhere."""
HOMES = {
    "ALONE": noisy_marginals,
    "CORE": noisy_marginals,
    "CLASSED": noisy_marginals,
    "MOST": choices,
    "ROUNDS": choices,
    "NOISY": choices,
    "PRICE": choices,
}


@contextmanager
def having(values: dict[str, Any]) -> Iterator[None]:
    """Other constants, for a while."""
    before = {name: getattr(HOMES[name], name) for name in values}
    try:
        for name, value in values.items():
            setattr(HOMES[name], name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(HOMES[name], name, value)


def line(name: str, values: dict[str, Any], tables: Sequence[Labelled]) -> list[str]:
    """Means over all tables and runs, for every epsilon."""
    found = [name]
    for epsilon in EPSILONS:
        with having(values):
            runs = [marginals(of, epsilon, None) for of in tables for _ in range(RUNS)]
        means = [np.mean([one[key] for one in runs if key in one]) for key in ("accuracy", "AUC", "two-way")]
        found.append(" / ".join(f"{one:.1f}" for one in means))
    print(found, file=sys.stderr, flush=True)
    return found


def main() -> str:
    """The table, or nothing where the data is not there."""
    if not (ROOT / "arx" / "cup.csv.gz").exists():
        return ""
    tables = [make() for make in TABLES]
    named = ", ".join(f"{of.name} ({of.rows.shape[1]:,} x {len(of.sizes)})" for of in tables)
    heads = ["constants", *(f"epsilon {one}" for one in EPSILONS)]
    title = "Constants of noisy marginals: accuracy / AUC / two-way total variation in %, means of all tables"
    lines = [line(name, values, tables) for name, values in TRIED.items()]
    return table(title, heads, lines) + f"\nTables: {named}; {RUNS} runs each. AUC: tables with two classes.\n"


if __name__ == "__main__":
    print(main())
