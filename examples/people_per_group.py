"""Visits of patients: people are counted, not rows, and anybody can count them again from the written file.

Secret from whoever gets the file: who the patients are, and which visits in different groups are one patient's.
Becomes public: the recoded visits, with a number for each patient that holds within one group only.

Counted by rows, a group of nine visits may be those of two patients. With ``[input] unit`` every group holds five
different patients. The script counts them again from the written file, with nothing but the standard library.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import sfumato as sf


def visits(patients: int = 150, seed: int = 1) -> pl.DataFrame:
    """One to nine visits of each patient; the age can differ from visit to visit."""
    draw, rows = random.Random(seed), []
    for number in range(patients):
        age, sex = draw.randint(20, 89), draw.choice("fm")
        for _ in range(draw.choice((1, 1, 2, 3, 9))):
            ill = draw.choice(("flu", "angina", "asthma"))
            rows.append((f"P{number:04d}", age + draw.randint(0, 1), sex, ill))
    return pl.DataFrame(rows, schema=("patient", "age", "sex", "diagnosis"), orient="row")


def people_per_group(file: Path, quasi: Sequence[str], unit: str) -> dict[tuple[str, ...], int]:
    """How many different people each group of a written file has."""
    found: dict[tuple[str, ...], set[str]] = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        found.setdefault(tuple(row[name] for name in quasi), set()).add(row[unit])
    return {group: len(people) for group, people in found.items()}


if __name__ == "__main__":
    span = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 120}
    columns = {
        "patient": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": span},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "diagnosis": {"role": "sensitive"},
    }
    tree = {"columns": columns, "privacy": {"k_anonymity": 9}, "algorithm": {"max_suppressed": 0.05}}
    table, folder = visits(), Path(tempfile.mkdtemp())
    by_rows = sf.release(sf.Plan.parse(tree), table)
    by_people = sf.release(sf.Plan.parse(tree | {"input": {"unit": "patient"}}), table)
    by_people.write(folder / "visits")
    fewest = min(people_per_group(folder / "visits" / "data.csv", ["age", "sex"], "patient").values())
    print(f"{table.height} visits of {table['patient'].n_unique()} patients")
    print(f"counted by rows: {by_rows.smallest_class['value']} rows at least, age at level {by_rows.levels['age']}")
    print(f"counted by people: {fewest} people at least, age at level {by_people.levels['age']}")
