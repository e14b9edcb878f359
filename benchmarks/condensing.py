"""Condensation of numbers next to Mondrian at the same k: covariances, a learner's accuracy, and the time."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

import sfumato as sf
from measure import table, timed
from pictures import Panel, save
from sfumato.algorithms.condensation import Condense, CondenseProblem
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import compatibility
from sfumato.reports.plots import Line, ticks_over
from sfumato.tables.datasets.uci_adult import adult_folder

SIZES = (5, 10, 20, 50, 100)
SPLITS = 5
ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
DEALT = {"Adult, gains dealt": {"capital-gain", "capital-loss"}}
"""Columns that are nearly always 0: in the second run they are dealt out like words."""
CLASSES = {"CASCrefmicrodata": "FEDTAX", "Tarragona": "NET.PROFIT"}
"""The column whose upper half is the class, for tables that have none."""
ROWS, COLUMNS, FEW = 1_000_000, 10, 2_000
WAYS: dict[str, dict[str, Any]] = {
    "MDAV": {"groups": "mdav"},
    "k-means": {"groups": "k-means"},
    "MDAV, class by class": {"groups": "mdav", "per_class": True},
}


def tables() -> dict[str, list[tuple[pl.DataFrame, pl.DataFrame]]]:
    """Training and test rows, the class in the column ``class``; several splits where a table has none of its own."""
    whole = sf.datasets.adult().select(*ADULT, pl.col("income").alias("class"))
    found = {name: [(whole[:30162], whole[30162:])] for name in ("Adult", *DEALT)}
    folder = adult_folder()
    assert folder is not None
    for name, column in CLASSES.items():
        frame = pl.read_csv(Path(folder).parent / "sdcmicro" / f"{name}.csv")
        upper = (pl.col(column) > frame[column].median()).cast(pl.String).alias("class")
        frame = frame.with_columns(upper).drop(column)
        orders = [np.random.default_rng(seed).permutation(frame.height) for seed in range(SPLITS)]
        cut = 2 * frame.height // 3
        found[name] = [(frame[order[:cut]], frame[order[cut:]]) for order in orders]
    return found


def condensed(frame: pl.DataFrame, k: int, options: dict[str, Any], dealt: Set[str] = frozenset()) -> pl.DataFrame:
    """Drawn records, some columns dealt out."""
    columns = {name: {"role": "target" if name == "class" else "quasi"} for name in frame.columns}
    columns |= {name: {"role": "quasi", "type": "category"} for name in dealt}
    plan = {
        "columns": columns,
        "privacy": {"indistinguishable_groups": k},
        "algorithm": {"name": "condense", "seed": 1, **options},
        "attack": {"run": False},
    }
    return sf.release(sf.Plan.parse(plan), frame).rows


def mondrian(frame: pl.DataFrame, k: int) -> pl.DataFrame:
    """The same records with the means of Mondrian's groups."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"kind": "flat"}} for name in frame.columns if name != "class"
    }
    plan = {
        "columns": {**columns, "class": {"role": "target"}},
        "privacy": {"k_anonymity": k},
        "algorithm": {"name": "mondrian", "output": "means", "order": "ordered", "seed": 1},
        "attack": {"run": False},
    }
    return sf.release(sf.Plan.parse(plan), frame).rows.with_columns(pl.col(list(columns)).cast(pl.Float64))


def numbers(frame: pl.DataFrame) -> np.ndarray:
    """The columns but the class, in the order of their names."""
    return frame.select(sorted(name for name in frame.columns if name != "class")).cast(pl.Float64).to_numpy()


def accuracy(train: pl.DataFrame, test: pl.DataFrame) -> float:
    """The share of test records whose class a decision tree tells that saw the training records."""
    learner = DecisionTreeClassifier(min_samples_leaf=25, random_state=0).fit(numbers(train), train["class"].to_numpy())
    return float(learner.score(numbers(test), test["class"].to_numpy()))


def compared(name: str, splits: list[tuple[pl.DataFrame, pl.DataFrame]], k: int) -> dict[str, tuple[float, float]]:
    """Compatibility and accuracy of every way, mean of the splits."""
    found: dict[str, list[tuple[float, float]]] = {}
    for train, test in splits:
        made = {way: condensed(train, k, options, DEALT.get(name, set())) for way, options in WAYS.items()}
        made["Mondrian"] = mondrian(train, k)
        for way, rows in made.items():
            here = compatibility(numbers(train), numbers(rows)), accuracy(rows, test)
            found.setdefault(way, []).append(here)
    return {way: (fmean(one for one, _ in each), fmean(two for _, two in each)) for way, each in found.items()}


def utility() -> str:
    """All tables, all k; draws the picture."""
    ways, rows, panels = (*WAYS, "Mondrian"), [], []
    for name, splits in tables().items():
        whole = fmean(accuracy(train, test) for train, test in splits)
        found = {k: compared(name, splits, k) for k in SIZES}
        for k, each in found.items():
            kept = [f"{each[way][0]:.4f}" for way in ways]
            rows.append([name, k, *kept, f"{whole:.1%}", *(f"{each[way][1]:.1%}" for way in ways)])
        lines = [
            Line(name=way, points=[(k, 100 * found[k][way][1]) for k in SIZES], tone=n) for n, way in enumerate(ways)
        ]
        lines.append(Line(name="original", points=[(k, 100 * whole) for k in SIZES], tone=-1, dashed=True))
        heights = ticks_over([value for line in lines for _, value in line.points])
        axes: dict[str, Any] = {"x": "k", "ticks": SIZES, "y": heights, "unit": " %", "log_y": False}
        panels.append(Panel(title=f"accuracy, {name}", lines=lines, **axes))
    save([panels[:2], panels[2:]], "condensation.svg")
    heads = ["table", "k", *(f"covariances, {way}" for way in ways), "accuracy, original"]
    heads += [f"accuracy, {way}" for way in ways]
    return table("Condensed numbers next to Mondrian's means at the same k", heads, rows)


def zeros() -> str:
    """How many rows keep a capital gain of 0, by class: condensed class by class, drawn and dealt."""
    train = tables()["Adult"][0][0]
    (dealt,) = DEALT.values()
    rows = [["original", "", *_zeros(train)]]
    for k in SIZES:
        for how, apart in (("drawn", set()), ("dealt", dealt)):
            rows.append([how, k, *_zeros(condensed(train, k, WAYS["MDAV, class by class"], apart))])
    return table("Rows of Adult with a capital gain of 0", ["gains", "k", "class <=50K", "class >50K"], rows)


def _zeros(frame: pl.DataFrame) -> list[str]:
    gains = [frame.filter(pl.col("class") == one)["capital-gain"] for one in ("<=50K", ">50K")]
    return [f"{float((each == 0).mean() or 0.0):.1%}" for each in gains]


def naive(points: list[list[float]], k: int, draw: np.random.Generator) -> list[list[float]]:
    """MDAV, moments and draws as they are written down, one record and one number at a time."""

    def apart(one: list[float], other: list[float]) -> float:
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    def mean(rows: list[list[float]]) -> list[float]:
        return [sum(column) / len(rows) for column in zip(*rows, strict=True)]

    left, groups = list(points), []
    while len(left) >= 2 * k:
        for _ in range(2 if len(left) >= 3 * k else 1):
            middle = mean(left)
            far = max(left, key=lambda row, m=middle: apart(row, m))
            left.sort(key=lambda row, f=far: apart(row, f))
            groups.append(left[:k])
            left = left[k:]
    drawn = []
    for group in [*groups, left]:
        middle, width = mean(group), len(group[0])
        products = [[sum(row[i] * row[j] for row in group) for j in range(width)] for i in range(width)]
        covariance = [[products[i][j] / len(group) - middle[i] * middle[j] for j in range(width)] for i in range(width)]
        values, vectors = np.linalg.eigh(np.array(covariance))
        for _ in group:
            along = [draw.uniform(-1, 1) * (3 * max(value, 0.0)) ** 0.5 for value in values]
            drawn.append([m + sum(vectors[i, j] * along[j] for j in range(width)) for i, m in enumerate(middle)])
    return drawn


def speed() -> str:
    """A million rows, and one block of them record by record."""
    draw = Chance(seed=1).generator()
    points = draw.normal(size=(ROWS, 4)) @ draw.normal(size=(4, COLUMNS)) + 0.3 * draw.normal(size=(ROWS, COLUMNS))
    problem = CondenseProblem(numbers=points, classes=np.zeros(ROWS, np.int64), labels=("",))
    rows = []
    for k in (10, 20, 50):
        _, slow = timed(lambda k=k: naive(points[:FEW].tolist(), k, draw))
        literal = slow.cpu * ROWS / FEW
        for way in ("mdav", "k-means"):
            made, ours = timed(lambda k=k, way=way: Condense(k=k, groups=way)(problem, Work()))
            kept = compatibility(points, made.drawn)
            rows.append([way, k, f"{ours.cpu:.1f} s", f"{literal:,.0f} s", f"{literal / ours.cpu:,.0f}", f"{kept:.6f}"])
    heads = ["groups", "k", "CPU", f"CPU of MDAV record by record, from {FEW:,} rows", "ratio", "covariances"]
    return table(f"Condensation of {ROWS:,} rows of {COLUMNS} numbers", heads, rows)


def attacks() -> str:
    """Releases with and without their attacks: numbers of a few digits, and numbers with all of theirs."""
    rows = []
    for many in (200_000, ROWS):
        draw = Chance(seed=1).generator()
        points = 100 * (draw.normal(size=(many, 3)) @ draw.normal(size=(3, 6)) + 0.3 * draw.normal(size=(many, 6)))
        for digits, written in (("one decimal or none", lambda column, at: column.round(at % 2)), ("all", None)):
            columns = [points[:, at] if written is None else written(points[:, at], at) for at in range(6)]
            frame = pl.DataFrame({f"c{at}": column for at, column in enumerate(columns)})
            plan = {
                "columns": {name: {"role": "quasi"} for name in frame.columns},
                "privacy": {"indistinguishable_groups": 20},
                "algorithm": {"name": "condense", "seed": 1},
            }
            without, with_them = (
                timed(lambda run=run, plan=plan, frame=frame: sf.release(sf.Plan.parse({**plan, **run}), frame))[1].cpu
                for run in ({"attack": {"run": False}}, {})
            )
            cost = with_them - without
            rows.append([f"{many:,}", digits, f"{without:.1f} s", f"{cost:.1f} s", f"{cost / without:.1f}"])
    heads = ["rows", "digits of the numbers", "CPU of a release without attacks", "CPU of its attacks", "ratio"]
    return table("Attacks on condensed releases, six columns of numbers, k = 20", heads, rows)


def main() -> str:
    """Utility, what becomes of a spike, time, time of the attacks."""
    return f"{utility()}\n{zeros()}\n{speed()}\n{attacks()}"


if __name__ == "__main__":
    print(main())
