"""A stream of ten million records through the whole command: CPU and peak memory as it grows, and beside naive ones.

A file of ten columns grows to one, two, five and ten million records; at each size ``sfumato stream --finish`` reads it
from its beginning in a process of its own, and writes verified bundles. The naive ones take one record at a time, read,
group, draw and write rows, and make no bundles: one with a step of NumPy for each record, one in plain Python.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from condensing import DEALT, accuracy, condensed, numbers, tables
from measure import Cost, process, table, timed
from sfumato.core.randomness import Chance
from sfumato.metrics.information_loss import compatibility
from sfumato.pipeline.streams import run_stream

HERE = Path(__file__).resolve().parents[1]
MILLION = 1_000_000
SIZES = (1, 2, 5, 10)
"""Millions of records."""
K, COLUMNS, FEW, FEWER = 50, 10, 50_000, 2_000
OTHERS = ((20, 50_000), (50, 50_000), (100, 50_000), (100, 200_000))
"""Other k and other batches, at a million records."""


def written(path: Path, millions: int, seed: int) -> None:
    """Append records: eight columns of reals that go together, two of whole numbers."""
    draw = Chance(seed=seed).generator()
    for _ in range(millions):
        rows = draw.normal(size=(MILLION, COLUMNS))
        rows[:, 1] += rows[:, 0]
        rows[:, 2] -= 0.5 * rows[:, 1]
        frame = pl.DataFrame({f"c{at}": np.round(10 * rows[:, at], 3) for at in range(8)})
        frame = frame.with_columns(pl.Series(f"c{at}", np.rint(50 * rows[:, at]).astype(np.int64)) for at in (8, 9))
        with path.open("ab") as file:
            frame.write_csv(file, include_header=file.tell() == 0)


def planned(place: Path, k: int, batch: int) -> Path:
    """A plan beside the file."""
    columns = "".join(f'[columns.c{at}]\nrole = "quasi"\n' for at in range(COLUMNS))
    text = f'{columns}[privacy]\nindistinguishable_groups = {k}\n[algorithm]\nname = "condense"\n'
    path = place / f"{k}-{batch}.toml"
    path.write_text(f"{text}[stream]\nbatch = {batch}\n")
    return path


def streamed(place: Path, data: Path, k: int, batch: int) -> Cost:
    """The whole command, from nothing to its end."""
    out = place / "out"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    arguments = ["stream", str(planned(place, k, batch)), "--input", str(data), "-o", str(out), "--finish"]
    found = process([sys.executable, "-m", "sfumato", *arguments], {**plain, "PYTHONPATH": str(HERE / "src")})
    shutil.rmtree(out)
    shutil.rmtree(place / "out.state")
    return found


def growth(place: Path, data: Path) -> tuple[str, float]:
    """CPU and memory by records; the CPU of a record in the largest stream."""
    rows, there, each = [], 0, 0.0
    for size in SIZES:
        written(data, size - there, seed=size)
        there = size
        found = streamed(place, data, K, 50_000)
        each = found.cpu / (size * MILLION)
        line = [f"{size * MILLION:,}", f"{found.cpu:.0f} s", f"{1 / each:,.0f}", f"{found.peak_mb:,.0f} MB"]
        rows.append([*line, f"{found.wall:.0f} s"])
        print(rows[-1], file=sys.stderr, flush=True)
    heads = ["records", "CPU", "records a second of CPU", "peak memory", "wall"]
    return table(f"A stream of ten columns, k = {K}, batches of 50,000", heads, rows), each


class NumpyGroups:
    """One record at a time, with steps of NumPy."""

    def __init__(self, k: int, width: int) -> None:
        self.k, self.count = k, np.zeros(1)
        self.sums, self.products = np.zeros((1, width)), np.zeros((1, width, width))

    def take(self, record: Sequence[float]) -> None:
        """The nearest mean, and a split at 2k."""
        point = np.array(record)
        means = self.sums / np.maximum(self.count, 1)[:, None]
        one = int(((means - point) ** 2).sum(axis=1).argmin())
        self.count[one] += 1
        self.sums[one] += point
        self.products[one] += np.outer(point, point)
        if self.count[one] >= 2 * self.k:
            self.split(one)

    def split(self, one: int) -> None:
        """Equations 20.6 to 20.9."""
        mean = self.sums[one] / self.count[one]
        values, vectors = np.linalg.eigh(self.products[one] / self.count[one] - np.outer(mean, mean))
        step = sqrt(12 * max(values[-1], 0.0)) / 4 * vectors[:, -1]
        values[-1] /= 4
        spread, half = (vectors * values) @ vectors.T, self.count[one] / 2
        new = [(half * (mean + side * step), half * (spread + np.outer(mean + side * step, mean + side * step)))
               for side in (-1, 1)]  # fmt: skip
        self.count[one], (self.sums[one], self.products[one]) = half, new[0]
        self.count = np.append(self.count, half)
        self.sums = np.concatenate([self.sums, new[1][0][None]])
        self.products = np.concatenate([self.products, new[1][1][None]])

    def drawn(self, draw: np.random.Generator) -> list[list[float]]:
        """Rows, group by group."""
        found = []
        for count, sums, products in zip(self.count, self.sums, self.products, strict=True):
            mean = sums / count
            values, vectors = np.linalg.eigh(products / count - np.outer(mean, mean))
            reach = np.sqrt(3 * values.clip(min=0))
            found += [(mean + vectors @ (draw.uniform(-1, 1, len(mean)) * reach)).tolist() for _ in range(int(count))]
        return found


class PlainGroups(NumpyGroups):
    """The same with the nearest mean in plain Python."""

    means: list[list[float]]

    def take(self, record: Sequence[float]) -> None:
        """Lists and loops, and a split at 2k."""
        best, one = float("inf"), 0
        for place, mean in enumerate(self.means):
            apart = sum([(x - m) ** 2 for x, m in zip(record, mean, strict=True)])
            if apart < best:
                best, one = apart, place
        self.count[one] += 1
        self.sums[one] += record
        self.products[one] += np.outer(record, record)
        self.means[one] = (self.sums[one] / self.count[one]).tolist()
        if self.count[one] >= 2 * self.k:
            self.split(one)
            self.look()

    def look(self) -> None:
        """All means as lists."""
        self.means = (self.sums / self.count[:, None]).tolist()


def naive(lines: list[str], groups: NumpyGroups) -> None:
    """Lines in, rows out, one after the other."""
    grouped(lines, groups)
    made = csv.writer(io.StringIO())
    for row in groups.drawn(Chance(seed=1).generator()):
        made.writerow([round(value, 3) for value in row])


def grouped(lines: list[str], groups: NumpyGroups) -> None:
    """Lines into groups, one after the other."""
    for fields in csv.reader(lines):
        groups.take([float(field) for field in fields])


def beside(data: Path, each: float) -> str:
    """The CPU of a record, ours and theirs; plain Python only reads and groups the last records of a batch."""
    with data.open() as file:
        next(file)
        lines = [line for _, line in zip(range(FEW), file, strict=False)]
    _, steps = timed(lambda: naive(lines, NumpyGroups(K, COLUMNS)))
    full = PlainGroups(K, COLUMNS)
    for fields in csv.reader(lines[:-FEWER]):
        NumpyGroups.take(full, [float(field) for field in fields])
    full.look()
    _, plain = timed(lambda: grouped(lines[-FEWER:], full))
    costs = (
        ("`sfumato stream`: verified bundles", SIZES[-1] * MILLION, each),
        ("a step of NumPy for each record: rows in a text", FEW, steps.cpu / FEW),
        (f"plain Python, into the groups of {FEW:,} records: no rows yet", FEWER, plain.cpu / FEWER),
    )
    rows = [[how, f"{many:,}", f"{1e6 * cpu:.1f} µs", f"{cpu / each:.0f}"] for how, many, cpu in costs]
    return table(f"CPU of one record, k = {K}", ["how", "records", "CPU of a record", "ratio"], rows)


def others(place: Path, data: Path) -> str:
    """Other k and other batches."""
    rows = []
    for k, batch in OTHERS:
        found = streamed(place, data, k, batch)
        line = [k, f"{batch:,}", f"{found.cpu:.1f} s", f"{MILLION / found.cpu:,.0f}", f"{found.peak_mb:,.0f} MB"]
        rows.append(line)
    heads = ["k", "batch", "CPU", "records a second of CPU", "peak memory"]
    return table("A million records of ten columns by k and batch", heads, rows)


def kept(place: Path) -> str:
    """Adult as a stream in two orders, beside the table: covariances, and a learner on true test records."""
    train, test = tables()["Adult, gains dealt"][0]
    orders = {"as it stands": train, "sorted by age": train.sort("age", maintain_order=True)}
    rows = []
    for k in (10, 50):
        made = {"table": condensed(train, k, {"per_class": True}, DEALT["Adult, gains dealt"])}
        for order, frame in orders.items():
            made[f"stream, {order}"] = adult_stream(place / f"{k} {order}", frame, k)
        for how, each in made.items():
            compatible = compatibility(numbers(train), numbers(each))
            rows.append([k, how, f"{each.height:,}", f"{compatible:.4f}", f"{accuracy(each, test):.1%}"])
    rows.append(["", "original", f"{train.height:,}", "1.0000", f"{accuracy(train, test):.1%}"])
    return table(
        "Adult as a stream and as a table, class by class", ["k", "how", "rows", "covariances", "accuracy"], rows
    )


def adult_stream(place: Path, frame: pl.DataFrame, k: int) -> pl.DataFrame:
    """The rows of all batches of 5,000 records, in blocks of 500."""
    place.mkdir()
    frame.write_csv(place / "adult.csv")
    columns = {name: {"role": "target" if name == "class" else "quasi"} for name in frame.columns}
    for name in DEALT["Adult, gains dealt"]:
        columns[name]["type"] = "category"
    plan = {
        "columns": columns,
        "privacy": {"indistinguishable_groups": k},
        "algorithm": {"name": "condense", "seed": 1, "per_class": True},
        "attack": {"run": False},
        "stream": {"batch": 5_000, "block": 500},
    }
    run_stream(sf.Plan.parse(plan), place / "adult.csv", place / "out", finish=True)
    return pl.concat(pl.read_csv(one / "data.csv") for one in sorted((place / "out").iterdir()))


def main() -> str:
    """The four tables."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        written(place / "million.csv", 1, seed=7)
        last = f"{others(place, place / 'million.csv')}\n{kept(place)}"
        print(last, file=sys.stderr, flush=True)
        first, each = growth(place, place / "data.csv")
        return "\n".join([first, beside(place / "data.csv", each), last])


if __name__ == "__main__":
    print(main())
