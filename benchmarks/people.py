"""Counting people instead of rows: what a release and a verification cost, against counting by a dictionary."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from measure import table, timed

QUASI = {
    "age": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100},
    "sex": {"bundled": "census/sex"},
    "race": {"bundled": "census/race"},
    "education": {"bundled": "census/education"},
    "marital-status": {"bundled": "census/marital-status"},
}
PER_PERSON = 3
"""Rows of a person, on average."""


def main() -> str:
    """Rows, seconds by rows and by people, and the same check by a dictionary."""
    sf.release(plan(unit="person"), people(1000))  # imports are not measured
    rows = []
    for size in (10_000, 100_000, 1_000_000):
        frame = people(size)
        by_rows, first = timed(lambda f=frame: sf.release(plan(), f))
        by_people, second = timed(lambda f=frame: sf.release(plan(unit="person"), f))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "bundle"
            by_people.write(folder)
            _, verified = timed(lambda p=folder: sf.verify(p))
            fewest, naive = timed(lambda p=folder: counted(p / "data.csv"))
        if fewest != by_people.smallest_class["value"]:
            raise SystemExit("the dictionary counts other people")
        rows.append(
            [
                f"{size:,}",
                f"{frame['person'].n_unique():,}",
                f"{first.wall:.2f}",
                f"{second.wall:.2f}",
                f"{second.wall / first.wall:.2f}",
                f"{verified.wall:.2f}",
                f"{naive.wall:.2f}",
                f"{min(by_rows.smallest_class.values()):,} rows",
                f"{fewest:,} people",
            ]
        )
    heads = ["rows", "people", "release by rows s", "by people s", "ratio", "verify s", "dictionary s", "k", "k"]
    return table("People, not rows: optimal, k = 5, five quasi-identifiers, attacks off", heads, rows)


def people(rows: int) -> pl.DataFrame:
    """The synthetic census with some rows given to one person; quasi-identifiers differ between them."""
    who = np.random.default_rng(1).integers(0, max(rows // PER_PERSON, 1), rows)
    frame = sf.datasets.census(rows, seed=1).select(*QUASI, "occupation")
    return frame.with_columns(person=pl.Series(who).cast(pl.String))


def plan(unit: str | None = None) -> sf.Plan:
    """One plan, with and without a unit."""
    columns = {name: {"role": "quasi", "hierarchy": tree} for name, tree in QUASI.items()}
    columns |= {"person": {"role": "identifier"}, "occupation": {"role": "sensitive"}}
    return sf.Plan.parse(
        {
            "input": {} if unit is None else {"unit": unit},
            "columns": columns,
            "privacy": {"k_anonymity": 5},
            "algorithm": {"name": "optimal", "max_suppressed": 0.02},
            "attack": {"run": False},
        }
    )


def counted(file: Path) -> int:
    """People of the smallest group, counted as anybody would."""
    found: dict[tuple[str, ...], set[str]] = {}
    with file.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            found.setdefault(tuple(row[name] for name in QUASI), set()).add(row["person"])
    return min(map(len, found.values()))


if __name__ == "__main__":
    print(main())
